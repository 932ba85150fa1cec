// SPDX-License-Identifier: Apache-2.0
// The receiving side of a connection: reading into a borrowed buffer, heads, unwanted bodies.
#include "server.h"

void http_conn_park_input(struct http_conn *conn)
{
    const struct osb_buf *out = &conn->out.buf;
    if (out->len == 0 && (!conn->x || out->cap > HTTP_OUT_KEPT))
        osb_buf_done(&conn->out.buf);
    http_input_park(&conn->in, &conn->server->spare_in);
}

void http_conn_read(struct http_conn *conn)
{
    bool is_new_head = conn->state == HTTP_CONN_HEAD && conn->in.len == 0;
    ssize_t n = http_input_read(&conn->in, &conn->server->spare_in, conn->stream);
    if (n == -EAGAIN)
        return;
    conn->is_eof = n == 0;
    conn->is_broken |= n < 0;
    if (is_new_head || conn->state == HTTP_CONN_EXCHANGE)
        conn->read_since_ns = osb_loop_now_ns(conn->server->loop);
}

/* ---- heads ---- */

/*
 * A head is only parsed when a line has ended since the last look, or a lot has come without one:
 * so a peer that sends byte by byte costs work per line, not per byte.
 */
static bool is_worth_parsing(struct http_conn *conn)
{
    struct osb_slice in = osb_buf_slice(&conn->in);
    struct osb_slice fresh = osb_slice_from(in, conn->parsed_len);
    if (fresh.len == 0)
        return false;
    return conn->parsed_len == 0 || fresh.len >= HTTP_PARSE_STEP ||
           osb_slice_find(fresh, '\n') >= 0;
}

static int err_status(const struct osb_err *err)
{
    return err->http_status ? err->http_status : 400;
}

bool http_conn_parse(struct http_conn *conn)
{
    if (conn->server->is_draining && conn->in.len == 0) {
        conn->is_broken = true;
        return true;
    }
    if (!is_worth_parsing(conn))
        return false;
    struct osb_err err = {0};
    struct osb_slice in = osb_buf_slice(&conn->in);
    size_t max = conn->server->options.max_head;
    struct osb_http_exchange *x = http_exchange_take(conn);
    ptrdiff_t n = osb_http_head_parse(in, false, &x->head, &err);
    if (n > 0 && (size_t)n <= max) {
        conn->parsed_len = 0;
        http_exchange_start(x, osb_slice_first(in, (size_t)n));
        return true;
    }
    http_exchange_put_back(conn->server, x);
    conn->parsed_len = in.len;
    if (n < 0) {
        http_conn_refuse(conn, err_status(&err), err.message);
        return true;
    }
    if (n > 0 || in.len > max) {
        http_conn_refuse(conn, 431, "head is too large");
        return true;
    }
    return false;
}

/* ---- bodies that nobody reads ---- */

bool http_conn_discard(struct http_conn *conn)
{
    struct osb_slice content;
    ptrdiff_t n = osb_http_body_decode(&conn->body, osb_buf_slice(&conn->in), &content, NULL);
    if (n > 0)
        osb_buf_consume(&conn->in, (size_t)n);
    conn->dropped += n > 0 ? (size_t)n : 0;
    if (n < 0 || conn->dropped > HTTP_DISCARD_MAX) {
        http_conn_enter(conn, HTTP_CONN_LINGER);
        return true;
    }
    if (!conn->body.is_done)
        return n > 0;
    http_conn_enter(conn, HTTP_CONN_HEAD);
    return true;
}

void http_conn_refuse(struct http_conn *conn, int status, const char *message)
{
    struct osb_http_server *server = conn->server;
    struct osb_buf *out = &conn->out.buf;
    struct osb_buf body = {0};
    http_server_error_body(server, status, message, &body);
    osb_buf_appendf(out,
                    "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Type: application/json\r\n"
                    "Content-Length: %zu\r\nConnection: close\r\n",
                    status, osb_http_reason(status), http_server_date(server), body.len);
    if (server->options.error_head)
        server->options.error_head(NULL, status, out);
    osb_buf_append_str(out, "\r\n");
    osb_buf_append_slice(out, osb_buf_slice(&body));
    osb_buf_done(&body);
    http_conn_enter(conn, HTTP_CONN_LINGER);
}
