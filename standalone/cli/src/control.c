// SPDX-License-Identifier: Apache-2.0
/*
 * The supervisor's control socket: HTTP on <run>/supervisor.sock (mode 0600).
 *   GET /v1/status   what runs
 *   POST /v1/down    begin to take everything down; the connection's end is no promise, the end of
 *                    the process is
 */
#include "supervisor.h"

#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/http_router.h>
#include <osb/http_server.h>
#include <osb/json_writer.h>
#include <stdlib.h>
#include <unistd.h>

struct control {
    struct supervisor *supervisor;
    struct osb_http_router *router;
    struct osb_http_server *server;
    struct osb_listener *listener;
};

static void print_part(struct supervisor *supervisor, const struct running *running,
                       struct osb_json_writer *w)
{
    osb_json_begin_object(w);
    osb_json_kv_string(w, "name", running->part->name);
    osb_json_kv_string(w, "title", running->part->title);
    osb_json_kv_string(w, "state", part_state_name(running->state));
    if (running->pid)
        osb_json_kv_i64(w, "pid", running->pid);
    osb_json_kv_i64(w, "restarts", running->restarts);
    if (running->state == PART_READY)
        osb_json_kv_i64(
            w, "readySeconds",
            (int64_t)((osb_loop_now_ns(supervisor->loop) - running->ready_ns) / 1000000000));
    osb_json_end_object(w);
}

static void get_status(struct osb_http_exchange *x, const struct osb_http_params *params, void *arg)
{
    struct control *control = arg;
    struct supervisor *supervisor = control->supervisor;
    _cleanup_buf_ struct osb_buf text = {0};
    struct osb_json_writer w;
    (void)params;
    osb_json_writer_init(&w, &text);
    osb_json_begin_object(&w);
    osb_json_kv_i64(&w, "pid", getpid());
    osb_json_kv_string(&w, "id", supervisor->instance.id);
    osb_json_kv_bool(&w, "up", supervisor->is_up && !supervisor->is_going_down);
    osb_json_kv_bool(&w, "goingDown", supervisor->is_going_down);
    osb_json_key(&w, "parts");
    osb_json_begin_array(&w);
    for (int i = 0; i < PART_COUNT; i++)
        print_part(supervisor, &supervisor->running[i], &w);
    osb_json_end_array(&w);
    osb_json_end_object(&w);
    int r = osb_json_writer_finish(&w, NULL);
    osb_http_reply(x, r < 0 ? 500 : 200, "application/json", osb_buf_slice(&text));
}

static void post_down(struct osb_http_exchange *x, const struct osb_http_params *params, void *arg)
{
    struct control *control = arg;
    (void)params;
    osb_http_reply(x, 202, "application/json", OSB_SLICE("{}"));
    supervisor_go_down(control->supervisor);
}

static void handle(struct osb_http_exchange *x, void *arg)
{
    struct control *control = arg;
    const char *allow;
    int r = osb_http_router_dispatch(control->router, x, &allow);
    if (r < 0)
        osb_http_reply(x, r == -EPERM ? 405 : 404, "application/json",
                       OSB_SLICE("{\"message\":\"no such call\"}"));
}

int control_new(struct supervisor *supervisor, struct control **ret, struct osb_err *err)
{
    struct control *control = osb_new(struct control);
    control->supervisor = supervisor;
    control->router = osb_http_router_new();
    osb_http_route(control->router, "GET", "/v1/status", get_status, control);
    osb_http_route(control->router, "POST", "/v1/down", post_down, control);
    _cleanup_free_ char *path = instance_run_path(&supervisor->instance, "supervisor.sock");
    int r = osb_http_server_new(supervisor->loop, NULL, handle, control, &control->server, err);
    if (r >= 0)
        r = osb_listener_new_unix(supervisor->loop, path, 0600, osb_http_server_accept,
                                  control->server, &control->listener, err);
    if (r < 0) {
        control_free(control);
        return osb_wrap(err, r, "control socket");
    }
    *ret = control;
    return 0;
}

void control_free(struct control *control)
{
    if (!control)
        return;
    if (control->listener)
        osb_listener_free(control->listener);
    if (control->server)
        osb_http_server_free(control->server);
    osb_http_router_free(control->router);
    free(control);
}
