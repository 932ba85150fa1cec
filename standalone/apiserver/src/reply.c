// SPDX-License-Identifier: Apache-2.0
#include "server.h"

/* A Warning header (RFC 7234 section 5.5) with the text quoted. */
static void add_warnings(struct call *call)
{
    for (int i = 0; i < call->context.warning_count; i++) {
        _cleanup_buf_ struct osb_buf quoted = {0};
        for (const char *p = call->context.warnings[i]; *p; p++) {
            if (*p == '"' || *p == '\\')
                osb_buf_append_char(&quoted, '\\');
            osb_buf_append_char(&quoted, (unsigned char)*p < 0x20 ? ' ' : *p);
        }
        osb_http_reply_headerf(call->x, "Warning", "299 - \"%s\"", osb_buf_cstr(&quoted));
    }
}

void reply_json(struct call *call, int status, struct osb_slice body)
{
    call->status = status;
    add_warnings(call);
    osb_http_reply_header(call->x, "Cache-Control", OSB_SLICE("no-cache, private"));
    osb_http_reply(call->x, status, "application/json", body);
}

void reply_refusal(struct call *call, const struct refusal *refusal)
{
    _cleanup_buf_ struct osb_buf body = {0};
    refusal_print(refusal, &body);
    if (refusal->status.retry_after_s)
        osb_http_reply_headerf(call->x, "Retry-After", "%d", refusal->status.retry_after_s);
    reply_json(call, refusal->status.code, osb_buf_slice(&body));
}

void reply_object(struct call *call, int status, const struct object *object)
{
    _cleanup_buf_ struct osb_buf body = {0};
    output_object(&call->output, object, osb_loop_realtime_ns(call->server->loop), &body);
    reply_json(call, status, osb_buf_slice(&body));
}
