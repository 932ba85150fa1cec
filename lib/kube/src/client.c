// SPDX-License-Identifier: Apache-2.0
/* REST verbs over a transport. */
#include <osb/alloc.h>
#include <osb/api_status.h>
#include <osb/cleanup.h>
#include <osb/json_writer.h>
#include <osb/kube_client.h>
#include <osb/list.h>
#include <osb/metric.h>

#include <stdlib.h>

struct osb_kube_client {
    struct osb_loop *loop;
    struct osb_kube_transport *transport;
    struct osb_list calls;
    char *request_id;
    int retry_after_s; /* of the answer whose callback runs */
};

struct osb_kube_call {
    struct osb_kube_client *client;
    struct osb_list link;
    void *handle; /* of the transport */
    int status;
    int retry_after_s;
    struct osb_metric *latency; /* NULL: not an object's verb */
    uint64_t began_ns;
    struct osb_buf body; /* of an answer that is collected, or of an error */
    void (*on_data)(struct osb_slice data, void *arg);
    osb_kube_done *done;
    void *arg;
};

static const char json_type[] = "application/json";

struct osb_kube_client *osb_kube_client_new(struct osb_loop *loop,
                                            struct osb_kube_transport *transport)
{
    struct osb_kube_client *client = osb_new(struct osb_kube_client);
    client->loop = loop;
    client->transport = transport;
    osb_list_init(&client->calls);
    return client;
}

void osb_kube_client_free(struct osb_kube_client *client)
{
    if (!client)
        return;
    struct osb_kube_call *call, *next;
    osb_list_foreach_safe (call, next, &client->calls, link)
        osb_kube_cancel(call);
    client->transport->ops->free(client->transport);
    free(client->request_id);
    free(client);
}

void osb_kube_client_set_request_id(struct osb_kube_client *client, const char *request_id)
{
    free(client->request_id);
    client->request_id = osb_strdup(request_id);
}

int osb_kube_retry_after_s(const struct osb_kube_client *client)
{
    return client->retry_after_s;
}

static void call_free(struct osb_kube_call *call)
{
    osb_list_remove(&call->link);
    osb_buf_done(&call->body);
    free(call);
}

void osb_kube_cancel(struct osb_kube_call *call)
{
    if (!call)
        return;
    call->client->transport->ops->cancel(call->client->transport, call->handle);
    call_free(call);
}

/* ---- what the transport tells ---- */

static void on_status(int status, int retry_after_s, void *arg)
{
    struct osb_kube_call *call = arg;
    call->status = status;
    call->retry_after_s = retry_after_s;
}

static void on_data(struct osb_slice data, void *arg)
{
    struct osb_kube_call *call = arg;
    if (call->on_data && call->status < 300)
        call->on_data(data, call->arg);
    else
        osb_buf_append_slice(&call->body, data); /* over the limit: the error sticks */
}

static int result_of(struct osb_kube_call *call, int r, const struct osb_err *network_err,
                     struct osb_err *err)
{
    if (r < 0) {
        if (network_err)
            *err = *network_err;
        else
            osb_fail(err, r, "request failed");
        return r;
    }
    if (call->status >= 200 && call->status < 300 && call->body.err)
        return osb_fail(err, -OSB_E_TOO_LARGE, "answer has more than %zu bytes", call->body.limit);
    return osb_api_status_to_err(call->status, osb_buf_slice(&call->body), err);
}

static void on_end(int r, const struct osb_err *network_err, void *arg)
{
    struct osb_kube_call *call = arg;
    struct osb_kube_client *client = call->client;
    struct osb_err err = {0};
    r = result_of(call, r, network_err, &err);
    if (call->latency)
        osb_metric_observe_ns(call->latency, osb_loop_now_ns(client->loop) - call->began_ns);
    struct osb_buf body = call->body;
    osb_kube_done *done = call->done;
    void *done_arg = call->arg;
    int retry_after_s = call->retry_after_s;
    call->body = (struct osb_buf){0};
    call_free(call); /* before DONE: it may free the client */

    int outer_s = client->retry_after_s;
    client->retry_after_s = retry_after_s;
    struct osb_slice text = r < 0 ? OSB_SLICE_NULL : osb_buf_slice(&body);
    if (done)
        done(r, text, r < 0 ? &err : NULL, done_arg);
    client->retry_after_s = outer_s;
    osb_buf_done(&body);
}

static const struct osb_kube_transport_callbacks callbacks = {on_status, on_data, on_end};

/* ---- starting ---- */

static int start(struct osb_kube_client *client, const struct osb_kube_http_request *request,
                 size_t max_body, void (*data)(struct osb_slice data, void *arg),
                 osb_kube_done *done, void *arg, struct osb_kube_call **ret, struct osb_err *err)
{
    struct osb_kube_http_request sent = *request;
    if (!sent.request_id)
        sent.request_id = client->request_id;
    if (!sent.accept)
        sent.accept = json_type;

    struct osb_kube_call *call = osb_new(struct osb_kube_call);
    call->client = client;
    call->on_data = data;
    call->done = done;
    call->arg = arg;
    osb_buf_init(&call->body, max_body ? max_body : OSB_KUBE_MAX_OBJECT);
    osb_list_append(&client->calls, &call->link);
    int r = client->transport->ops->start(client->transport, &sent, &callbacks, call, &call->handle,
                                          err);
    if (r < 0) {
        call_free(call);
        return osb_wrap(err, r, "%s %s", request->method, request->path);
    }
    if (ret)
        *ret = call;
    return 0;
}

int osb_kube_raw(struct osb_kube_client *client, const struct osb_kube_http_request *request,
                 size_t max_body, osb_kube_done *done, void *arg, struct osb_kube_call **ret,
                 struct osb_err *err)
{
    return start(client, request, max_body, NULL, done, arg, ret, err);
}

int osb_kube_stream(struct osb_kube_client *client, const struct osb_kube_http_request *request,
                    void (*data)(struct osb_slice data, void *arg), osb_kube_done *done, void *arg,
                    struct osb_kube_call **ret, struct osb_err *err)
{
    return start(client, request, 0, data, done, arg, ret, err);
}

static struct osb_metric *latency_of(const char *method, const struct osb_api_kind *kind)
{
    _cleanup_free_ char *labels =
        osb_asprintf("method=\"%s\",resource=\"%s\"", method, kind->plural);
    return osb_metric_new(OSB_METRIC_HISTOGRAM, "opensandbox_kube_request_seconds",
                          "Time that the API server took for a verb of an object", labels);
}

/* One object's verb; takes PATH. */
static int start_verb(struct osb_kube_client *client, const char *method,
                      const struct osb_api_kind *kind, char *path, const char *content_type,
                      struct osb_slice body, osb_kube_done *done, void *arg,
                      struct osb_kube_call **ret, struct osb_err *err)
{
    struct osb_kube_http_request request = {
        .method = method,
        .path = path,
        .content_type = content_type,
        .body = body,
        .timeout_ms = OSB_KUBE_REQUEST_TIMEOUT_MS,
    };
    struct osb_kube_call *call = NULL;
    int r = start(client, &request, 0, NULL, done, arg, &call, err);
    free(path);
    if (r < 0)
        return r;
    call->latency = latency_of(method, kind);
    call->began_ns = osb_loop_now_ns(client->loop);
    if (ret)
        *ret = call;
    return r;
}

int osb_kube_get(struct osb_kube_client *client, const struct osb_api_kind *kind,
                 const char *namespace_, const char *name, osb_kube_done *done, void *arg,
                 struct osb_kube_call **ret, struct osb_err *err)
{
    return start_verb(client, "GET", kind, osb_api_path(kind, namespace_, name, NULL), NULL,
                      OSB_SLICE_NULL, done, arg, ret, err);
}

int osb_kube_create(struct osb_kube_client *client, const struct osb_api_kind *kind,
                    const char *namespace_, const struct osb_json *object, osb_kube_done *done,
                    void *arg, struct osb_kube_call **ret, struct osb_err *err)
{
    _cleanup_buf_ struct osb_buf text = {0};
    osb_json_print(object, &text);
    return start_verb(client, "POST", kind, osb_api_path(kind, namespace_, NULL, NULL), json_type,
                      osb_buf_slice(&text), done, arg, ret, err);
}

int osb_kube_update(struct osb_kube_client *client, const struct osb_api_kind *kind,
                    const char *namespace_, const char *name, const char *subresource,
                    const struct osb_json *object, osb_kube_done *done, void *arg,
                    struct osb_kube_call **ret, struct osb_err *err)
{
    _cleanup_buf_ struct osb_buf text = {0};
    osb_json_print(object, &text);
    return start_verb(client, "PUT", kind, osb_api_path(kind, namespace_, name, subresource),
                      json_type, osb_buf_slice(&text), done, arg, ret, err);
}

int osb_kube_patch(struct osb_kube_client *client, const struct osb_api_kind *kind,
                   const char *namespace_, const char *name, const char *subresource,
                   enum osb_kube_patch type, struct osb_slice patch, osb_kube_done *done, void *arg,
                   struct osb_kube_call **ret, struct osb_err *err)
{
    static const char *const types[] = {
        [OSB_KUBE_PATCH_MERGE] = "application/merge-patch+json",
        [OSB_KUBE_PATCH_JSON] = "application/json-patch+json",
        [OSB_KUBE_PATCH_STRATEGIC] = "application/strategic-merge-patch+json",
    };
    return start_verb(client, "PATCH", kind, osb_api_path(kind, namespace_, name, subresource),
                      types[type], patch, done, arg, ret, err);
}

static void write_delete_options(const struct osb_kube_delete_options *options, struct osb_buf *out)
{
    struct osb_json_writer w;
    osb_json_writer_init(&w, out);
    osb_json_begin_object(&w);
    osb_json_kv_string(&w, "kind", "DeleteOptions");
    osb_json_kv_string(&w, "apiVersion", "v1");
    if (options->grace_seconds >= 0)
        osb_json_kv_i64(&w, "gracePeriodSeconds", options->grace_seconds);
    osb_json_kv_string_opt(&w, "propagationPolicy", options->propagation);
    if (options->uid || options->resource_version) {
        osb_json_key(&w, "preconditions");
        osb_json_begin_object(&w);
        osb_json_kv_string_opt(&w, "uid", options->uid);
        osb_json_kv_string_opt(&w, "resourceVersion", options->resource_version);
        osb_json_end_object(&w);
    }
    osb_json_end_object(&w);
    int r = osb_json_writer_finish(&w, NULL);
    osb_assert(r == 0);
}

int osb_kube_delete(struct osb_kube_client *client, const struct osb_api_kind *kind,
                    const char *namespace_, const char *name,
                    const struct osb_kube_delete_options *options, osb_kube_done *done, void *arg,
                    struct osb_kube_call **ret, struct osb_err *err)
{
    _cleanup_buf_ struct osb_buf text = {0};
    if (options)
        write_delete_options(options, &text);
    return start_verb(client, "DELETE", kind, osb_api_path(kind, namespace_, name, NULL),
                      options ? json_type : NULL, osb_buf_slice(&text), done, arg, ret, err);
}
