// SPDX-License-Identifier: Apache-2.0
#include "service.h"

#include "command_kill.h"
#include "command_run.h"
#include "reaper.h"
#include "reply.h"

#include <osb/json_writer.h>

enum {
    DRAIN_MS = 5000,
    WRITE_TIMEOUT_MS = 600 * 1000, /* a client may stop reading, and hold its command, this long */
};

static const char token_header[] = "X-EXECD-ACCESS-TOKEN";

static bool is_authorised(const struct execd *execd, struct osb_http_exchange *x)
{
    struct osb_slice given = OSB_SLICE_NULL;

    if (osb_secret_is_empty(&execd->token))
        return true;
    osb_http_header(x, token_header, &given);
    return osb_secret_eq(&execd->token, given);
}

/* Clients of either kind find the key that they look for (design 8.9). */
static void reply_unauthorised(struct osb_http_exchange *x)
{
    static const char message[] = "missing or wrong X-EXECD-ACCESS-TOKEN header";
    _cleanup_buf_ struct osb_buf body = {0};
    struct osb_json_writer w;

    osb_json_writer_init(&w, &body);
    osb_json_begin_object(&w);
    osb_json_kv_string(&w, "code", "UNAUTHORIZED");
    osb_json_kv_string(&w, "message", message);
    osb_json_kv_string(&w, "error", message);
    osb_json_end_object(&w);
    osb_http_reply(x, 401, "application/json; charset=utf-8", osb_buf_slice(&body));
}

/* Readiness is asked for before anybody has the token. */
static bool is_open(struct osb_http_exchange *x)
{
    return osb_slice_eq_str(osb_http_raw_path(x), "/ping");
}

static void handle(struct osb_http_exchange *x, void *arg)
{
    struct execd *execd = arg;
    const char *allow;

    if (!is_open(x) && !is_authorised(execd, x)) {
        reply_unauthorised(x);
        return;
    }
    /* A wrong method is as unknown as a wrong path (execd contract 2). */
    if (osb_http_router_dispatch(execd->router, x, &allow) < 0)
        osb_http_reply(x, 404, "text/plain", OSB_SLICE("404 page not found"));
}

static void ping(struct osb_http_exchange *x, const struct osb_http_params *params, void *arg)
{
    (void)params;
    (void)arg;
    reply_empty(x);
}

static void add_routes(struct execd *execd)
{
    execd->router = osb_http_router_new();
    osb_http_route(execd->router, "GET", "/ping", ping, execd);
    osb_http_route(execd->router, "HEAD", "/ping", ping, execd);
    command_routes(execd);
    file_routes(execd);
    directory_routes(execd);
    upload_routes(execd);
    download_routes(execd);
    replace_routes(execd);
    metric_routes(execd);
    missing_routes(execd);
}

int service_start(struct execd *execd, struct osb_err *err)
{
    struct osb_http_server_options options = {.write_timeout_ms = WRITE_TIMEOUT_MS};

    int r = osb_loop_new_epoll(&execd->loop, err);
    if (r < 0)
        return r;
    osb_list_init(&execd->kills);
    command_records_init(&execd->records, execd->loop);
    pipe_drains_init(&execd->drains, execd->loop);
    add_routes(execd);
    r = reaper_start(execd, err);
    if (r == 0)
        r = osb_http_server_new(execd->loop, &options, handle, execd, &execd->server, err);
    return r;
}

int service_listen(struct execd *execd, struct osb_err *err)
{
    const struct execd_options *options = &execd->options;
    const char *address = options->address ? options->address : "::";

    int r = osb_listener_new_tcp(execd->loop, address, options->port, osb_http_server_accept,
                                 execd->server, &execd->listener, err);
    /* A machine without IPv6. */
    if (r < 0 && r != -EADDRINUSE && !options->address)
        r = osb_listener_new_tcp(execd->loop, "0.0.0.0", options->port, osb_http_server_accept,
                                 execd->server, &execd->listener, err);
    return r;
}

static void on_drained(void *arg)
{
    struct execd *execd = arg;

    osb_loop_stop(execd->loop);
}

static void on_drain_timeout(struct osb_timer *timer)
{
    struct execd *execd = timer->arg;

    osb_loop_stop(execd->loop);
}

void service_drain(struct execd *execd)
{
    if (execd->is_draining) { /* asked twice: at once */
        osb_loop_stop(execd->loop);
        return;
    }
    execd->is_draining = true;
    osb_listener_free(execd->listener);
    execd->listener = NULL;
    osb_timer_init(&execd->drain_timeout, execd->loop, on_drain_timeout, execd);
    osb_timer_set(&execd->drain_timeout, DRAIN_MS);
    osb_http_server_drain(execd->server, on_drained, execd);
}

static void abandon_runs(struct execd *execd)
{
    struct command_record *record;
    struct command_record *next;

    osb_list_foreach_safe (record, next, &execd->records.running, link) {
        if (record->run)
            command_run_abandon(record->run);
        record->run = NULL;
    }
}

void service_stop(struct execd *execd)
{
    if (!execd->loop)
        return;
    osb_timer_stop(&execd->drain_timeout);
    osb_timer_stop(&execd->first_usage);
    osb_listener_free(execd->listener);
    command_kills_done(execd);
    if (execd->server)
        osb_http_server_free(execd->server);
    abandon_runs(execd);
    pipe_drains_done(&execd->drains);
    command_records_done(&execd->records);
    reaper_stop(execd);
    osb_http_router_free(execd->router);
    osb_loop_free(execd->loop);
}
