// SPDX-License-Identifier: Apache-2.0
#include "script_transport.h"

#include <osb/alloc.h>

#include <stdlib.h>

static int start(struct osb_kube_transport *transport, const struct osb_kube_http_request *sent,
                 const struct osb_kube_transport_callbacks *callbacks, void *arg, void **ret_handle,
                 struct osb_err *err)
{
    struct script *script = osb_container_of(transport, struct script, transport);
    if (script->refuse > 0) {
        script->refuse--;
        return osb_fail(err, -OSB_E_UNAVAILABLE, "refused");
    }
    osb_assert(script->count < SCRIPT_MAX_REQUESTS);
    struct script_request *request = &script->requests[script->count++];
    request->script = script;
    request->method = osb_strdup(sent->method);
    request->path = osb_strdup(sent->path);
    request->content_type = osb_strdup(sent->content_type);
    request->request_id = osb_strdup(sent->request_id);
    request->body = osb_strndup(sent->body.data ? sent->body.data : "", sent->body.len);
    request->timeout_ms = sent->timeout_ms;
    request->callbacks = *callbacks;
    request->arg = arg;
    request->is_open = true;
    *ret_handle = request;
    return 0;
}

static void cancel(struct osb_kube_transport *transport, void *handle)
{
    struct script_request *request = handle;
    (void)transport;
    osb_assert(request->is_open);
    request->is_open = false;
    request->is_cancelled = true;
}

static void script_free(struct osb_kube_transport *transport)
{
    struct script *script = osb_container_of(transport, struct script, transport);
    for (int i = 0; i < script->count; i++) {
        osb_assert(!script->requests[i].is_open);
        free(script->requests[i].method);
        free(script->requests[i].path);
        free(script->requests[i].content_type);
        free(script->requests[i].request_id);
        free(script->requests[i].body);
    }
    free(script);
}

static const struct osb_kube_transport_ops ops = {start, cancel, script_free};

struct script *script_new(void)
{
    struct script *script = osb_new(struct script);
    script->transport.ops = &ops;
    return script;
}

struct script_request *script_last(struct script *script, int count)
{
    osb_assert(script->count == count);
    return &script->requests[count - 1];
}

void script_begin(struct script_request *request)
{
    osb_assert(request->is_open);
    request->callbacks.on_status(200, 0, request->arg);
}

void script_data(struct script_request *request, const char *text)
{
    osb_assert(request->is_open);
    request->callbacks.on_data(osb_slice_str(text), request->arg);
}

void script_end(struct script_request *request, int r)
{
    struct osb_err err = {0};
    osb_assert(request->is_open);
    request->is_open = false;
    if (r < 0)
        osb_fail(&err, r, "scripted");
    request->callbacks.on_end(r, r < 0 ? &err : NULL, request->arg);
}

void script_answer_later(struct script_request *request, int status, int retry_after_s,
                         const char *body)
{
    osb_assert(request->is_open);
    request->callbacks.on_status(status, retry_after_s, request->arg);
    if (body[0])
        script_data(request, body);
    script_end(request, 0);
}

void script_answer(struct script_request *request, int status, const char *body)
{
    script_answer_later(request, status, 0, body);
}
