// SPDX-License-Identifier: Apache-2.0
#include "health.h"

#include <osb/alloc.h>
#include <osb/http_router.h>
#include <osb/http_server.h>
#include <osb/metric.h>
#include <osb/stream.h>
#include <stdlib.h>

enum { MAX_CONNECTIONS = 64 };

struct health {
    struct osb_rpc_channel *backend;
    struct osb_http_server *server;
    struct osb_http_router *router;
    struct osb_listener *listener;
    struct osb_metric *is_connected;
    bool is_stopping;
};

static const char text_type[] = "text/plain; charset=utf-8";

static void on_live(struct osb_http_exchange *x, const struct osb_http_params *params, void *arg)
{
    (void)params;
    (void)arg;
    osb_http_reply(x, 200, text_type, OSB_SLICE("ok\n"));
}

static void on_ready(struct osb_http_exchange *x, const struct osb_http_params *params, void *arg)
{
    const struct health *health = arg;

    (void)params;
    if (health->is_stopping)
        osb_http_reply(x, 503, text_type, OSB_SLICE("stopping\n"));
    else if (!osb_rpc_channel_is_connected(health->backend))
        osb_http_reply(x, 503, text_type, OSB_SLICE("no connection to the runtime\n"));
    else
        osb_http_reply(x, 200, text_type, OSB_SLICE("ok\n"));
}

static void on_metrics(struct osb_http_exchange *x, const struct osb_http_params *params, void *arg)
{
    const struct health *health = arg;
    _cleanup_buf_ struct osb_buf text = {0};

    (void)params;
    osb_metric_set(health->is_connected, osb_rpc_channel_is_connected(health->backend) ? 1 : 0);
    osb_metric_render(&text);
    osb_http_reply(x, 200, "text/plain; version=0.0.4; charset=utf-8", osb_buf_slice(&text));
}

static void handle(struct osb_http_exchange *x, void *arg)
{
    const struct health *health = arg;
    const char *allow = NULL;
    int r = osb_http_router_dispatch(health->router, x, &allow);

    if (r == -EPERM) {
        osb_http_reply_header(x, "Allow", osb_slice_str(allow));
        osb_http_reply(x, 405, text_type, OSB_SLICE("method not allowed\n"));
    } else if (r < 0) {
        osb_http_reply(x, 404, text_type, OSB_SLICE("not found\n"));
    }
}

static void make_routes(struct health *health)
{
    health->router = osb_http_router_new();
    osb_http_route(health->router, "GET", "/healthz", on_live, health);
    osb_http_route(health->router, "GET", "/livez", on_live, health);
    osb_http_route(health->router, "GET", "/readyz", on_ready, health);
    osb_http_route(health->router, "GET", "/metrics", on_metrics, health);
}

int health_new(struct osb_loop *loop, const char *host, int port, struct osb_rpc_channel *backend,
               struct health **ret, struct osb_err *err)
{
    struct osb_http_server_options options = {.max_connections = MAX_CONNECTIONS};
    struct health *health = osb_new(struct health);
    int r;

    health->backend = backend;
    health->is_connected = osb_metric_new(OSB_METRIC_GAUGE, "opensandbox_shim_runtime_connected",
                                          "Whether there is a connection to the runtime", NULL);
    make_routes(health);
    r = osb_http_server_new(loop, &options, handle, health, &health->server, err);
    if (r >= 0)
        r = osb_listener_new_tcp(loop, host, port, osb_http_server_accept, health->server,
                                 &health->listener, err);
    if (r < 0) {
        health_free(health);
        return osb_wrap(err, r, "health port");
    }
    *ret = health;
    return 0;
}

int health_port(const struct health *health)
{
    return osb_listener_port(health->listener);
}

void health_stopping(struct health *health)
{
    health->is_stopping = true;
}

void health_free(struct health *health)
{
    if (!health)
        return;
    osb_listener_free(health->listener);
    if (health->server)
        osb_http_server_free(health->server);
    osb_http_router_free(health->router);
    free(health);
}
