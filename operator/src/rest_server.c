// SPDX-License-Identifier: Apache-2.0
#include "rest_server.h"

#include <osb/alloc.h>
#include <osb/log.h>
#include <osb/secret.h>

#include <stdlib.h>

#include "pod_inject.h"
#include "rest_auth.h"
#include "rest_create.h"
#include "rest_request.h"
#include "rest_template.h"
#include "rest_undo.h"

/* Every route of the API stands bare and under /v1. */
#define BOTH(method, pattern, handler, name)                                                       \
    {method, pattern, handler, name},                                                              \
    {                                                                                              \
        method, "/v1" pattern, handler, name                                                       \
    }

static const struct rest_route routes[] = {
    BOTH("POST", "/sandboxes", rest_create_handle, "create"),
    BOTH("GET", "/sandboxes", rest_list_handle, "list"),
    BOTH("GET", "/sandboxes/{id}", rest_get_handle, "get"),
    BOTH("DELETE", "/sandboxes/{id}", rest_delete_handle, "delete"),
    BOTH("PATCH", "/sandboxes/{id}/metadata", rest_metadata_handle, "metadata"),
    BOTH("POST", "/sandboxes/{id}/renew-expiration", rest_renew_handle, "renew"),
    BOTH("GET", "/sandboxes/{id}/endpoints/{port}", rest_endpoint_handle, "endpoint"),
    {"GET", "/health", rest_health_handle, "health"},
    {"GET", "/version", rest_version_handle, "version"},
    {"POST", "/v1/metrics/events", rest_event_handle, "event"},
    /* Known, not built: they say so. */
    BOTH("POST", "/sandboxes/{id}/pause", rest_pause_handle, "pause"),
    BOTH("POST", "/sandboxes/{id}/resume", rest_pause_handle, "resume"),
    BOTH("POST", "/sandboxes/{id}/snapshots", rest_snapshot_handle, "snapshot"),
    BOTH("GET", "/snapshots", rest_snapshot_handle, "snapshot"),
    BOTH("*", "/snapshots/{sid}", rest_snapshot_handle, "snapshot"),
    BOTH("*", "/pools", rest_pool_handle, "pool"),
    BOTH("*", "/pools/{name}", rest_pool_handle, "pool"),
    BOTH("*", "/sandboxes/{id}/proxy/{port}", rest_proxy_handle, "proxy"),
    BOTH("*", "/sandboxes/{id}/proxy/{port}/{rest...}", rest_proxy_handle, "proxy"),
    BOTH("GET", "/sandboxes/{id}/diagnostics/{what}", rest_diagnostics_handle, "diagnostics"),
    BOTH("*", "/sandboxes/{id}/networkpolicy", rest_policy_handle, "networkpolicy"),
    BOTH("*", "/templates", rest_template_handle, "template"),
    BOTH("*", "/templates/{tid}", rest_template_handle, "template"),
};

enum { ROUTE_COUNT = sizeof(routes) / sizeof(routes[0]) };

/* ---- dispatch ---- */

static void on_route(struct osb_http_exchange *x, const struct osb_http_params *params, void *arg)
{
    struct rest_request *request = osb_http_data(x);
    request->binding = arg;
    request->binding->route->handler(request, params);
}

/* "/v1/sandboxes/" leads to "/v1/sandboxes", as with the public server; the method stays. */
static bool redirect_slash(struct rest_request *request)
{
    struct osb_slice path = osb_http_raw_path(request->x);
    struct osb_slice query = osb_http_raw_query(request->x);
    if (path.len < 2 || path.data[path.len - 1] != '/')
        return false;
    path.len--;
    if (!osb_http_router_knows(request->rest->router, request->x, path))
        return false;
    osb_http_reply_headerf(request->x, "Location", "%.*s%s%.*s", OSB_SLICE_ARG(path),
                           query.len ? "?" : "", OSB_SLICE_ARG(query));
    rest_reply_empty(request, 307);
    return true;
}

static void fail_unrouted(struct rest_request *request, int r, const char *allow)
{
    if (r == -EPERM) {
        osb_http_reply_header(request->x, "Allow", osb_slice_str(allow));
        rest_fail(request, 405, "GENERAL::METHOD_NOT_ALLOWED", "Method Not Allowed");
    } else {
        rest_fail(request, 404, "GENERAL::ROUTE_NOT_FOUND", "Not Found: no such route");
    }
}

static void handle(struct osb_http_exchange *x, void *arg)
{
    struct rest *rest = arg;
    struct rest_request *request = rest_request_new(rest, x);
    const char *allow = NULL;
    if (rest_cors(request) || !rest_auth_admit(request))
        return;
    int r = osb_http_router_dispatch(rest->router, x, &allow);
    if (r < 0 && !redirect_slash(request))
        fail_unrouted(request, r, allow);
}

/* ---- life ---- */

static void make_router(struct rest *rest)
{
    rest->router = osb_http_router_new();
    rest->bindings = osb_calloc(ROUTE_COUNT, sizeof(rest->bindings[0]));
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        rest->bindings[i].rest = rest;
        rest->bindings[i].route = &routes[i];
        osb_http_route(rest->router, routes[i].method, routes[i].pattern, on_route,
                       &rest->bindings[i]);
    }
}

/* A sandbox is gone, so are its tokens. */
static void on_sandbox_change(enum osb_kube_change change, const struct osb_kube_object *old,
                              const struct osb_kube_object *current, void *arg)
{
    struct rest *rest = arg;
    (void)current;
    if (change != OSB_KUBE_DELETED)
        return;
    struct osb_secret *token = osb_map_remove(&rest->tokens, osb_slice_str(old->uid));
    if (!token)
        return;
    osb_secret_done(token);
    free(token);
}

static int listen_on(struct rest *rest, const struct config_server *config, struct osb_err *err)
{
    struct osb_http_server_options options = {
        .idle_timeout_ms = (uint64_t)config->keep_alive_s * 1000,
        .max_connections = config->max_connections > 0 ? (size_t)config->max_connections : SIZE_MAX,
        .server_header = "opensandbox",
        .error_body = rest_error_body,
        .error_head = rest_error_head,
    };
    int r = osb_http_server_new(rest->op->loop, &options, handle, rest, &rest->server, err);
    if (r < 0)
        return r;
    r = osb_listener_new_tcp(rest->op->loop, config->host, config->port, osb_http_server_accept,
                             rest->server, &rest->listener, err);
    return osb_wrap(err, r, "REST port %s:%d", config->host, config->port);
}

int rest_new(struct operator* op, struct rest **ret, struct osb_err *err)
{
    struct osb_json *template_ = NULL;
    int r = rest_auth_check_config(&op->config->server, err);
    if (r >= 0 && op->config->kubernetes.template_file)
        r = rest_template_load(op->config->kubernetes.template_file, &template_, err);
    if (r < 0)
        return r;
    struct rest *rest = osb_new(struct rest);
    rest->op = op;
    rest->template_ = template_;
    osb_list_init(&rest->creates);
    osb_list_init(&rest->undos);
    rest_waits_init(rest);
    osb_kube_store_subscribe(op->batchsandboxes, on_sandbox_change, rest);
    make_router(rest);
    r = listen_on(rest, &op->config->server, err);
    if (r < 0) {
        rest_free(rest);
        return r;
    }
    if (pod_inject_lacks(op->config))
        osb_log(OSB_LOG_WARN, pod_inject_lacks(op->config));
    osb_log(OSB_LOG_INFO, "REST API", OSB_KV_STR("address", op->config->server.host),
            OSB_KV_INT("port", rest_port(rest)), OSB_KV_STR("namespace", op->namespace_));
    *ret = rest;
    return 0;
}

int rest_port(const struct rest *rest)
{
    return osb_listener_port(rest->listener);
}

/* ---- the end ---- */

static void drained(struct rest *rest)
{
    void (*done)(void *arg) = rest->drain_done;
    rest->drain_done = NULL;
    osb_timer_stop(&rest->drain_timer);
    if (done)
        done(rest->drain_arg);
}

void rest_drain_check(struct rest *rest)
{
    if (rest->is_drained && osb_list_is_empty(&rest->creates) && osb_list_is_empty(&rest->undos))
        drained(rest);
}

static void on_server_drained(void *arg)
{
    struct rest *rest = arg;
    rest->is_drained = true;
    rest_drain_check(rest);
}

static void on_drain_over(struct osb_timer *timer)
{
    struct rest *rest = timer->arg;
    osb_log(OSB_LOG_WARN, "requests were cut off",
            OSB_KV_INT("count", osb_http_server_connections(rest->server)));
    drained(rest);
}

void rest_drain(struct rest *rest, void (*done)(void *arg), void *arg)
{
    rest->is_draining = true;
    rest->drain_done = done;
    rest->drain_arg = arg;
    osb_timer_init(&rest->drain_timer, rest->op->loop, on_drain_over, rest);
    osb_timer_set(&rest->drain_timer, (uint64_t)rest->op->config->server.drain_s * 1000);
    osb_listener_free(rest->listener);
    rest->listener = NULL;
    rest_waits_end(rest);
    osb_http_server_drain(rest->server, on_server_drained, rest);
}

static void free_token(void *value)
{
    osb_secret_done(value);
    free(value);
}

void rest_free(struct rest *rest)
{
    if (!rest)
        return;
    rest->drain_done = NULL;
    osb_timer_stop(&rest->drain_timer);
    osb_listener_free(rest->listener);
    if (rest->server)
        osb_http_server_free(rest->server);
    rest_creates_free(rest);
    rest_undos_free(rest);
    osb_defer_cancel(&rest->wake);
    osb_map_done(&rest->tokens, free_token);
    osb_http_router_free(rest->router);
    if (rest->template_)
        osb_json_free(rest->template_);
    free(rest->bindings);
    free(rest);
}
