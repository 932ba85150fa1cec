// SPDX-License-Identifier: Apache-2.0
/* GET …/pods/{name}/log, passed on to the node runner and back as a stream. */
#include "server.h"
#include "txn.h"

#include <osb/alloc.h>
#include <osb/text.h>

enum { LOG_HEAD_TIMEOUT_MS = 30 * 1000, LOG_ERROR_MAX = 64 * 1024 };

struct log_stream {
    struct call *call;
    struct osb_http_call *upstream;
    bool is_refused;      /* the node's answer is collected as an error */
    int status;           /* of the node */
    struct osb_buf error; /* its body */
};

static void free_log(void *stream)
{
    struct log_stream *s = stream;
    if (s->upstream)
        osb_http_call_cancel(s->upstream);
    osb_buf_done(&s->error);
    free(s);
}

static void on_head(struct osb_http_call *upstream, const struct osb_http_head *head, void *arg)
{
    struct log_stream *s = arg;
    (void)upstream;
    s->status = head->status;
    s->is_refused = head->status != 200;
    if (s->is_refused)
        return;
    s->call->status = 200;
    osb_http_reply_start(s->call->x, 200, "text/plain", -1);
}

static void on_data(struct osb_http_call *upstream, struct osb_slice data, void *arg)
{
    struct log_stream *s = arg;
    if (s->is_refused)
        osb_buf_append_slice(&s->error, data);
    else if (osb_http_reply_write(s->call->x, data) > LOG_MAX_QUEUED)
        osb_http_call_pause(upstream);
}

static void on_drain(struct osb_http_exchange *x, void *arg)
{
    struct log_stream *s = arg;
    (void)x;
    if (s->upstream)
        osb_http_call_resume(s->upstream);
}

/* A node that is not there, or that broke off, before anything was answered. */
static void reply_unavailable(struct log_stream *s, const struct osb_err *err)
{
    refuse(&s->call->refusal, 503, "ServiceUnavailable", "the node runner does not answer: %s",
           err && err->message[0] ? err->message : "connection closed");
    s->call->refusal.status.retry_after_s = 1;
    reply_refusal(s->call, &s->call->refusal);
}

static void on_end(struct osb_http_call *upstream, int r, const struct osb_err *err, void *arg)
{
    struct log_stream *s = arg;
    (void)upstream;
    s->upstream = NULL;
    if (osb_http_has_started(s->call->x)) {
        if (r < 0)
            osb_http_abort(s->call->x); /* an incomplete answer must look like one */
        else
            osb_http_reply_end(s->call->x);
    } else if (r < 0) {
        reply_unavailable(s, err);
    } else {
        reply_json(s->call, s->status, osb_buf_slice(&s->error));
    }
}

/* The container asked for, or the only one, or the one named by the default annotation. */
static const char *choose_container(struct call *call, const struct osb_json *pod)
{
    static const char default_container[] = "kubectl.kubernetes.io/default-container";
    const char *wanted = query_get(call->request.raw_query, "container", &call->arena);
    const struct osb_json *containers = osb_json_get_path(pod, "spec.containers");
    const struct osb_json *annotations = osb_json_get_path(pod, "metadata.annotations");
    const char *marked = osb_json_cstr(osb_json_get(annotations, default_container));
    if (wanted && wanted[0])
        return wanted;
    if (osb_json_count(containers) == 1)
        return osb_arena_slice_dup(&call->arena,
                                   osb_json_str(osb_json_get(osb_json_at(containers, 0), "name")));
    if (marked)
        return osb_arena_strdup(&call->arena, marked);
    _cleanup_buf_ struct osb_buf names = {0};
    for (size_t i = 0; i < osb_json_count(containers); i++) {
        struct osb_slice name = osb_json_str(osb_json_get(osb_json_at(containers, i), "name"));
        osb_buf_appendf(&names, "%s%.*s", i ? " " : "", OSB_SLICE_ARG(name));
    }
    refuse_bad_request(&call->refusal,
                       "a container name must be specified for pod %s, choose one of: [%s]",
                       call->request.name, osb_buf_cstr(&names));
    return NULL;
}

static bool has_container(const struct osb_json *pod, const char *name)
{
    static const char *const lists[] = {"spec.containers", "spec.initContainers"};
    for (int l = 0; l < 2; l++) {
        const struct osb_json *list = osb_json_get_path(pod, lists[l]);
        for (size_t i = 0; i < osb_json_count(list); i++)
            if (osb_slice_eq_str(osb_json_str(osb_json_get(osb_json_at(list, i), "name")), name))
                return true;
    }
    return false;
}

/* Options that the node knows, encoded anew. */
static void append_options(struct call *call, struct osb_buf *target)
{
    static const char *const names[] = {"follow",     "tailLines",  "sinceSeconds", "sinceTime",
                                        "timestamps", "limitBytes", "previous"};
    char separator = '?';
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *value = query_get(call->request.raw_query, names[i], &call->arena);
        if (!value)
            continue;
        osb_buf_append_char(target, separator);
        osb_buf_appendf(target, "%s=", names[i]);
        osb_percent_encode(target, osb_slice_str(value));
        separator = '&';
    }
}

static void start_log(struct call *call, const char *container)
{
    _cleanup_buf_ struct osb_buf target = {0};
    osb_buf_appendf(&target, "/v1/logs/%s/%s/", call->request.namespace_, call->request.name);
    osb_percent_encode(&target, osb_slice_str(container));
    append_options(call, &target);
    struct log_stream *s = osb_new(struct log_stream);
    s->call = call;
    osb_buf_init(&s->error, LOG_ERROR_MAX);
    call->stream = s;
    call->free_stream = free_log;
    struct osb_http_request request = {
        .origin = {.unix_path = call->server->options.node_socket, .host = "node"},
        .method = "GET",
        .target = osb_buf_cstr(&target),
        .timeout_ms = LOG_HEAD_TIMEOUT_MS};
    static const struct osb_http_call_callbacks callbacks = {on_head, on_data, on_end, NULL};
    struct osb_err err = {0};
    osb_http_on_drain(call->x, on_drain, s);
    if (osb_http_call_start(call->server->node, &request, &callbacks, s, &s->upstream, &err) < 0)
        reply_unavailable(s, &err);
}

void serve_log(struct call *call)
{
    const struct request *q = &call->request;
    char *key = object_key(&call->arena, q->namespace_, q->name);
    const struct object *pod = cache_get(&call->server->cluster->cache, q->resource, key);
    if (!pod) {
        refuse_not_found(&call->refusal, &q->resource->kind, q->name);
        reply_refusal(call, &call->refusal);
        return;
    }
    _cleanup_json_ struct osb_json *tree = object_tree(pod);
    const char *container = choose_container(call, tree);
    if (container && !has_container(tree, container)) {
        refuse_bad_request(&call->refusal, "container %s is not valid for pod %s", container,
                           q->name);
        container = NULL;
    }
    if (container)
        start_log(call, container);
    else
        reply_refusal(call, &call->refusal);
}
