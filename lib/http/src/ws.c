// SPDX-License-Identifier: Apache-2.0
// A WebSocket's driver, sending, closing and time.
#include "ws.h"

#include <osb/alloc.h>
#include <osb/clock.h>
#include <osb/uuid.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEFAULT_MAX_MESSAGE = 1 << 20, DEFAULT_PING_MS = 30 * 1000, DEFAULT_TIMEOUT_MS = 60 * 1000 };

/* ---- life ---- */

static void on_kick(struct osb_defer *defer)
{
    ws_run(defer->arg);
}

static void on_timer(struct osb_timer *timer);

struct osb_ws *ws_new(struct osb_loop *loop, const struct osb_ws_options *options,
                      const struct osb_ws_callbacks *callbacks, void *arg, bool is_client)
{
    struct osb_ws *ws = osb_new(struct osb_ws);
    ws->loop = loop;
    if (options)
        ws->options = *options;
    ws->options.protocols = NULL; /* borrowed for the handshake only */
    if (ws->options.max_message == 0)
        ws->options.max_message = DEFAULT_MAX_MESSAGE;
    if (ws->options.ping_ms == 0)
        ws->options.ping_ms = DEFAULT_PING_MS;
    if (ws->options.timeout_ms == 0)
        ws->options.timeout_ms = DEFAULT_TIMEOUT_MS;
    ws->callbacks = *callbacks;
    ws->arg = arg;
    ws->is_client = is_client;
    osb_buf_init(&ws->message, ws->options.max_message);
    osb_timer_init(&ws->timer, loop, on_timer, ws);
    osb_defer_init(&ws->kick, loop, on_kick, ws);
    return ws;
}

void ws_destroy(struct osb_ws *ws)
{
    osb_timer_stop(&ws->timer);
    osb_defer_cancel(&ws->kick);
    if (ws->call)
        osb_http_call_cancel(ws->call);
    osb_stream_close(ws->stream);
    osb_buf_done(&ws->in);
    osb_buf_done(&ws->spare);
    osb_buf_done(&ws->out.buf);
    osb_buf_done(&ws->message);
    for (char **p = ws->offered; p && *p; p++)
        free(*p);
    free(ws->offered);
    free(ws->protocol);
    free(ws);
}

void osb_ws_free(struct osb_ws *ws)
{
    if (!ws)
        return;
    if (ws->is_running)
        ws->is_freed = true;
    else
        ws_destroy(ws);
}

void ws_kick(struct osb_ws *ws)
{
    if (!ws->is_running)
        osb_defer_post(&ws->kick);
}

void ws_end(struct osb_ws *ws, int code, const char *reason)
{
    if (ws->is_over)
        return;
    ws->is_over = true;
    /* After a handshake of ours that the peer did not finish, what we said stands. */
    if (!ws->is_close_sent || ws->code == 0) {
        ws->code = code;
        snprintf(ws->reason, sizeof(ws->reason), "%s", reason);
    }
    ws_kick(ws);
}

/* ---- sending ---- */

/* A client's frames are masked in place of the copy that is queued anyway. */
static void queue_masked(struct osb_ws *ws, const uint8_t *head, size_t head_len,
                         const uint8_t *mask, struct osb_slice data)
{
    osb_buf_append(&ws->out.buf, head, head_len);
    char *room = osb_buf_reserve(&ws->out.buf, data.len);
    if (!room)
        return;
    if (data.len > 0)
        memcpy(room, data.data, data.len);
    ws_mask(room, data.len, mask, 0);
    osb_buf_commit(&ws->out.buf, data.len);
}

static void send_frame(struct osb_ws *ws, enum ws_opcode opcode, struct osb_slice data)
{
    struct ws_frame frame = {
        .opcode = opcode, .is_last = true, .is_masked = ws->is_client, .len = data.len};
    uint8_t head[WS_HEAD_MAX];
    if (frame.is_masked)
        osb_random_bytes(frame.mask, sizeof(frame.mask));
    size_t head_len = ws_frame_write(&frame, head);
    int r = 0;
    if (frame.is_masked) {
        queue_masked(ws, head, head_len, frame.mask, data);
        r = ws->out.buf.err;
    } else {
        struct iovec pieces[] = {http_iov(osb_slice(head, head_len)), http_iov(data)};
        r = http_out_send(&ws->out, pieces, 2);
    }
    if (r < 0)
        ws_end(ws, OSB_WS_ABNORMAL, "the peer is gone");
    ws_kick(ws);
}

void ws_send_pong(struct osb_ws *ws, struct osb_slice payload)
{
    send_frame(ws, WS_PONG, payload);
}

size_t osb_ws_send(struct osb_ws *ws, enum osb_ws_type type, struct osb_slice data)
{
    if (ws->is_over || ws->is_close_sent || ws->is_freed || !ws->stream)
        return ws->out.buf.len;
    send_frame(ws, type == OSB_WS_TEXT ? WS_TEXT : WS_BINARY, data);
    return ws->out.buf.len;
}

void osb_ws_close(struct osb_ws *ws, int code, const char *reason)
{
    if (ws->is_over || ws->is_close_sent || ws->is_freed)
        return;
    if (!ws->stream) {
        ws_end(ws, OSB_WS_ABNORMAL, "closed before it was open");
        return;
    }
    char payload[WS_CONTROL_MAX] = {(char)(code >> 8), (char)code};
    struct osb_slice text = osb_slice_first(osb_slice_str(reason), WS_REASON_MAX);
    if (text.len > 0)
        memcpy(payload + 2, text.data, text.len);
    ws->code = code;
    snprintf(ws->reason, sizeof(ws->reason), "%.*s", OSB_SLICE_ARG(text));
    size_t len = code == OSB_WS_NO_STATUS ? 0 : 2 + text.len;
    ws->is_close_sent = true;
    send_frame(ws, WS_CLOSE, osb_slice(payload, len));
    osb_timer_set(&ws->timer, WS_CLOSE_WAIT_MS);
}

/* ---- time ---- */

static void on_timer(struct osb_timer *timer)
{
    struct osb_ws *ws = timer->arg;
    uint64_t now = osb_loop_now_ns(ws->loop);
    uint64_t silence_ms = (now - ws->heard_ns) / OSB_NS_PER_MS;
    if (ws->is_close_sent) {
        ws_end(ws, ws->code, ws->reason);
    } else if (!ws->is_paused && silence_ms >= ws->options.timeout_ms) {
        ws_end(ws, OSB_WS_ABNORMAL, "the peer is silent");
    } else {
        send_frame(ws, WS_PING, OSB_SLICE_NULL);
        osb_timer_set(timer, ws->options.ping_ms);
    }
    ws_run(ws);
}

/* ---- reading ---- */

void osb_ws_pause(struct osb_ws *ws)
{
    ws->is_paused = true;
}

void osb_ws_resume(struct osb_ws *ws)
{
    ws->is_paused = false;
    ws->heard_ns = osb_loop_now_ns(ws->loop);
    ws_kick(ws);
}

static bool read_some(struct osb_ws *ws)
{
    if (!ws->can_read || ws->is_paused)
        return false;
    ws->can_read = false;
    ssize_t n = http_input_read(&ws->in, &ws->spare, ws->stream);
    if (n == -EAGAIN)
        return false;
    if (n <= 0)
        ws_end(ws, OSB_WS_ABNORMAL, "the connection was closed");
    ws->heard_ns = osb_loop_now_ns(ws->loop);
    return true;
}

/* ---- the driver ---- */

static void flush(struct osb_ws *ws)
{
    bool had_data = ws->out.buf.len > 0;
    if (http_out_flush(&ws->out) < 0)
        ws_end(ws, OSB_WS_ABNORMAL, "the peer is gone");
    else if (had_data && ws->out.buf.len == 0)
        ws->is_drain_due = true;
}

static bool step(struct osb_ws *ws, bool *has_drained)
{
    if (ws->is_open_due) {
        ws->is_open_due = false;
        if (ws->callbacks.on_open)
            ws->callbacks.on_open(ws, ws->arg);
        return true;
    }
    if (ws->is_drain_due && !*has_drained) {
        *has_drained = true;
        ws->is_drain_due = false;
        if (ws->callbacks.on_drain && !ws->is_close_sent)
            ws->callbacks.on_drain(ws, ws->arg);
        return true;
    }
    if (!ws->is_paused && ws_receive(ws))
        return true;
    return read_some(ws);
}

/* The last words are flushed as far as they go; then the stream goes. */
static void conclude(struct osb_ws *ws)
{
    if (ws->stream)
        (void)http_out_flush(&ws->out);
    osb_timer_stop(&ws->timer);
    osb_defer_cancel(&ws->kick);
    ws->is_running = true; /* osb_ws_free() inside on_close changes nothing */
    if (!ws->is_freed && ws->callbacks.on_close)
        ws->callbacks.on_close(ws, ws->code, osb_slice_str(ws->reason), ws->arg);
    ws_destroy(ws);
}

static void wait_for_events(struct osb_ws *ws)
{
    bool wants_write = ws->out.is_blocked || ws->is_drain_due;
    int events = (ws->is_paused ? 0 : OSB_READABLE) | (wants_write ? OSB_WRITABLE : 0);
    if (events != ws->stream->events && osb_stream_want(ws->stream, events) < 0)
        ws_end(ws, OSB_WS_ABNORMAL, "wait for the connection");
    http_input_park(&ws->in, &ws->spare);
    osb_buf_done(&ws->spare);
}

void ws_run(struct osb_ws *ws)
{
    bool has_drained = false;
    osb_defer_cancel(&ws->kick);
    ws->is_running = true;
    do {
        if (ws->stream && !ws->is_over)
            flush(ws);
    } while (ws->stream && !ws->is_over && !ws->is_freed && step(ws, &has_drained));
    ws->is_running = false;
    if (ws->is_over || ws->is_freed)
        conclude(ws);
    else if (ws->stream)
        wait_for_events(ws);
}

static void on_stream(struct osb_stream *stream, int events, void *arg)
{
    struct osb_ws *ws = arg;
    (void)stream;
    if (events & OSB_READABLE)
        ws->can_read = true;
    if (events & OSB_WRITABLE)
        ws->out.is_blocked = false;
    ws_run(ws);
}

void ws_start(struct osb_ws *ws, struct osb_stream *stream)
{
    ws->stream = stream;
    ws->out.stream = stream;
    ws->heard_ns = osb_loop_now_ns(ws->loop);
    osb_stream_set_callback(stream, on_stream, ws);
    osb_timer_set(&ws->timer, ws->options.ping_ms);
    ws_kick(ws);
}

const char *osb_ws_protocol(const struct osb_ws *ws)
{
    return ws->protocol;
}
