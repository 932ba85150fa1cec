// SPDX-License-Identifier: Apache-2.0
// The server object: options, accepting, draining, the date.
#include "server.h"

#include <osb/alloc.h>
#include <osb/clock.h>
#include <osb/text.h>
#include <stdlib.h>

static void set_default(uint64_t *value, uint64_t fallback)
{
    if (*value == 0)
        *value = fallback;
}

static void fill_options(struct osb_http_server_options *options)
{
    if (options->max_head == 0 || options->max_head > OSB_HTTP_MAX_HEAD)
        options->max_head = OSB_HTTP_MAX_HEAD;
    if (options->max_connections == 0)
        options->max_connections = 4096;
    set_default(&options->head_timeout_ms, 10 * 1000);
    set_default(&options->idle_timeout_ms, 75 * 1000);
    set_default(&options->body_timeout_ms, 60 * 1000);
    set_default(&options->write_timeout_ms, 60 * 1000);
}

static void run_drained(struct osb_defer *defer)
{
    struct osb_http_server *server = defer->arg;
    if (server->drained_fn)
        server->drained_fn(server->drained_arg);
}

int osb_http_server_new(struct osb_loop *loop, const struct osb_http_server_options *options,
                        osb_http_handler *handler, void *arg, struct osb_http_server **ret,
                        struct osb_err *err)
{
    if (options && options->server_header &&
        !osb_http_value_is_valid(osb_slice_str(options->server_header)))
        return osb_fail(err, -OSB_E_INVALID, "control byte in the Server header");
    struct osb_http_server *server = osb_new(struct osb_http_server);
    server->loop = loop;
    if (options)
        server->options = *options;
    fill_options(&server->options);
    server->handler = handler;
    server->arg = arg;
    server->date_seconds = -1;
    osb_list_init(&server->conns);
    osb_defer_init(&server->drained, loop, run_drained, server);
    *ret = server;
    return 0;
}

void osb_http_server_serve(struct osb_http_server *server, struct osb_stream *stream,
                           const char *peer)
{
    bool is_over = server->conn_count >= server->options.max_connections || server->is_draining;
    if (is_over && server->rejected_count >= HTTP_MAX_REJECTED) {
        osb_stream_close(stream);
        return;
    }
    http_conn_start(server, stream, peer, is_over);
}

void osb_http_server_accept(struct osb_stream *stream, const char *peer, void *server)
{
    osb_http_server_serve(server, stream, peer);
}

void osb_http_server_drain(struct osb_http_server *server, void (*done)(void *arg), void *arg)
{
    server->is_draining = true;
    server->drained_fn = done;
    server->drained_arg = arg;
    if (osb_list_is_empty(&server->conns)) {
        osb_defer_post(&server->drained);
        return;
    }
    struct http_conn *conn;
    osb_list_foreach (conn, &server->conns, link)
        http_conn_kick(conn);
}

void osb_http_server_free(struct osb_http_server *server)
{
    if (!server)
        return;
    struct http_conn *conn;
    while ((conn = osb_list_first(&server->conns, struct http_conn, link))) {
        osb_assert(!conn->is_running);
        http_conn_free(conn);
    }
    osb_defer_cancel(&server->drained);
    osb_buf_done(&server->spare_in);
    free(server->spare_x);
    free(server);
}

size_t osb_http_server_connections(const struct osb_http_server *server)
{
    return server->conn_count;
}

const char *http_server_date(struct osb_http_server *server)
{
    time_t now = (time_t)(osb_loop_realtime_ns(server->loop) / (int64_t)OSB_NS_PER_S);
    if (now != server->date_seconds) {
        server->date_seconds = now;
        http_date_format(server->date, now);
    }
    return server->date;
}

void http_server_error_body(const struct osb_http_server *server, int status, const char *message,
                            struct osb_buf *out)
{
    if (server->options.error_body) {
        server->options.error_body(status, message, out);
        return;
    }
    osb_buf_append_str(out, "{\"code\":\"INVALID_REQUEST\",\"message\":\"");
    osb_json_escape(out, osb_slice_str(message));
    osb_buf_append_str(out, "\"}");
}
