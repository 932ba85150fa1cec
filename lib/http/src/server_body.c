// SPDX-License-Identifier: Apache-2.0
// The request body on its way to the handler, collected or streamed.
#include "server.h"

enum { COLLECT_FIRST_MAX = 1 << 20 }; /* room made on the word of Content-Length alone */

bool http_exchange_wants_body(const struct osb_http_exchange *x)
{
    return x->sink != HTTP_SINK_NONE && !x->is_paused && !x->conn->body.is_done;
}

static void set_sink(struct osb_http_exchange *x, enum http_sink sink, void *arg)
{
    osb_assert(x->sink == HTTP_SINK_NONE && !x->is_end_told);
    x->sink = sink;
    x->sink_arg = arg;
    x->conn->read_since_ns = osb_loop_now_ns(x->conn->server->loop);
    http_conn_kick(x->conn);
}

void osb_http_collect(struct osb_http_exchange *x, size_t max,
                      void (*fn)(struct osb_http_exchange *x, struct osb_slice body, void *arg),
                      void *arg)
{
    const struct osb_http_body *body = &x->conn->body;
    max = max ? max : OSB_HTTP_MAX_BODY;
    if (x->is_refused)
        return;
    if (body->framing == OSB_HTTP_BODY_LENGTH && body->remaining > max) {
        http_exchange_refuse(x, 413, "request body is too large");
        return;
    }
    osb_buf_init(&x->collected, max);
    if (body->framing == OSB_HTTP_BODY_LENGTH && body->remaining <= COLLECT_FIRST_MAX)
        (void)osb_buf_reserve(&x->collected, (size_t)body->remaining);
    x->collect_fn = fn;
    set_sink(x, HTTP_SINK_COLLECT, arg);
}

void osb_http_on_body(struct osb_http_exchange *x,
                      void (*fn)(struct osb_http_exchange *x, struct osb_slice data, bool is_end,
                                 void *arg),
                      void *arg)
{
    if (x->is_refused)
        return;
    x->body_fn = fn;
    set_sink(x, HTTP_SINK_STREAM, arg);
}

void osb_http_body_pause(struct osb_http_exchange *x)
{
    x->is_paused = true;
}

void osb_http_body_resume(struct osb_http_exchange *x)
{
    x->is_paused = false;
    x->conn->read_since_ns = osb_loop_now_ns(x->conn->server->loop);
    http_conn_kick(x->conn);
}

/* The client holds its body back until it is asked for (RFC 9110 section 10.1.1). */
static bool say_continue(struct osb_http_exchange *x)
{
    if (!x->wants_continue || x->is_started)
        return false;
    x->wants_continue = false;
    if (x->conn->in.len > 0)
        return false; /* it did not wait */
    osb_buf_append_str(&x->conn->out.buf, "HTTP/1.1 100 Continue\r\n\r\n");
    return true;
}

static void tell_end(struct osb_http_exchange *x)
{
    enum http_sink sink = x->sink;
    x->sink = HTTP_SINK_NONE;
    x->is_end_told = true;
    if (sink == HTTP_SINK_COLLECT)
        x->collect_fn(x, osb_buf_slice(&x->collected), x->sink_arg);
    else
        x->body_fn(x, OSB_SLICE_NULL, true, x->sink_arg);
}

static void take_content(struct osb_http_exchange *x, struct osb_slice content)
{
    if (content.len == 0)
        return;
    if (x->sink == HTTP_SINK_STREAM) {
        x->body_fn(x, content, false, x->sink_arg);
        return;
    }
    osb_buf_append_slice(&x->collected, content);
    if (x->collected.err < 0)
        http_exchange_refuse(x, 413, "request body is too large");
}

bool http_exchange_deliver(struct osb_http_exchange *x)
{
    struct http_conn *conn = x->conn;
    if (x->sink == HTTP_SINK_NONE || x->is_paused)
        return false;
    if (conn->body.is_done) {
        tell_end(x);
        return true;
    }
    if (say_continue(x))
        return true;
    struct osb_err err = {0};
    struct osb_slice content;
    ptrdiff_t n = osb_http_body_decode(&conn->body, osb_buf_slice(&conn->in), &content, &err);
    if (n < 0) {
        http_exchange_refuse(x, 400, err.message);
        return true;
    }
    /* Consumed first: the bytes stay where they are until the next read. */
    osb_buf_consume(&conn->in, (size_t)n);
    take_content(x, content);
    return n > 0;
}
