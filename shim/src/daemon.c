// SPDX-License-Identifier: Apache-2.0
#include "daemon.h"

#include <osb/log.h>
#include <osb/loop.h>
#include <osb/rpc.h>
#include <signal.h>
#include <unistd.h>

#include "calls.h"
#include "endpoint.h"
#include "files.h"
#include "health.h"
#include "old_files.h"
#include "pod_report.h"

enum { MS_PER_S = 1000 };

struct daemon {
    const struct options *options;
    struct osb_loop *loop;
    struct files *files; /* NULL without --execd */
    struct osb_rpc_channel *backend;
    struct calls *calls;
    struct osb_rpc_server *server;
    struct endpoint *endpoint;
    struct health *health;
    struct old_files *old_files;
    struct pod_report *report; /* NULL without --kubeconfig */
    bool is_stopping;
};

static void on_connection(int fd, void *arg)
{
    struct daemon *d = arg;
    struct osb_err err = {0};

    if (osb_rpc_server_serve_fd(d->server, fd, &err) < 0)
        osb_log(OSB_LOG_WARN, "a connection was not taken", OSB_KV_ERR(&err));
}

/* ---- the end ---- */

static void on_drained(void *arg)
{
    struct daemon *d = arg;

    osb_loop_stop(d->loop);
}

static void on_signal(int signo, void *arg)
{
    struct daemon *d = arg;

    osb_log(OSB_LOG_INFO, "stopping", OSB_KV_INT("signal", signo));
    if (d->is_stopping || !d->server || !d->endpoint || !d->health) {
        osb_loop_stop(d->loop);
        return;
    }
    d->is_stopping = true;
    health_stopping(d->health);
    endpoint_stop(d->endpoint);
    osb_rpc_server_shutdown(d->server, DAEMON_GRACE_MS, on_drained, d);
}

static void tear_down(struct daemon *d)
{
    old_files_free(d->old_files);
    endpoint_free(d->endpoint);
    health_free(d->health);
    osb_rpc_server_free(d->server);
    if (d->backend)
        osb_rpc_channel_free(d->backend);
    calls_free(d->calls);
    pod_report_free(d->report);
    files_free(d->files);
    osb_loop_free(d->loop);
}

/* ---- from the bottom up ---- */

/* Signals first: threads that start later inherit the mask. */
static int make_loop(struct daemon *d, struct osb_err *err)
{
    int r = osb_loop_new_uv(&d->loop, err);

    if (r >= 0)
        r = osb_loop_on_signal(d->loop, SIGTERM, on_signal, d, err);
    if (r >= 0)
        r = osb_loop_on_signal(d->loop, SIGINT, on_signal, d, err);
    return r;
}

static int make_files(struct daemon *d, struct osb_err *err)
{
    const struct options *options = d->options;
    int r;

    if (!options->execd) {
        osb_log(OSB_LOG_WARN, "started without --execd: containers that ask for it are refused");
        return 0;
    }
    r = files_open(options->files, options->execd, options->bootstrap, &d->files, err);
    if (r >= 0)
        d->old_files =
            old_files_new(d->loop, d->files, options->backend, options->old_files_s * MS_PER_S);
    return r;
}

static void on_injected(const struct inject_subject *subject, void *arg)
{
    struct daemon *d = arg;

    if (d->report && !d->is_stopping)
        pod_report_send(d->report, subject->namespace_, subject->pod, subject->sandbox_id);
}

static int make_server(struct daemon *d, struct osb_err *err)
{
    struct calls_options calls = {
        .files = files_paths(d->files),
        .slow_call_ms = d->options->slow_call_ms,
        .on_injected = on_injected,
        .arg = d,
    };
    struct osb_rpc_server_options server;

    d->calls = calls_new(d->loop, &calls);
    server = (struct osb_rpc_server_options){
        .route = calls_route,
        .rewrite = calls_rewrite,
        .on_done = calls_done,
        .arg = d->calls,
        .backend = d->backend,
    };
    return osb_rpc_server_new(d->loop, &server, &d->server, err);
}

/* The socket before all else that is seen: it tells whether we are the one shim here. */
static int build(struct daemon *d, struct osb_err *err)
{
    const struct options *options = d->options;
    int r = make_loop(d, err);

    if (r >= 0)
        r = endpoint_new(d->loop, options->listen, on_connection, d, &d->endpoint, err);
    if (r >= 0)
        r = make_files(d, err);
    if (r >= 0)
        r = osb_rpc_channel_new(d->loop, options->backend, &d->backend, err);
    if (r >= 0 && options->kubeconfig)
        r = pod_report_new(d->loop, options->kubeconfig, options->backend, &d->report, err);
    if (r >= 0)
        r = make_server(d, err);
    if (r >= 0)
        r = health_new(d->loop, options->health_host, options->health_port, d->backend, &d->health,
                       err);
    if (r >= 0)
        r = endpoint_start(d->endpoint, err);
    return r;
}

/* Serving does not wait for the runtime, which may be starting itself: see /readyz. */
static void say_started(const struct daemon *d)
{
    osb_rpc_channel_is_connected(d->backend); /* begins to connect */
    osb_log(OSB_LOG_INFO, "started", OSB_KV_STR("path", d->options->listen),
            OSB_KV_STR("address", d->options->health_host),
            OSB_KV_INT("port", health_port(d->health)),
            OSB_KV_STR("version", d->files ? d->files->version : "none"));
    if (d->options->ready_fd < 0)
        return;
    if (write(d->options->ready_fd, "ready\n", 6) != 6)
        osb_log(OSB_LOG_WARN, "nobody waits at the ready descriptor");
    close(d->options->ready_fd);
}

int daemon_run(const struct options *options, struct osb_err *err)
{
    struct daemon d = {.options = options};
    int r = build(&d, err);

    if (r >= 0) {
        say_started(&d);
        r = osb_loop_run(d.loop);
        r = osb_wrap(err, r, "event loop");
    }
    tear_down(&d);
    return r;
}
