// SPDX-License-Identifier: Apache-2.0
#include "rest_request.h"

#include <osb/alloc.h>
#include <osb/clock.h>
#include <osb/log.h>
#include <osb/metric.h>
#include <osb/uuid.h>

#include <stdarg.h>
#include <stdio.h>

static const char json_type[] = "application/json";

/* ---- metrics and the log line ---- */

static struct osb_metric *status_metric(struct rest_binding *binding, int status)
{
    int i = 0;
    for (; i < REST_MAX_STATUS_METRICS - 1 && binding->metrics[i].status; i++)
        if (binding->metrics[i].status == status)
            return binding->metrics[i].metric;
    if (!binding->metrics[i].metric) {
        _cleanup_free_ char *labels =
            osb_asprintf("route=\"%s\",status=\"%d\"", binding->route->name, status);
        binding->metrics[i].status = status;
        binding->metrics[i].metric = osb_metric_new(
            OSB_METRIC_COUNTER, "opensandbox_rest_requests_total", "Answered requests", labels);
    }
    return binding->metrics[i].metric;
}

static void log_end(const struct rest_request *request, bool is_complete)
{
    const struct rest_route *route = request->binding ? request->binding->route : NULL;
    uint64_t took_ns = osb_loop_now_ns(request->rest->op->loop) - request->started_ns;
    if (request->binding)
        osb_metric_add(status_metric(request->binding, request->status), 1);
    osb_log(OSB_LOG_INFO, is_complete ? "request" : "request without its answer",
            OSB_KV_STR("request_id", request->id),
            OSB_KV_STR("traceparent", request->traceparent ? request->traceparent : ""),
            OSB_KV_SLICE("method", osb_http_method(request->x)),
            OSB_KV_STR("path", route ? route->pattern : "(none)"),
            OSB_KV_STR("sandbox", request->sandbox ? request->sandbox : ""),
            OSB_KV_INT("status", request->status),
            OSB_KV_INT("duration_ms", took_ns / OSB_NS_PER_MS));
}

static void on_close(struct osb_http_exchange *x, bool is_complete, void *arg)
{
    struct rest_request *request = arg;
    (void)x;
    osb_kube_cancel(request->call);
    request->call = NULL;
    rest_wait_stop(&request->wait);
    if (request->on_close)
        request->on_close(request, is_complete);
    log_end(request, is_complete);
}

/* ---- the request ---- */

/* The caller's id when it can stand in headers, logs and annotations; else a new one. */
static const char *choose_id(struct osb_http_exchange *x)
{
    struct osb_arena *arena = osb_http_arena(x);
    struct osb_slice given = OSB_SLICE_NULL;
    char hex[OSB_UUID_HEX_MAX];
    osb_http_header(x, "X-Request-ID", &given);
    given = osb_slice_trim(given);
    bool is_plain = given.len > 0 && given.len <= REST_MAX_REQUEST_ID;
    for (size_t i = 0; is_plain && i < given.len; i++)
        is_plain = given.data[i] > ' ' && given.data[i] < 0x7f;
    if (is_plain)
        return osb_arena_slice_dup(arena, given);
    return osb_arena_strdup(arena, osb_uuid_format_hex(osb_uuid_v4(), hex));
}

void rest_error_head(struct osb_http_exchange *x, int status, struct osb_buf *out)
{
    struct rest_request *request = x ? osb_http_data(x) : NULL;
    char hex[OSB_UUID_HEX_MAX];
    if (request)
        request->status = status;
    osb_buf_appendf(out, "X-Request-ID: %s\r\n",
                    request ? request->id : osb_uuid_format_hex(osb_uuid_v4(), hex));
}

/* W3C trace context: "00-<32 hex>-<16 hex>-<2 hex>", passed on as it is. */
static const char *read_traceparent(struct osb_http_exchange *x)
{
    enum { LENGTH = 55 };
    struct osb_slice given = OSB_SLICE_NULL;
    if (!osb_http_header(x, "traceparent", &given) || given.len != LENGTH)
        return NULL;
    for (size_t i = 0; i < given.len; i++) {
        bool is_dash = i == 2 || i == 35 || i == 52;
        char c = given.data[i];
        bool is_hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        if (is_dash ? c != '-' : !is_hex)
            return NULL;
    }
    return osb_arena_slice_dup(osb_http_arena(x), given);
}

struct rest_request *rest_request_new(struct rest *rest, struct osb_http_exchange *x)
{
    struct osb_arena *arena = osb_http_arena(x);
    struct rest_request *request = osb_arena_new(arena, struct rest_request);
    request->rest = rest;
    request->x = x;
    request->arena = arena;
    request->id = choose_id(x);
    request->traceparent = read_traceparent(x);
    request->started_ns = osb_loop_now_ns(rest->op->loop);
    osb_http_set_data(x, request);
    osb_http_on_close(x, on_close, request);
    osb_http_reply_header(x, "X-Request-ID", osb_slice_str(request->id));
    return request;
}

/* ---- the body ---- */

static void on_collected(struct osb_http_exchange *x, struct osb_slice text, void *arg)
{
    struct rest_request *request = arg;
    struct rest_error error = {0};
    struct osb_err err = {0};
    _cleanup_json_ struct osb_json *body = NULL;
    (void)x;
    int r = osb_json_parse(text, &body, &err);
    if (r == -OSB_E_TOO_DEEP)
        rest_problem_add(&error.problems, "json_invalid", "body", "is nested too deeply");
    else if (r < 0)
        rest_problem_add(&error.problems, "json_invalid", "body", "is not valid JSON");
    else if (osb_json_type(body) != OSB_JSON_OBJECT)
        rest_problem_add(&error.problems, "dict_type", "body", "must be a JSON object");
    if (rest_error_from_problems(&error) < 0)
        rest_fail_with(request, &error);
    else
        request->on_body(request, body);
}

/* An absent type is taken for JSON: some callers of plain HTTP leave it out. */
static bool is_json_type(struct osb_http_exchange *x)
{
    struct osb_slice type;
    if (!osb_http_header(x, "Content-Type", &type))
        return true;
    ptrdiff_t semicolon = osb_slice_find(type, ';');
    if (semicolon >= 0)
        type = osb_slice_first(type, (size_t)semicolon);
    type = osb_slice_trim(type);
    return osb_slice_ieq_str(type, "application/json") ||
           (type.len > 5 && osb_slice_ieq_str(osb_slice_from(type, type.len - 5), "+json"));
}

void rest_read_body(struct rest_request *request, rest_body_fn *fn)
{
    const struct osb_http_head *head = osb_http_head_of(request->x);
    if (head->has_length && head->content_length > REST_MAX_BODY) {
        osb_http_reply_header(request->x, "Connection", OSB_SLICE("close"));
        rest_fail(request, 413, "GENERAL::BODY_TOO_LARGE", "the body is larger than %d bytes",
                  REST_MAX_BODY);
        return;
    }
    if (!is_json_type(request->x)) {
        rest_fail(request, 400, REST_INVALID_PARAMETER,
                  "the body must be JSON: send Content-Type: application/json");
        return;
    }
    request->on_body = fn;
    osb_http_collect(request->x, REST_MAX_BODY, on_collected, request);
}

/* ---- calls ---- */

static void on_called(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct rest_request *request = arg;
    request->call = NULL;
    request->called(request, r, body, err);
}

static struct osb_kube_client *client_for(struct rest_request *request, rest_called_fn *called)
{
    osb_assert(!request->call);
    request->called = called;
    osb_kube_client_set_request_id(request->rest->op->client, request->id);
    return request->rest->op->client;
}

static void started(struct rest_request *request, int r, const struct osb_err *err)
{
    osb_kube_client_set_request_id(request->rest->op->client, NULL);
    if (r < 0)
        rest_fail_backend(request, r, err);
}

void rest_call_get(struct rest_request *request, const struct osb_api_kind *kind, const char *name,
                   rest_called_fn *called)
{
    struct osb_err err = {0};
    int r = osb_kube_get(client_for(request, called), kind, request->rest->op->namespace_, name,
                         on_called, request, &request->call, &err);
    started(request, r, &err);
}

void rest_call_patch(struct rest_request *request, const char *name, struct osb_slice patch,
                     rest_called_fn *called)
{
    struct osb_err err = {0};
    int r = osb_kube_patch(client_for(request, called), &osb_kind_batchsandbox,
                           request->rest->op->namespace_, name, NULL, OSB_KUBE_PATCH_MERGE, patch,
                           on_called, request, &request->call, &err);
    started(request, r, &err);
}

void rest_call_delete(struct rest_request *request, const char *name, const char *uid,
                      rest_called_fn *called)
{
    struct osb_kube_delete_options options = {.uid = uid};
    struct osb_err err = {0};
    int r = osb_kube_delete(client_for(request, called), &osb_kind_batchsandbox,
                            request->rest->op->namespace_, name, &options, on_called, request,
                            &request->call, &err);
    started(request, r, &err);
}

/* ---- answers ---- */

void rest_reply(struct rest_request *request, int status, struct osb_slice json)
{
    request->status = status;
    osb_http_reply(request->x, status, json_type, json);
}

void rest_reply_empty(struct rest_request *request, int status)
{
    request->status = status;
    osb_http_reply(request->x, status, NULL, OSB_SLICE_NULL);
}

static void reply_error(struct rest_request *request, int status, const char *code,
                        const char *message, const struct rest_problems *problems)
{
    _cleanup_buf_ struct osb_buf body = {0};
    rest_error_print(&body, code, message, problems);
    rest_reply(request, status, osb_buf_slice(&body));
}

void rest_fail(struct rest_request *request, int status, const char *code, const char *format, ...)
{
    char message[REST_MAX_MESSAGE];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    reply_error(request, status, code, message, NULL);
}

void rest_fail_with(struct rest_request *request, const struct rest_error *error)
{
    reply_error(request, error->status, error->code, error->message, &error->problems);
}

void rest_fail_not_found(struct rest_request *request)
{
    rest_fail(request, 404, REST_NOT_FOUND, "Sandbox not found");
}

void rest_fail_backend(struct rest_request *request, int r, const struct osb_err *err)
{
    bool may_retry = err->code ? err->is_retriable : osb_err_info(r)->is_retriable;
    osb_log(OSB_LOG_WARN, "a call to the API server failed", OSB_KV_STR("request_id", request->id),
            OSB_KV_STR("code", osb_err_info(r)->name), OSB_KV_ERR(err));
    if (!may_retry) {
        rest_fail(request, 500, REST_API_ERROR, "the API server refused: %s",
                  osb_err_info(r)->name);
        return;
    }
    osb_http_reply_header(request->x, "Retry-After", OSB_SLICE("1"));
    rest_fail(request, 503, REST_API_ERROR, "the API server cannot serve now: %s",
              osb_err_info(r)->name);
}
