// SPDX-License-Identifier: Apache-2.0
// The HTTP side of a WebSocket: RFC 6455 section 4.
#include "sha1.h"
#include "ws.h"

#include <osb/alloc.h>
#include <osb/text.h>
#include <osb/uuid.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEY_BYTES = 16, KEY_LEN = 24, MAX_HEADERS = 32 };

void ws_accept_value(struct osb_slice key, char out[static 32])
{
    uint8_t digest[HTTP_SHA1_LEN];
    _cleanup_buf_ struct osb_buf text = {0};
    osb_buf_append_slice(&text, key);
    osb_buf_append_str(&text, "258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    http_sha1(osb_buf_slice(&text), digest);
    osb_buf_clear(&text);
    osb_base64_encode(&text, osb_slice(digest, sizeof(digest)));
    snprintf(out, 32, "%s", osb_buf_cstr(&text));
}

static int refuse(struct osb_err *err, int status, const char *message)
{
    osb_fail(err, -OSB_E_INVALID, "%s", message);
    osb_err_set_http(err, status);
    return -OSB_E_INVALID;
}

/* ---- server ---- */

static bool is_key(struct osb_slice key)
{
    _cleanup_buf_ struct osb_buf bytes = {0};
    return key.len == KEY_LEN && osb_base64_decode(&bytes, key) == 0 && bytes.len == KEY_BYTES;
}

static int check_request(const struct osb_http_head *head, struct osb_slice *ret_key,
                         struct osb_err *err)
{
    struct osb_slice version;
    if (!osb_slice_eq_str(head->method, "GET") || !head->has_upgrade ||
        !osb_http_head_has_token(head, "Upgrade", "websocket"))
        return refuse(err, 400, "this is no WebSocket handshake");
    if (!osb_http_head_get(head, "Sec-WebSocket-Version", &version) ||
        !osb_slice_eq_str(version, "13"))
        return refuse(err, 426, "the WebSocket version is not 13");
    if (!osb_http_head_get(head, "Sec-WebSocket-Key", ret_key) || !is_key(*ret_key))
        return refuse(err, 400, "malformed Sec-WebSocket-Key");
    return 0;
}

static const char *choose_protocol(const struct osb_http_head *head, const char *const *protocols)
{
    for (; protocols && *protocols; protocols++) {
        if (osb_http_head_has_token(head, "Sec-WebSocket-Protocol", *protocols))
            return *protocols;
    }
    return NULL;
}

int osb_ws_accept(struct osb_http_exchange *x, const struct osb_ws_options *options,
                  const struct osb_ws_callbacks *callbacks, void *arg, struct osb_ws **ret,
                  struct osb_err *err)
{
    struct osb_slice key;
    int r = check_request(osb_http_head_of(x), &key, err);
    if (r < 0)
        return r;
    const char *protocol =
        choose_protocol(osb_http_head_of(x), options ? options->protocols : NULL);
    if (!protocol && options && options->needs_protocol)
        return refuse(err, 400, "no common WebSocket subprotocol");
    char accept[32];
    ws_accept_value(key, accept);
    osb_http_reply_header(x, "Upgrade", OSB_SLICE("websocket"));
    osb_http_reply_header(x, "Sec-WebSocket-Accept", osb_slice_str(accept));
    if (protocol)
        osb_http_reply_header(x, "Sec-WebSocket-Protocol", osb_slice_str(protocol));
    struct osb_ws *ws = ws_new(osb_http_loop(x), options, callbacks, arg, false);
    struct osb_stream *stream = osb_http_upgrade(x, &ws->in);
    if (!stream) {
        ws_destroy(ws);
        return osb_fail(err, -OSB_E_CLOSED, "the client has gone");
    }
    ws->protocol = osb_strdup(protocol);
    ws_start(ws, stream);
    *ret = ws;
    return 0;
}

/* ---- client ---- */

static bool was_offered(const struct osb_ws *ws, struct osb_slice protocol)
{
    for (char **p = ws->offered; p && *p; p++) {
        if (osb_slice_eq_str(protocol, *p))
            return true;
    }
    return false;
}

/* NULL when the answer is right, else what is wrong. */
static const char *check_answer(struct osb_ws *ws, const struct osb_http_head *head)
{
    struct osb_slice accept;
    struct osb_slice protocol;
    if (head->status != 101)
        return "the server did not switch protocols";
    if (!head->has_upgrade || !osb_http_head_has_token(head, "Upgrade", "websocket") ||
        !osb_http_head_get(head, "Sec-WebSocket-Accept", &accept) ||
        !osb_slice_eq_str(accept, ws->expected))
        return "the server's handshake is wrong";
    if (osb_http_head_get(head, "Sec-WebSocket-Extensions", NULL))
        return "the server uses an extension that was not offered";
    if (osb_http_head_get(head, "Sec-WebSocket-Protocol", &protocol)) {
        if (!was_offered(ws, protocol))
            return "the server chose a subprotocol that was not offered";
        ws->protocol = osb_slice_dup(protocol);
    } else if (ws->options.needs_protocol) {
        return "the server agreed on no subprotocol";
    }
    return NULL;
}

static void on_head(struct osb_http_call *call, const struct osb_http_head *head, void *arg)
{
    struct osb_ws *ws = arg;
    const char *wrong = check_answer(ws, head);
    if (!wrong) {
        struct osb_stream *stream = osb_http_call_take_stream(call, &ws->in);
        ws->call = NULL;
        ws->is_open_due = true;
        ws_start(ws, stream);
        return;
    }
    ws->call = NULL;
    osb_http_call_cancel(call);
    if (head->status == 101)
        ws_end(ws, OSB_WS_ABNORMAL, wrong);
    else {
        char reason[WS_REASON_MAX];
        snprintf(reason, sizeof(reason), "%s: status %d", wrong, head->status);
        ws_end(ws, OSB_WS_ABNORMAL, reason);
    }
}

static void on_end(struct osb_http_call *call, int r, const struct osb_err *err, void *arg)
{
    struct osb_ws *ws = arg;
    (void)call;
    if (!ws->call)
        return; /* taken over */
    ws->call = NULL;
    ws_end(ws, OSB_WS_ABNORMAL, r < 0 ? err->message : "no answer");
}

static void keep_offered(struct osb_ws *ws, const char *const *protocols, struct osb_buf *list)
{
    size_t count = 0;
    while (protocols && protocols[count])
        count++;
    if (count == 0)
        return;
    ws->offered = osb_calloc(count + 1, sizeof(*ws->offered));
    for (size_t i = 0; i < count; i++) {
        ws->offered[i] = osb_strdup(protocols[i]);
        osb_buf_appendf(list, "%s%s", i ? ", " : "", protocols[i]);
    }
}

static int start_call(struct osb_ws *ws, struct osb_http_client *client,
                      const struct osb_http_request *request, struct osb_slice key,
                      struct osb_slice protocols, struct osb_err *err)
{
    static const struct osb_http_call_callbacks callbacks = {.on_head = on_head, .on_end = on_end};
    struct osb_http_header headers[MAX_HEADERS + 5];
    struct osb_http_request own = *request;
    int n = request->header_count;
    if (n > MAX_HEADERS)
        return refuse(err, 400, "too many headers for a WebSocket handshake");
    if (n > 0)
        memcpy(headers, request->headers, (size_t)n * sizeof(headers[0]));
    headers[n++] = (struct osb_http_header){OSB_SLICE("Connection"), OSB_SLICE("Upgrade")};
    headers[n++] = (struct osb_http_header){OSB_SLICE("Upgrade"), OSB_SLICE("websocket")};
    headers[n++] = (struct osb_http_header){OSB_SLICE("Sec-WebSocket-Version"), OSB_SLICE("13")};
    headers[n++] = (struct osb_http_header){OSB_SLICE("Sec-WebSocket-Key"), key};
    if (protocols.len > 0)
        headers[n++] = (struct osb_http_header){OSB_SLICE("Sec-WebSocket-Protocol"), protocols};
    own.method = "GET";
    own.headers = headers;
    own.header_count = n;
    own.body = OSB_SLICE_NULL;
    own.body_stream_length = 0;
    own.total_timeout_ms = 0; /* the call ends with the handshake */
    if (own.timeout_ms == 0)
        own.timeout_ms = request->total_timeout_ms;
    return osb_http_call_start(client, &own, &callbacks, ws, &ws->call, err);
}

int osb_ws_connect(struct osb_http_client *client, const struct osb_http_request *request,
                   const struct osb_ws_options *options, const struct osb_ws_callbacks *callbacks,
                   void *arg, struct osb_ws **ret, struct osb_err *err)
{
    uint8_t random[KEY_BYTES];
    _cleanup_buf_ struct osb_buf key = {0};
    _cleanup_buf_ struct osb_buf protocols = {0};
    struct osb_ws *ws = ws_new(osb_http_client_loop(client), options, callbacks, arg, true);
    osb_random_bytes(random, sizeof(random));
    osb_base64_encode(&key, osb_slice(random, sizeof(random)));
    ws_accept_value(osb_buf_slice(&key), ws->expected);
    keep_offered(ws, options ? options->protocols : NULL, &protocols);
    int r = start_call(ws, client, request, osb_buf_slice(&key), osb_buf_slice(&protocols), err);
    if (r < 0) {
        ws_destroy(ws);
        return r;
    }
    *ret = ws;
    return 0;
}
