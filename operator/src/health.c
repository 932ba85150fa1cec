// SPDX-License-Identifier: Apache-2.0
#include "health.h"

#include <osb/alloc.h>
#include <osb/http_router.h>
#include <osb/http_server.h>
#include <osb/metric.h>
#include <osb/stream.h>

#include <stdlib.h>

#include "leader.h"
#include "sandbox_controller.h"

enum { MAX_CONNECTIONS = 64 };

struct health {
    struct operator* op;
    struct osb_http_server *server;
    struct osb_http_router *router;
    struct osb_listener *listener;
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
    if (health->op->is_stopping)
        osb_http_reply(x, 503, text_type, OSB_SLICE("stopping\n"));
    else if (!operator_is_synced(health->op))
        osb_http_reply(x, 503, text_type, OSB_SLICE("waiting for the first list\n"));
    else
        osb_http_reply(x, 200, text_type, OSB_SLICE("ok\n"));
}

static void sample(const struct operator* op)
{
    struct osb_metric *sandboxes = osb_metric_new(OSB_METRIC_GAUGE, "opensandbox_batchsandboxes",
                                                  "BatchSandboxes in the cache", NULL);
    struct osb_metric *pods =
        osb_metric_new(OSB_METRIC_GAUGE, "opensandbox_pods", "Their pods in the cache", NULL);
    struct osb_metric *skipped =
        osb_metric_new(OSB_METRIC_COUNTER, "opensandbox_unreadable_objects_total",
                       "Objects of the API server that could not be read", NULL);
    struct osb_metric *relists =
        osb_metric_new(OSB_METRIC_COUNTER, "opensandbox_relists_total",
                       "Lists after the first, where a watch could not go on", NULL);
    struct osb_metric *lost = osb_metric_new(OSB_METRIC_COUNTER, "opensandbox_events_lost_total",
                                             "Kubernetes Events that were never told", NULL);
    osb_metric_set(sandboxes, (int64_t)osb_kube_store_count(op->batchsandboxes));
    osb_metric_set(pods, (int64_t)osb_kube_store_count(op->pods));
    osb_metric_set(skipped, (int64_t)(osb_kube_store_skipped(op->batchsandboxes) +
                                      osb_kube_store_skipped(op->pods)));
    osb_metric_set(relists, (int64_t)(osb_kube_reflector_relists(op->batchsandbox_reflector) +
                                      osb_kube_reflector_relists(op->pod_reflector)));
    osb_metric_set(lost, (int64_t)osb_kube_events_lost(op->events));
    sandbox_controller_sample_metrics(op->sandboxes);
    leader_sample_metrics(op->leader);
}

static void on_metrics(struct osb_http_exchange *x, const struct osb_http_params *params, void *arg)
{
    const struct health *health = arg;
    _cleanup_buf_ struct osb_buf text = {0};
    (void)params;
    sample(health->op);
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

int health_new(struct operator* op, struct health **ret, struct osb_err *err)
{
    const struct config_health *config = &op->config->health;
    struct osb_http_server_options options = {.max_connections = MAX_CONNECTIONS};
    struct health *health = osb_new(struct health);
    health->op = op;
    health->router = osb_http_router_new();
    osb_http_route(health->router, "GET", "/livez", on_live, health);
    osb_http_route(health->router, "GET", "/healthz", on_live, health);
    osb_http_route(health->router, "GET", "/readyz", on_ready, health);
    osb_http_route(health->router, "GET", "/metrics", on_metrics, health);
    int r = osb_http_server_new(op->loop, &options, handle, health, &health->server, err);
    if (r >= 0)
        r = osb_listener_new_tcp(op->loop, config->host, config->port, osb_http_server_accept,
                                 health->server, &health->listener, err);
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

void health_free(struct health *health)
{
    if (!health)
        return;
    if (health->listener)
        osb_listener_free(health->listener);
    if (health->server)
        osb_http_server_free(health->server);
    osb_http_router_free(health->router);
    free(health);
}
