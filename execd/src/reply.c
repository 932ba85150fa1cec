// SPDX-License-Identifier: Apache-2.0
#include "reply.h"

#include <osb/json_writer.h>
#include <stdarg.h>
#include <stdio.h>

static const char json_type[] = "application/json; charset=utf-8";

void reply_empty(struct osb_http_exchange *x)
{
    osb_http_reply(x, 200, NULL, OSB_SLICE_NULL);
}

void reply_json(struct osb_http_exchange *x, struct osb_slice json)
{
    osb_http_reply(x, 200, json_type, json);
}

void reply_error(struct osb_http_exchange *x, int status, const char *code, const char *format, ...)
{
    _cleanup_buf_ struct osb_buf body = {0};
    char message[OSB_ERR_MESSAGE_MAX];
    struct osb_json_writer w;
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    osb_json_writer_init(&w, &body);
    osb_json_begin_object(&w);
    osb_json_kv_string(&w, "code", code);
    osb_json_kv_string_opt(&w, "message", message);
    osb_json_end_object(&w);
    osb_http_reply(x, status, json_type, osb_buf_slice(&body));
}

void reply_file_error(struct osb_http_exchange *x, int code, const char *message)
{
    if (code == -ENOENT || code == -OSB_E_NOT_FOUND)
        reply_error(x, 404, "FILE_NOT_FOUND", "%s", message);
    else
        reply_error(x, 500, "RUNTIME_ERROR", "%s", message);
}

void reply_bad_request(struct osb_http_exchange *x, const struct osb_err *err)
{
    reply_error(x, 400, "INVALID_REQUEST_BODY", "%s", err->message);
}
