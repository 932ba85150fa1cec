// SPDX-License-Identifier: Apache-2.0
// The answer: head, whole and streamed bodies, the end.
#include "chars.h"
#include "server.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- headers of the handler ---- */

/* The framing is the server's alone; Connection may only say close. */
static bool is_reserved(struct osb_http_exchange *x, struct osb_slice name, struct osb_slice value)
{
    if (osb_slice_ieq_str(name, "Connection")) {
        if (osb_slice_ieq_str(value, "close"))
            x->is_keep_alive = false;
        return true;
    }
    return osb_slice_ieq_str(name, "Content-Length") ||
           osb_slice_ieq_str(name, "Transfer-Encoding") || osb_slice_ieq_str(name, "Keep-Alive");
}

void osb_http_reply_header(struct osb_http_exchange *x, const char *name, struct osb_slice value)
{
    struct osb_slice key = osb_slice_str(name);
    osb_assert(http_is_token(key));
    if (!osb_http_value_is_valid(value) || is_reserved(x, key, value))
        return;
    x->has_date |= osb_slice_ieq_str(key, "Date");
    osb_buf_append_slice(&x->headers, key);
    osb_buf_append(&x->headers, ": ", 2);
    osb_buf_append_slice(&x->headers, value);
    osb_buf_append(&x->headers, "\r\n", 2);
}

void osb_http_reply_headerf(struct osb_http_exchange *x, const char *name, const char *format, ...)
{
    _cleanup_buf_ struct osb_buf value = {0};
    va_list args;
    va_start(args, format);
    osb_buf_vappendf(&value, format, args);
    va_end(args);
    osb_http_reply_header(x, name, osb_buf_slice(&value));
}

/* ---- the head ---- */

static void append_number(struct osb_buf *out, uint64_t n)
{
    char digits[20];
    char *end = digits + sizeof(digits);
    char *p = end;
    do {
        *--p = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    osb_buf_append(out, p, (size_t)(end - p));
}

static void append_line(struct osb_buf *out, const char *prefix, const char *value)
{
    osb_buf_append_str(out, prefix);
    osb_buf_append_str(out, value);
    osb_buf_append(out, "\r\n", 2);
}

/* What keeps the connection from being used again, known before the head is written. */
static void decide_keep_alive(struct osb_http_exchange *x)
{
    const struct osb_http_body *body = &x->conn->body;
    if (x->conn->server->is_draining || x->is_until_close)
        x->is_keep_alive = false;
    /* The client may or may not send a body that it was not asked for. */
    if (x->wants_continue && !body->is_done)
        x->is_keep_alive = false;
    /* More than will be dropped is left, and a whole answer is the handler's last word. */
    if (x->is_ended && body->framing == OSB_HTTP_BODY_LENGTH && x->sink == HTTP_SINK_NONE &&
        body->remaining > HTTP_DISCARD_MAX)
        x->is_keep_alive = false;
}

static void append_framing(struct osb_http_exchange *x, struct osb_buf *out, int status,
                           int64_t length)
{
    if (status < 200 || status == 204 || (status == 304 && length == 0))
        return;
    if (length >= 0) {
        osb_buf_append_str(out, "Content-Length: ");
        append_number(out, (uint64_t)length);
        osb_buf_append(out, "\r\n", 2);
    } else if (!x->is_until_close) {
        osb_buf_append_str(out, "Transfer-Encoding: chunked\r\n");
    }
}

static void append_connection(struct osb_http_exchange *x, struct osb_buf *out, int status)
{
    if (status == 101)
        osb_buf_append_str(out, "Connection: Upgrade\r\n");
    else if (!x->is_keep_alive)
        osb_buf_append_str(out, "Connection: close\r\n");
    else if (x->head.minor_version == 0)
        osb_buf_append_str(out, "Connection: keep-alive\r\n");
}

static void append_head(struct osb_http_exchange *x, int status, const char *content_type,
                        int64_t length)
{
    struct osb_http_server *server = x->conn->server;
    struct osb_buf *out = &x->conn->out.buf;
    osb_buf_append_str(out, "HTTP/1.1 ");
    append_number(out, (uint64_t)status);
    append_line(out, " ", osb_http_reason(status));
    if (!x->has_date)
        append_line(out, "Date: ", http_server_date(server));
    if (server->options.server_header)
        append_line(out, "Server: ", server->options.server_header);
    if (content_type && osb_http_value_is_valid(osb_slice_str(content_type)))
        append_line(out, "Content-Type: ", content_type);
    append_framing(x, out, status, length);
    append_connection(x, out, status);
    osb_buf_append_slice(out, osb_buf_slice(&x->headers));
    osb_buf_append(out, "\r\n", 2);
}

/*
 * Writes the head and sets up the framing; false when there is nobody to answer. IS_WHOLE: the
 * answer needs nothing more from the handler.
 */
static bool start(struct osb_http_exchange *x, int status, const char *content_type, int64_t length,
                  bool is_whole)
{
    osb_assert(status >= 100 && status <= 599);
    if (x->is_refused || x->conn->is_broken)
        return false;
    osb_assert(!x->is_started);
    x->has_no_body = x->has_no_body || status == 204 || status == 304;
    x->is_until_close = length < 0 && x->head.minor_version == 0 && !x->has_no_body;
    x->is_chunked = length < 0 && !x->is_until_close && !x->has_no_body;
    x->left = length < 0 ? 0 : (uint64_t)length;
    x->is_ended = is_whole;
    decide_keep_alive(x);
    append_head(x, status, content_type, length);
    x->is_started = true;
    return true;
}

static void send_pieces(struct osb_http_exchange *x, const struct iovec *pieces, int count)
{
    if (http_out_send(&x->conn->out, pieces, count) < 0)
        x->conn->is_broken = true;
    http_conn_kick(x->conn);
}

/* ---- whole answers ---- */

void osb_http_reply(struct osb_http_exchange *x, int status, const char *content_type,
                    struct osb_slice body)
{
    if (!start(x, status, content_type, (int64_t)body.len, true))
        return;
    struct iovec piece = http_iov(body);
    send_pieces(x, &piece, x->has_no_body ? 0 : 1);
}

void http_exchange_refuse(struct osb_http_exchange *x, int status, const char *message)
{
    x->sink = HTTP_SINK_NONE;
    x->is_keep_alive = false;
    if (x->is_started) {
        osb_http_abort(x);
        return;
    }
    _cleanup_buf_ struct osb_buf body = {0};
    http_server_error_body(x->conn->server, status, message, &body);
    osb_buf_clear(&x->headers);
    if (x->conn->server->options.error_head)
        x->conn->server->options.error_head(x, status, &x->headers);
    osb_http_reply(x, status, "application/json", osb_buf_slice(&body));
    x->is_refused = true;
}

/* ---- streamed answers ---- */

void osb_http_reply_start(struct osb_http_exchange *x, int status, const char *content_type,
                          int64_t length)
{
    if (start(x, status, content_type, length, false))
        http_conn_kick(x->conn);
}

/* How much of DATA belongs into the answer. */
static struct osb_slice fit(struct osb_http_exchange *x, struct osb_slice data)
{
    if (x->has_no_body)
        return OSB_SLICE_NULL;
    if (x->is_chunked || x->is_until_close)
        return data;
    data = osb_slice_first(data, x->left < data.len ? (size_t)x->left : data.len);
    x->left -= data.len;
    return data;
}

size_t osb_http_reply_write(struct osb_http_exchange *x, struct osb_slice data)
{
    if (x->is_refused || x->conn->is_broken)
        return 0;
    osb_assert(x->is_started && !x->is_ended);
    data = fit(x, data);
    if (data.len == 0)
        return x->conn->out.buf.len;
    if (x->is_chunked) {
        char line[HTTP_CHUNK_LINE_MAX];
        struct iovec pieces[] = {
            http_iov(http_chunk_line(line, data.len)),
            http_iov(data),
            http_iov(OSB_SLICE("\r\n")),
        };
        send_pieces(x, pieces, 3);
    } else {
        struct iovec piece = http_iov(data);
        send_pieces(x, &piece, 1);
    }
    return x->conn->out.buf.len;
}

void osb_http_on_drain(struct osb_http_exchange *x,
                       void (*fn)(struct osb_http_exchange *x, void *arg), void *arg)
{
    x->drain_fn = fn;
    x->drain_arg = arg;
}

void osb_http_reply_end(struct osb_http_exchange *x)
{
    if (x->is_refused || x->conn->is_broken)
        return;
    osb_assert(x->is_started && !x->is_ended);
    if (!x->is_chunked && !x->is_until_close && !x->has_no_body && x->left > 0) {
        osb_http_abort(x); /* shorter than announced */
        return;
    }
    x->is_ended = true;
    struct iovec last = http_iov(OSB_SLICE("0\r\n\r\n"));
    send_pieces(x, &last, x->is_chunked ? 1 : 0);
}

void osb_http_abort(struct osb_http_exchange *x)
{
    x->conn->is_broken = true;
    http_conn_kick(x->conn);
}

bool osb_http_has_started(const struct osb_http_exchange *x)
{
    return x->is_started;
}

/* ---- files ---- */

void osb_http_reply_file(struct osb_http_exchange *x, int status, const char *content_type, int fd,
                         int64_t offset, int64_t len)
{
    osb_assert(fd >= 0 && offset >= 0 && len >= 0 && x->file_fd < 0);
    x->file_fd = fd;
    if (!start(x, status, content_type, len, true))
        return;
    x->file_offset = offset;
    x->file_left = x->has_no_body ? 0 : (uint64_t)len;
    if (x->file_left <= HTTP_FILE_COPY_MAX && http_exchange_copy_file(x) < 0)
        x->conn->is_broken = true;
    http_conn_kick(x->conn);
}

/* ---- upgrade ---- */

struct osb_stream *osb_http_upgrade(struct osb_http_exchange *x, struct osb_buf *leftover)
{
    struct http_conn *conn = x->conn;
    if (!start(x, 101, NULL, 0, true))
        return NULL;
    /* Earlier answers are out before a handler runs, so this small head always fits. */
    if (http_out_flush(&conn->out) < 0 || conn->out.buf.len > 0) {
        osb_http_abort(x);
        return NULL;
    }
    osb_buf_append_slice(leftover, osb_buf_slice(&conn->in));
    osb_buf_clear(&conn->in);
    osb_timer_stop(&conn->timer);
    osb_stream_want(conn->stream, 0);
    osb_stream_set_callback(conn->stream, NULL, NULL);
    http_conn_kick(conn);
    return osb_take_ptr(conn->stream);
}
