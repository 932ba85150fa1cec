// SPDX-License-Identifier: Apache-2.0
#include "server.h"
#include "discovery.h"
#include "openapi.h"

#include <osb/alloc.h>
#include <osb/log.h>
#include <osb/metric.h>

/* ---- the life of a call ---- */

void call_maybe_free(struct call *call)
{
    if (call->x || call->is_writing)
        return;
    request_done(&call->request);
    refusal_done(&call->refusal);
    refusal_done(&call->write.refusal);
    outcome_done(&call->outcome);
    osb_json_free(call->body);
    osb_arena_done(&call->arena);
    free(call);
}

static void log_call(const struct call *call)
{
    enum osb_log_level level = call->status >= 500 ? OSB_LOG_WARN : OSB_LOG_DEBUG;
    osb_log(level, "request", OSB_KV_STR("user", call->who.user),
            OSB_KV_SLICE("method", osb_http_method(call->x)),
            OSB_KV_SLICE("path", osb_http_raw_path(call->x)), OSB_KV_INT("status", call->status),
            OSB_KV_INT("duration_ms",
                       ((int64_t)osb_loop_now_ns(call->server->loop) - call->start_ns) / 1000000));
}

static void on_close(struct osb_http_exchange *x, bool is_complete, void *arg)
{
    struct call *call = arg;
    (void)x;
    (void)is_complete;
    log_call(call);
    if (call->free_stream)
        call->free_stream(call->stream);
    call->x = NULL;
    call_maybe_free(call);
}

static struct call *call_new(struct server *server, struct osb_http_exchange *x)
{
    struct call *call = osb_new(struct call);
    call->server = server;
    call->x = x;
    call->start_ns = (int64_t)osb_loop_now_ns(server->loop);
    osb_http_on_close(x, on_close, call);
    return call;
}

/* ---- who asks ---- */

static void identify(struct call *call)
{
    if (call->server->options.is_insecure) {
        call->who = (struct identity){"insecure-local-client", "system:masters"};
        return;
    }
    const struct osb_stream *stream = osb_http_stream(call->x);
    _cleanup_free_ char *user = osb_tls_peer_name(stream);
    _cleanup_free_ char *group = osb_tls_peer_organization(stream);
    if (user)
        call->who.user = osb_arena_strdup(&call->arena, user);
    if (user && group)
        call->who.group = osb_arena_strdup(&call->arena, group);
}

/* ---- documents ---- */

static bool is_health_path(struct osb_slice path)
{
    static const char *const paths[] = {"/livez",      "/readyz",      "/healthz",
                                        "/livez/ping", "/readyz/ping", "/healthz/ping"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
        if (osb_slice_eq_str(path, paths[i]))
            return true;
    return false;
}

static void reply_text(struct call *call, int status, const char *type, struct osb_slice text)
{
    call->status = status;
    osb_http_reply(call->x, status, type, text);
}

/* What anybody may read; false when PATH is not of these. */
static bool serve_open(struct call *call, struct osb_slice path)
{
    if (is_health_path(path)) {
        reply_text(call, 200, "text/plain; charset=utf-8", OSB_SLICE("ok"));
        return true;
    }
    if (!osb_slice_eq_str(path, "/version"))
        return false;
    _cleanup_buf_ struct osb_buf body = {0};
    version_document(&body);
    reply_json(call, 200, osb_buf_slice(&body));
    return true;
}

/* What is open to all who are known. */
static bool serve_document(struct call *call, struct osb_slice path)
{
    const struct registry *registry = &call->server->cluster->registry;
    _cleanup_buf_ struct osb_buf body = {0};
    if (osb_slice_eq_str(path, "/metrics")) {
        osb_metric_render(&body);
        reply_text(call, 200, "text/plain; version=0.0.4", osb_buf_slice(&body));
        return true;
    }
    if (osb_slice_eq_str(path, OPENAPI_V2_PATH)) {
        struct osb_slice accept = OSB_SLICE_NULL;
        osb_http_header(call->x, "Accept", &accept);
        bool is_protobuf = osb_slice_find_slice(accept, OSB_SLICE(OPENAPI_V2_ASKED)) >= 0;
        reply_text(call, 200, is_protobuf ? OPENAPI_V2_PROTOBUF : "application/json",
                   openapi_v2_document(is_protobuf));
        return true;
    }
    if (!discovery_document(registry, path, &body) && !openapi_document(registry, path, &body))
        return false;
    reply_json(call, 200, osb_buf_slice(&body));
    return true;
}

/* ---- dispatch ---- */

static void serve_stream(struct call *call)
{
    refuse(&call->refusal, 501, "NotImplemented",
           "pods/%s is not served by the embedded engine yet; use the sandbox's own API",
           call->request.sub_name);
    reply_refusal(call, &call->refusal);
}

static void serve_resource(struct call *call)
{
    switch (call->request.sub) {
    case SUB_STREAM:
        serve_stream(call);
        return;
    case SUB_LOG:
        serve_log(call);
        return;
    default:
        break;
    }
    switch (call->request.verb) {
    case VERB_GET:
    case VERB_LIST:
        serve_read(call);
        break;
    case VERB_WATCH:
        serve_watch(call);
        break;
    default:
        serve_write(call);
        break;
    }
}

/* Everything up to the verb; negative when refused. */
static int prepare(struct call *call, struct osb_slice path)
{
    struct osb_slice accept = OSB_SLICE_NULL;
    int r =
        request_parse(&call->server->cluster->registry, osb_http_method(call->x), path,
                      osb_http_raw_query(call->x), &call->arena, &call->request, &call->refusal);
    if (r < 0)
        return r;
    if (!authz_allows(&call->who, &call->request))
        return authz_refuse(&call->who, &call->request, &call->refusal);
    if (call->request.sub == SUB_LOG || call->request.sub == SUB_STREAM)
        return 0;
    osb_http_header(call->x, "Accept", &accept);
    return output_negotiate(accept, &call->arena, &call->request, &call->output, &call->refusal);
}

static bool is_reading(struct osb_slice method)
{
    return osb_slice_eq_str(method, "GET") || osb_slice_eq_str(method, "HEAD");
}

static void handle(struct osb_http_exchange *x, void *arg)
{
    struct call *call = call_new(arg, x);
    struct osb_slice path = osb_http_raw_path(x);
    if (path.len > 1 && path.data[path.len - 1] == '/')
        path.len--;
    bool is_get = is_reading(osb_http_method(x));
    if (is_get && serve_open(call, path))
        return;
    identify(call);
    if (!authz_is_known(&call->who)) {
        refuse(&call->refusal, 401, "Unauthorized", "Unauthorized");
        reply_refusal(call, &call->refusal);
        return;
    }
    if (is_get && serve_document(call, path))
        return;
    if (prepare(call, path) < 0)
        reply_refusal(call, &call->refusal);
    else
        serve_resource(call);
}

/* Errors of the HTTP layer are Statuses too. */
static void error_body(int status, const char *message, struct osb_buf *out)
{
    _cleanup_refusal_ struct refusal refusal = {0};
    const char *reason = status == 413   ? "RequestEntityTooLarge"
                         : status == 408 ? "Timeout"
                         : status == 503 ? "ServiceUnavailable"
                                         : "BadRequest";
    refuse(&refusal, status, reason, "%s", message);
    refusal_print(&refusal, out);
}

/* ---- the server ---- */

static void on_accept(struct osb_stream *stream, const char *peer, void *arg)
{
    struct server *server = arg;
    struct osb_err err = {0};
    if (server->tls && osb_tls_server_wrap(server->tls, stream, &stream, &err) < 0) {
        osb_log(OSB_LOG_WARN, "cannot start TLS", OSB_KV_ERR(&err));
        return;
    }
    osb_http_server_serve(server->http, stream, peer);
}

static void on_committed(void *arg)
{
    watches_wake(arg);
}

static int start(struct server *server, struct osb_err *err)
{
    const struct server_options *o = &server->options;
    int r = 0;
    if (!o->is_insecure)
        r = osb_tls_server_new(o->tls_cert, o->tls_key, o->client_ca, &server->tls, err);
    struct osb_http_server_options http = {.error_body = error_body};
    if (r >= 0)
        r = osb_http_server_new(server->loop, &http, handle, server, &server->http, err);
    if (r >= 0)
        r = osb_http_client_new(server->loop, &(struct osb_http_client_options){0}, &server->node,
                                err);
    if (r >= 0)
        r = osb_listener_new_tcp(server->loop, o->address, o->port, on_accept, server,
                                 &server->listener, err);
    return r;
}

int server_start(struct server *server, struct osb_loop *loop, struct cluster *cluster,
                 const struct server_options *options, struct osb_err *err)
{
    *server = (struct server){.loop = loop, .cluster = cluster, .options = *options};
    watches_init(server);
    cluster->on_committed = on_committed;
    cluster->arg = server;
    int r = start(server, err);
    if (r < 0)
        server_stop(server);
    return r;
}

int server_port(const struct server *server)
{
    return osb_listener_port(server->listener);
}

void server_drain(struct server *server, void (*done)(void *arg), void *arg)
{
    server->is_stopping = true;
    osb_listener_free(osb_take_ptr(server->listener));
    watches_end(server);
    osb_http_server_drain(server->http, done, arg);
}

void server_stop(struct server *server)
{
    server->cluster->on_committed = NULL;
    osb_listener_free(osb_take_ptr(server->listener));
    osb_http_server_free(osb_take_ptr(server->http));
    osb_http_client_free(osb_take_ptr(server->node));
    osb_tls_context_free(osb_take_ptr(server->tls));
    osb_timer_stop(&server->bookmarks);
    osb_defer_cancel(&server->pump);
}
