// SPDX-License-Identifier: Apache-2.0
// The head of a request: what the caller gave, checked, and the framing.
#include "chars.h"
#include "client.h"

#include <osb/alloc.h>

static int invalid(struct osb_err *err, const char *message)
{
    return osb_fail(err, -OSB_E_INVALID, "request: %s", message);
}

static bool is_one_of(struct osb_slice name, const char *const *names)
{
    for (; *names; names++) {
        if (osb_slice_ieq_str(name, *names))
            return true;
    }
    return false;
}

static bool is_idempotent(struct osb_slice method)
{
    static const char *const methods[] = {"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", NULL};
    return is_one_of(method, methods);
}

/* These expect a body, so its absence is said too (RFC 9110 section 8.6). */
static bool has_body_by_custom(struct osb_slice method)
{
    static const char *const methods[] = {"POST", "PUT", "PATCH", NULL};
    return is_one_of(method, methods);
}

static int append_headers(struct osb_buf *out, const struct osb_http_request *request,
                          struct osb_err *err)
{
    static const char *const reserved[] = {"Host", "Content-Length", "Transfer-Encoding", NULL};
    for (int i = 0; i < request->header_count; i++) {
        const struct osb_http_header *header = &request->headers[i];
        if (!http_is_token(header->name) || !osb_http_value_is_valid(header->value))
            return invalid(err, "malformed header");
        if (is_one_of(header->name, reserved))
            return invalid(err, "Host and framing headers are not the caller's");
        osb_buf_append_slice(out, header->name);
        osb_buf_append_str(out, ": ");
        osb_buf_append_slice(out, header->value);
        osb_buf_append_str(out, "\r\n");
    }
    return 0;
}

static void append_framing(struct osb_http_call *call, const struct osb_http_request *request)
{
    struct osb_buf *out = &call->request;
    struct osb_slice method = osb_slice_str(request->method);
    if (call->mode == HTTP_SEND_CHUNKED)
        osb_buf_append_str(out, "Transfer-Encoding: chunked\r\n");
    else if (call->mode == HTTP_SEND_LENGTH)
        osb_buf_appendf(out, "Content-Length: %lld\r\n", (long long)request->body_stream_length);
    else if (request->body.len > 0 || has_body_by_custom(method))
        osb_buf_appendf(out, "Content-Length: %zu\r\n", request->body.len);
}

static void set_mode(struct osb_http_call *call, const struct osb_http_request *request)
{
    if (request->body_stream_length < 0) {
        call->mode = HTTP_SEND_CHUNKED;
    } else if (request->body_stream_length > 0) {
        call->mode = HTTP_SEND_LENGTH;
        call->body_left = (uint64_t)request->body_stream_length;
    } else {
        call->mode = HTTP_SEND_WHOLE;
        call->is_body_ended = true;
    }
}

int http_request_write(struct osb_http_call *call, const struct osb_http_request *request,
                       struct osb_err *err)
{
    struct osb_slice method = osb_slice_str(request->method);
    struct osb_slice target = osb_slice_str(request->target);
    if (!http_is_token(method))
        return invalid(err, "malformed method");
    if (target.len == 0 || !http_chars_all(HTTP_CHARS_TARGET, target))
        return invalid(err, "malformed target");
    if (!http_chars_all(HTTP_CHARS_HOST, osb_slice_str(call->host)))
        return invalid(err, "malformed host");
    struct osb_buf *out = &call->request;
    set_mode(call, request);
    osb_buf_appendf(out, "%s %s HTTP/1.1\r\nHost: %s\r\n", request->method, request->target,
                    call->host);
    int r = append_headers(out, request, err);
    if (r < 0)
        return r;
    append_framing(call, request);
    osb_buf_append_str(out, "\r\n");
    if (call->mode == HTTP_SEND_WHOLE)
        osb_buf_append_slice(out, request->body);
    if (out->err < 0)
        return osb_fail(err, out->err, "request: out of memory");
    call->is_idempotent = is_idempotent(method);
    call->is_head_request = osb_slice_eq_str(method, "HEAD");
    call->has_streamed = call->mode == HTTP_SEND_WHOLE && request->body.len > 0;
    return 0;
}
