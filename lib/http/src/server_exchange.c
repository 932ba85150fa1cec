// SPDX-License-Identifier: Apache-2.0
// An exchange from its head to its close callback, and what a handler can ask about the request.
#include "server.h"

#include <osb/alloc.h>
#include <osb/text.h>
#include <stdlib.h>
#include <unistd.h>

struct osb_http_exchange *http_exchange_take(struct http_conn *conn)
{
    struct osb_http_exchange *x = osb_take_ptr(conn->server->spare_x);
    if (!x)
        x = osb_calloc(1, sizeof(*x));
    memset(x, 0, offsetof(struct osb_http_exchange, head));
    x->conn = conn;
    x->file_fd = -1;
    return x;
}

void http_exchange_put_back(struct osb_http_server *server, struct osb_http_exchange *x)
{
    if (server->spare_x)
        free(x);
    else
        server->spare_x = x;
}

static struct osb_slice move_slice(struct osb_slice s, const char *from, const char *to)
{
    return s.data ? osb_slice(to + (s.data - from), s.len) : s;
}

/* The read buffer goes on to other bytes, so the head gets a copy that lives with the exchange. */
static void keep_head(struct osb_http_exchange *x, struct osb_slice raw)
{
    struct osb_http_head *head = &x->head;
    char *copy = osb_arena_slice_dup(&x->arena, raw);
    head->method = move_slice(head->method, raw.data, copy);
    head->target = move_slice(head->target, raw.data, copy);
    for (int i = 0; i < head->header_count; i++) {
        head->headers[i].name = move_slice(head->headers[i].name, raw.data, copy);
        head->headers[i].value = move_slice(head->headers[i].value, raw.data, copy);
    }
}

/* "http://host/path" has the path behind its authority; an empty path is "/". */
static struct osb_slice without_authority(struct osb_slice target)
{
    if (target.len == 0 || target.data[0] == '/' || target.data[0] == '*')
        return target;
    ptrdiff_t scheme = osb_slice_find_slice(target, OSB_SLICE("://"));
    if (scheme < 0)
        return target; /* CONNECT */
    struct osb_slice rest = osb_slice_from(target, (size_t)scheme + 3);
    for (size_t i = 0; i < rest.len; i++) {
        if (rest.data[i] == '/' || rest.data[i] == '?')
            return osb_slice_from(rest, i);
    }
    return OSB_SLICE_NULL;
}

static void split_target(struct osb_http_exchange *x)
{
    struct osb_slice target = without_authority(x->head.target);
    ptrdiff_t mark = osb_slice_find(target, '?');
    x->path = mark < 0 ? target : osb_slice_first(target, (size_t)mark);
    x->query = mark < 0 ? OSB_SLICE_NULL : osb_slice_from(target, (size_t)mark + 1);
    if (x->path.len == 0)
        x->path = OSB_SLICE("/");
}

void http_exchange_start(struct osb_http_exchange *x, struct osb_slice raw)
{
    struct http_conn *conn = x->conn;
    keep_head(x, raw);
    split_target(x);
    osb_buf_consume(&conn->in, raw.len);
    osb_http_body_init(&conn->body, &x->head);
    x->is_keep_alive = x->head.is_keep_alive;
    x->has_no_body = osb_slice_eq_str(x->head.method, "HEAD");
    x->wants_continue = x->head.expects_continue && !conn->body.is_done;
    conn->x = x;
    http_conn_enter(conn, HTTP_CONN_EXCHANGE);
    conn->server->handler(x, conn->server->arg);
}

void http_exchange_close(struct osb_http_exchange *x, bool is_complete)
{
    struct osb_http_server *server = x->conn->server;
    if (x->close_fn)
        x->close_fn(x, is_complete, x->close_arg);
    if (x->file_fd >= 0)
        close(x->file_fd);
    osb_buf_done(&x->headers);
    osb_buf_done(&x->collected);
    osb_arena_done(&x->arena);
    http_exchange_put_back(server, x);
}

/* ---- what handlers ask ---- */

const struct osb_http_head *osb_http_head_of(const struct osb_http_exchange *x)
{
    return &x->head;
}

struct osb_slice osb_http_method(const struct osb_http_exchange *x)
{
    return x->head.method;
}

struct osb_slice osb_http_raw_path(const struct osb_http_exchange *x)
{
    return x->path;
}

struct osb_slice osb_http_raw_query(const struct osb_http_exchange *x)
{
    return x->query;
}

bool osb_http_header(const struct osb_http_exchange *x, const char *name, struct osb_slice *ret)
{
    return osb_http_head_get(&x->head, name, ret);
}

bool osb_http_query(struct osb_http_exchange *x, const char *name, struct osb_slice *ret)
{
    return osb_http_query_at(x, name, 0, ret);
}

const char *osb_http_peer(const struct osb_http_exchange *x)
{
    return x->conn->peer;
}

struct osb_stream *osb_http_stream(struct osb_http_exchange *x)
{
    return x->conn->stream;
}

struct osb_loop *osb_http_loop(const struct osb_http_exchange *x)
{
    return x->conn->server->loop;
}

struct osb_arena *osb_http_arena(struct osb_http_exchange *x)
{
    return &x->arena;
}

void osb_http_set_data(struct osb_http_exchange *x, void *data)
{
    x->data = data;
}

void *osb_http_data(const struct osb_http_exchange *x)
{
    return x->data;
}

void osb_http_on_close(struct osb_http_exchange *x,
                       void (*fn)(struct osb_http_exchange *x, bool is_complete, void *arg),
                       void *arg)
{
    x->close_fn = fn;
    x->close_arg = arg;
}
