// SPDX-License-Identifier: Apache-2.0
// Frames to messages: RFC 6455 sections 5.4, 5.5 and 8.1.
#include "ws.h"

#include <osb/text.h>

static void fail(struct osb_ws *ws, int code, const char *reason)
{
    osb_buf_clear(&ws->in);
    ws->is_deaf = true;
    if (ws->is_close_sent)
        ws_end(ws, code, reason);
    else
        osb_ws_close(ws, code, reason);
}

/* ---- control frames ---- */

static void take_close(struct osb_ws *ws, struct osb_slice payload)
{
    int code = OSB_WS_NO_STATUS;
    struct osb_slice reason = osb_slice_from(payload, 2);
    if (payload.len >= 2)
        code = (uint8_t)payload.data[0] << 8 | (uint8_t)payload.data[1];
    bool is_bad = payload.len == 1 || (payload.len >= 2 && !ws_close_code_is_valid(code)) ||
                  !osb_utf8_is_valid(reason);
    char text[WS_REASON_MAX + 1];
    memcpy(text, reason.data ? reason.data : "", reason.len);
    text[reason.len] = '\0';
    osb_buf_clear(&ws->in);
    if (!ws->is_close_sent) {
        osb_ws_close(ws, is_bad ? OSB_WS_PROTOCOL_ERROR : code, NULL);
        ws->code = 0; /* the peer's word counts */
    }
    ws_end(ws, is_bad ? OSB_WS_PROTOCOL_ERROR : code, text);
}

static void take_control(struct osb_ws *ws)
{
    struct osb_slice payload = osb_slice(ws->control, (size_t)ws->frame.len);
    if (ws->frame.opcode == WS_CLOSE)
        take_close(ws, payload);
    else if (ws->frame.opcode == WS_PING && !ws->is_close_sent)
        ws_send_pong(ws, payload);
}

/* ---- data frames ---- */

static void take_message(struct osb_ws *ws)
{
    struct osb_slice data = osb_buf_slice(&ws->message);
    enum ws_opcode type = ws->message_type;
    ws->message_type = WS_CONTINUATION;
    if (type == WS_TEXT && !osb_utf8_is_valid(data)) {
        fail(ws, OSB_WS_BAD_DATA, "text is not UTF-8");
        return;
    }
    if (!ws->is_close_sent && ws->callbacks.on_message)
        ws->callbacks.on_message(ws, type == WS_TEXT ? OSB_WS_TEXT : OSB_WS_BINARY, data, ws->arg);
    osb_buf_done(&ws->message);
}

static void end_frame(struct osb_ws *ws)
{
    ws->has_frame = false;
    if (ws_is_control(ws->frame.opcode))
        take_control(ws);
    else if (ws->frame.is_last)
        take_message(ws);
}

/* Messages may be in pieces, between which only control frames come. */
static bool is_in_order(const struct osb_ws *ws)
{
    if (ws_is_control(ws->frame.opcode))
        return true;
    bool is_open = ws->message_type != WS_CONTINUATION;
    return is_open == (ws->frame.opcode == WS_CONTINUATION);
}

static bool start_frame(struct osb_ws *ws)
{
    int n = ws_frame_parse(osb_buf_slice(&ws->in), &ws->frame);
    if (n == 0)
        return false;
    if (n < 0 || ws->frame.is_masked == ws->is_client || !is_in_order(ws)) {
        fail(ws, OSB_WS_PROTOCOL_ERROR, "malformed frame");
        return true;
    }
    bool is_data = !ws_is_control(ws->frame.opcode);
    if (is_data && ws->frame.len > ws->options.max_message - ws->message.len) {
        fail(ws, OSB_WS_TOO_LARGE, "message is too large");
        return true;
    }
    osb_buf_consume(&ws->in, (size_t)n);
    ws->has_frame = true;
    ws->received = 0;
    if (is_data && ws->frame.opcode != WS_CONTINUATION)
        ws->message_type = ws->frame.opcode;
    if (ws->frame.len == 0)
        end_frame(ws);
    return true;
}

/* Where N more bytes of the frame's content go. */
static char *room_for(struct osb_ws *ws, size_t n)
{
    if (ws_is_control(ws->frame.opcode))
        return ws->control + ws->received;
    char *room = osb_buf_reserve(&ws->message, n);
    if (room)
        osb_buf_commit(&ws->message, n);
    return room;
}

static bool take_content(struct osb_ws *ws)
{
    uint64_t left = ws->frame.len - ws->received;
    size_t n = ws->in.len < left ? ws->in.len : (size_t)left;
    if (n == 0)
        return false;
    char *room = room_for(ws, n);
    if (!room) {
        fail(ws, OSB_WS_TOO_LARGE, "out of memory");
        return true;
    }
    memcpy(room, osb_buf_slice(&ws->in).data, n);
    if (ws->frame.is_masked)
        ws_mask(room, n, ws->frame.mask, ws->received);
    osb_buf_consume(&ws->in, n);
    ws->received += n;
    if (ws->received == ws->frame.len)
        end_frame(ws);
    return true;
}

bool ws_receive(struct osb_ws *ws)
{
    if (ws->in.len == 0)
        return false;
    if (ws->is_deaf) {
        osb_buf_clear(&ws->in);
        return true;
    }
    return ws->has_frame ? take_content(ws) : start_frame(ws);
}
