// SPDX-License-Identifier: Apache-2.0
#include "daemon.h"

#include <osb/alloc.h>
#include <osb/http_client.h>
#include <osb/kube_config.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "health.h"
#include "leader.h"
#include "operator.h"
#include "ping_http.h"
#include "rest.h"
#include "sandbox_controller.h"

#define USER_AGENT "opensandbox-operator/" OPERATOR_VERSION " (" OPERATOR_COMMIT ")"

struct daemon {
    struct operator op;
    struct osb_kube_config kube;
    struct osb_http_client *http; /* asks execd */
    struct health *health;
    int ready_fd;
    int stopping_parts; /* that have not stopped yet */
    bool is_ready;
};

/* ---- from the bottom up ---- */

static int make_client(struct daemon *d, const struct options *options, struct osb_err *err)
{
    struct osb_kube_transport *transport = NULL;
    const char *path =
        options->kubeconfig ? options->kubeconfig : d->op.config->kubernetes.kubeconfig;
    int r = osb_kube_config_load(path, &d->kube, err);
    if (r < 0)
        return r;
    if (d->kube.is_insecure)
        osb_log(OSB_LOG_WARN, "the API server's certificate is not checked",
                OSB_KV_STR("address", d->kube.server));
    r = osb_kube_transport_new_curl(d->op.loop, &d->kube, USER_AGENT, &transport, err);
    if (r < 0)
        return r;
    d->op.client = osb_kube_client_new(d->op.loop, transport);
    d->op.namespace_ = d->op.config->kubernetes.namespace_ ? d->op.config->kubernetes.namespace_
                                                           : d->kube.namespace_;
    return 0;
}

static void on_cache_error(int r, const struct osb_err *err, void *arg)
{
    const char *what = arg;
    osb_log(r == -OSB_E_EXPIRED ? OSB_LOG_INFO : OSB_LOG_WARN, "list or watch failed",
            OSB_KV_STR("kind", what), OSB_KV_STR("code", osb_err_info(r)->name),
            OSB_KV_STR("error", err ? err->message : ""));
}

static struct osb_kube_reflector *make_reflector(struct daemon *d, const struct osb_api_kind *kind,
                                                 const char *selector, struct osb_kube_store *store)
{
    struct osb_kube_reflector_options options = {
        .kind = kind,
        .label_selector = selector,
        .on_error = on_cache_error,
        .on_error_arg = (void *)kind->kind,
    };
    return osb_kube_reflector_new(d->op.loop, d->op.client, store, &options);
}

static void make_caches(struct daemon *d)
{
    d->op.batchsandboxes = osb_kube_store_new(&batchsandbox_projection);
    d->op.pods = osb_kube_store_new(&pod_projection);
    d->op.batchsandbox_reflector =
        make_reflector(d, &osb_kind_batchsandbox, NULL, d->op.batchsandboxes);
    d->op.pod_reflector = make_reflector(d, &osb_kind_pod, LABEL_POD_NAME, d->op.pods);
}

static void on_execd(const char *namespace_, const char *owner_name, void *arg)
{
    const struct daemon *d = arg;
    sandbox_controller_told(namespace_, owner_name, d->op.sandboxes);
}

static void on_event_refused(int r, const char *reason, const char *namespace_,
                             const struct osb_err *err, void *arg)
{
    (void)arg;
    osb_log(OSB_LOG_WARN, "an event was not taken", OSB_KV_STR("reason", reason),
            OSB_KV_STR("namespace", namespace_), OSB_KV_STR("code", osb_err_info(r)->name),
            OSB_KV_STR("error", err ? err->message : ""));
}

static int make_controllers(struct daemon *d, struct osb_err *err)
{
    struct osb_http_client_options options = {.connect_timeout_ms = PING_TIMEOUT_MAX_MS};
    int r = osb_http_client_new(d->op.loop, &options, &d->http, err);
    if (r < 0)
        return r;
    struct ping_asker asker = ping_http_asker(d->http);
    d->op.events = osb_kube_events_new(d->op.loop, d->op.client, "opensandbox-operator");
    osb_kube_events_on_refusal(d->op.events, on_event_refused, d);
    d->op.ping = ping_new(d->op.loop, &asker, on_execd, d);
    d->op.sandboxes = sandbox_controller_new(&d->op, 0);
    return 0;
}

/* ---- signals and readiness ---- */

static void on_part_stopped(void *arg)
{
    struct daemon *d = arg;
    if (--d->stopping_parts == 0)
        osb_loop_stop(d->op.loop);
}

/*
 * What REST has promised is kept first, and another may lead at once; a second signal does not wait
 * for either.
 */
static void on_stop(int signo, void *arg)
{
    struct daemon *d = arg;
    osb_log(OSB_LOG_INFO, "stopping", OSB_KV_INT("signal", signo));
    if (d->op.is_stopping || !d->op.rest) {
        osb_loop_stop(d->op.loop);
        return;
    }
    d->op.is_stopping = true;
    d->stopping_parts = 2;
    rest_drain(d->op.rest, on_part_stopped, d);
    leader_release(d->op.leader, on_part_stopped, d);
}

static void on_synced(void *arg)
{
    struct daemon *d = arg;
    if (d->is_ready || !operator_is_synced(&d->op))
        return;
    d->is_ready = true;
    osb_log(OSB_LOG_INFO, "caches filled",
            OSB_KV_INT("count", osb_kube_store_count(d->op.batchsandboxes)));
    if (!d->op.is_stopping)
        leader_start(d->op.leader);
    if (d->ready_fd < 0)
        return;
    if (write(d->ready_fd, "ready\n", 6) != 6)
        osb_log(OSB_LOG_WARN, "nobody waits at the ready descriptor");
    close(d->ready_fd);
    d->ready_fd = -1;
}

static int build(struct daemon *d, const struct options *options, struct osb_err *err)
{
    int r = osb_loop_new_uv(&d->op.loop, err);
    if (r < 0 || (r = osb_loop_on_signal(d->op.loop, SIGTERM, on_stop, d, err)) < 0 ||
        (r = osb_loop_on_signal(d->op.loop, SIGINT, on_stop, d, err)) < 0 ||
        (r = make_client(d, options, err)) < 0)
        return r;
    make_caches(d);
    if ((r = make_controllers(d, err)) < 0)
        return r;
    r = leader_new(&d->op, &d->kube, &options->election, USER_AGENT, &d->op.leader, err);
    if (r < 0)
        return osb_wrap(err, r, "leader election");
    if ((r = rest_new(&d->op, &d->op.rest, err)) < 0)
        return r;
    return health_new(&d->op, &d->health, err);
}

static void start(struct daemon *d)
{
    osb_kube_reflector_on_sync(d->op.batchsandbox_reflector, on_synced, d);
    osb_kube_reflector_on_sync(d->op.pod_reflector, on_synced, d);
    osb_kube_reflector_start(d->op.batchsandbox_reflector);
    osb_kube_reflector_start(d->op.pod_reflector);
    osb_log(OSB_LOG_INFO, "started", OSB_KV_STR("version", OPERATOR_VERSION " " OPERATOR_COMMIT),
            OSB_KV_STR("address", d->kube.server), OSB_KV_STR("namespace", d->op.namespace_),
            OSB_KV_INT("port", health_port(d->health)));
}

/* ---- and down ---- */

static void take_down(struct daemon *d)
{
    health_free(d->health);
    rest_free(d->op.rest);
    leader_free(d->op.leader);
    osb_kube_reflector_free(d->op.batchsandbox_reflector);
    osb_kube_reflector_free(d->op.pod_reflector);
    sandbox_controller_free(d->op.sandboxes);
    ping_free(d->op.ping);
    if (d->http)
        osb_http_client_free(d->http);
    osb_kube_events_free(d->op.events);
    osb_kube_store_free(d->op.batchsandboxes);
    osb_kube_store_free(d->op.pods);
    osb_kube_client_free(d->op.client);
    osb_kube_config_done(&d->kube);
    if (d->ready_fd >= 0)
        close(d->ready_fd);
    osb_loop_free(d->op.loop);
}

int daemon_run(const struct options *options, struct config *config, struct osb_err *err)
{
    struct daemon d = {.op = {.config = config}, .ready_fd = options->ready_fd};
    int r = build(&d, options, err);
    if (r >= 0) {
        start(&d);
        r = osb_loop_run(d.op.loop);
    }
    take_down(&d);
    return r;
}
