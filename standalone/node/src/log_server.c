// SPDX-License-Identifier: Apache-2.0
#include "log_server.h"

#include "cri_build.h"
#include "log_stream.h"
#include "pod.h"
#include "pod_table.h"

#include <osb/alloc.h>
#include <osb/api_status.h>
#include <osb/clock.h>
#include <osb/http_router.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct log_server {
    struct node *node;
    struct osb_http_router *router;
    struct osb_http_server *server;
    struct osb_listener *listener;
};

static void refuse(struct osb_http_exchange *x, int http_status, const char *reason,
                   const char *message)
{
    _cleanup_buf_ struct osb_buf body = {0};
    struct osb_api_status status = {.code = http_status, .reason = reason, .message = message};
    osb_api_status_print(&status, &body);
    osb_http_reply(x, http_status, "application/json", osb_buf_slice(&body));
}

static bool read_number(struct osb_http_exchange *x, const char *name, int64_t *ret)
{
    struct osb_slice text;
    uint64_t value;
    if (!osb_http_query(x, name, &text) || !text.len)
        return true;
    if (osb_slice_to_u64(text, &value) < 0 || value > INT64_MAX)
        return false;
    *ret = (int64_t)value;
    return true;
}

static bool read_flag(struct osb_http_exchange *x, const char *name)
{
    struct osb_slice text;
    return osb_http_query(x, name, &text) &&
           (osb_slice_eq_str(text, "true") || osb_slice_eq_str(text, "1"));
}

/* The name of the parameter that is wrong, or NULL. */
static const char *read_query(struct node *node, struct osb_http_exchange *x, struct log_query *ret)
{
    int64_t since_s = 0;
    struct osb_slice time;
    *ret = (struct log_query){.tail_lines = -1, .limit_bytes = -1};
    ret->is_follow = read_flag(x, "follow");
    ret->has_timestamps = read_flag(x, "timestamps");
    ret->is_previous = read_flag(x, "previous");
    if (!read_number(x, "tailLines", &ret->tail_lines))
        return "tailLines";
    if (!read_number(x, "limitBytes", &ret->limit_bytes))
        return "limitBytes";
    if (!read_number(x, "sinceSeconds", &since_s))
        return "sinceSeconds";
    if (since_s)
        ret->since_ns = osb_loop_realtime_ns(node->loop) - since_s * (int64_t)OSB_NS_PER_S;
    if (osb_http_query(x, "sinceTime", &time) && time.len &&
        osb_rfc3339_parse(time, &ret->since_ns) < 0)
        return "sinceTime";
    return NULL;
}

static int find_container(const struct pod *pod, struct osb_slice name)
{
    for (size_t i = 0; i < pod->spec->container_count; i++) {
        if (osb_slice_eq_str(name, pod->spec->containers[i].name))
            return (int)i;
    }
    return -1;
}

/* The file to read, or NULL after an answer was given. */
static char *find_file(struct node *node, struct osb_http_exchange *x, const struct pod *pod,
                       int index, const struct log_query *query)
{
    struct osb_arena *arena = osb_http_arena(x);
    const struct container_state *state = &pod->state.containers[index];
    const char *name = pod->spec->containers[index].name;
    int attempt = state->restart_count;
    if (query->is_previous && attempt-- == 0) {
        refuse(x, 400, "BadRequest",
               osb_arena_printf(arena,
                                "previous terminated container \"%s\" in pod \"%s\" not found",
                                name, pod->spec->name));
        return NULL;
    }
    char *path = osb_arena_printf(arena, "%s/%s", cri_build_log_folder(arena, node, pod->spec),
                                  cri_build_log_file(arena, name, (uint32_t)attempt));
    bool has_run =
        state->phase == CONTAINER_PHASE_RUNNING || state->phase == CONTAINER_PHASE_EXITED;
    if (query->is_previous || has_run || access(path, R_OK) == 0)
        return path;
    if (attempt > 0) /* waiting for its next run: the last one is what there is to read */
        return osb_arena_printf(arena, "%s/%s", cri_build_log_folder(arena, node, pod->spec),
                                cri_build_log_file(arena, name, (uint32_t)attempt - 1));
    refuse(x, 400, "BadRequest",
           osb_arena_printf(arena, "container \"%s\" in pod \"%s\" is waiting to start: %s", name,
                            pod->spec->name,
                            state->waiting_reason ? state->waiting_reason : "ContainerCreating"));
    return NULL;
}

static void get_logs(struct osb_http_exchange *x, const struct osb_http_params *params, void *arg)
{
    struct log_server *server = arg;
    struct osb_arena *arena = osb_http_arena(x);
    char *namespace_ = osb_arena_slice_dup(arena, osb_http_param(params, "namespace"));
    char *name = osb_arena_slice_dup(arena, osb_http_param(params, "pod"));
    struct osb_slice container = osb_http_param(params, "container");
    struct log_query query;
    const char *wrong = read_query(server->node, x, &query);
    if (wrong) {
        refuse(x, 400, "BadRequest", osb_arena_printf(arena, "invalid value of %s", wrong));
        return;
    }
    struct pod *pod = pod_table_find(server->node->pods, namespace_, name);
    if (!pod) {
        refuse(x, 404, "NotFound", osb_arena_printf(arena, "pods \"%s\" not found", name));
        return;
    }
    int index = find_container(pod, container);
    if (index < 0) {
        refuse(x, 400, "BadRequest",
               osb_arena_printf(arena, "container %.*s is not valid for pod %s",
                                OSB_SLICE_ARG(container), name));
        return;
    }
    const char *path = find_file(server->node, x, pod, index, &query);
    if (path)
        log_stream_start(server->node, x, path, namespace_, name, index, &query);
}

static void get_health(struct osb_http_exchange *x, const struct osb_http_params *params, void *arg)
{
    (void)params;
    (void)arg;
    osb_http_reply(x, 200, "text/plain", OSB_SLICE("ok"));
}

static void handle(struct osb_http_exchange *x, void *arg)
{
    struct log_server *server = arg;
    const char *allow;
    if (osb_http_router_dispatch(server->router, x, &allow) < 0)
        refuse(x, 404, "NotFound", "the node runner has no such call");
}

int log_server_new(struct node *node, struct log_server **ret, struct osb_err *err)
{
    struct log_server *server = osb_new(struct log_server);
    server->node = node;
    server->router = osb_http_router_new();
    osb_http_route(server->router, "GET", "/v1/logs/{namespace}/{pod}/{container}", get_logs,
                   server);
    osb_http_route(server->router, "GET", "/healthz", get_health, server);
    int r = osb_http_server_new(node->loop, NULL, handle, server, &server->server, err);
    if (r >= 0)
        r = osb_listener_new_unix(node->loop, node->options.socket, 0600, osb_http_server_accept,
                                  server->server, &server->listener, err);
    if (r < 0) {
        log_server_free(server);
        return r;
    }
    *ret = server;
    return 0;
}

void log_server_free(struct log_server *server)
{
    if (!server)
        return;
    if (server->listener)
        osb_listener_free(server->listener);
    if (server->server)
        osb_http_server_free(server->server);
    osb_http_router_free(server->router);
    free(server);
}
