// SPDX-License-Identifier: Apache-2.0
#include <osb/clock.h>

#include "rest_find.h"
#include "rest_sandbox.h"
#include "rest_schema.h"

#define INVALID_EXPIRATION "DOCKER::INVALID_EXPIRATION" /* the public server's word, also here */

struct renew {
    struct osb_slice id;
    int64_t expires_ns;
};

/* RFC 3339; without an offset it is UTC. */
static int parse_time(struct osb_slice text, int64_t *ret_ns)
{
    _cleanup_buf_ struct osb_buf with_zone = {0};
    if (osb_rfc3339_parse(text, ret_ns) == 0)
        return 0;
    osb_buf_append_slice(&with_zone, text);
    osb_buf_append_char(&with_zone, 'Z');
    return osb_rfc3339_parse(osb_buf_slice(&with_zone), ret_ns);
}

static void reply(struct rest_request *request)
{
    const struct renew *renew = request->data;
    char text[OSB_RFC3339_MAX];
    _cleanup_buf_ struct osb_buf body = {0};
    osb_buf_appendf(&body, "{\"expiresAt\":\"%s\"}", rest_time_format(text, renew->expires_ns));
    rest_reply(request, 200, osb_buf_slice(&body));
}

static void on_patched(struct rest_request *request, int r, struct osb_slice body,
                       const struct osb_err *err)
{
    if (r == -OSB_E_NOT_FOUND) {
        rest_fail_not_found(request);
        return;
    }
    if (r < 0) {
        rest_fail_backend(request, r, err);
        return;
    }
    struct rest_object object = rest_object_read(body);
    uint64_t version = object.bs ? object.bs->object.version : 0;
    rest_object_done(&object);
    rest_after_cache(request, version, reply);
}

static void patch(struct rest_request *request, const struct batchsandbox *bs)
{
    enum { MICROSECONDS = 6 };
    const struct renew *renew = request->data;
    char text[OSB_RFC3339_MAX];
    _cleanup_buf_ struct osb_buf body = {0};
    if (bs->is_deleting) {
        rest_fail(request, 409, REST_INVALID_STATE, "the sandbox is being deleted");
        return;
    }
    if (!bs->expire_time) {
        rest_fail(request, 409, INVALID_EXPIRATION, "the sandbox has no expiration to renew");
        return;
    }
    osb_buf_appendf(&body, "{\"spec\":{\"expireTime\":\"%s\"}}",
                    osb_rfc3339_format(text, renew->expires_ns, MICROSECONDS));
    rest_call_patch(request, request->sandbox, osb_buf_slice(&body), on_patched);
}

static void on_body(struct rest_request *request, struct osb_json *body)
{
    struct renew *renew = request->data;
    struct rest_error error = {0};
    const struct osb_json *value = rest_field(body, "expiresAt");
    if (!value)
        rest_problem_add(&error.problems, "missing", "body.expiresAt", "is required");
    else if (osb_json_type(value) != OSB_JSON_STRING ||
             parse_time(osb_slice_trim(osb_json_str(value)), &renew->expires_ns) < 0)
        rest_problem_add(&error.problems, "datetime_parsing", "body.expiresAt",
                         "must be a time in RFC 3339");
    if (rest_error_from_problems(&error) < 0)
        rest_fail_with(request, &error);
    else if (renew->expires_ns <= osb_loop_realtime_ns(request->rest->op->loop))
        rest_fail(request, 400, INVALID_EXPIRATION, "expiresAt must be in the future");
    else
        rest_find(request, renew->id, patch);
}

void rest_renew_handle(struct rest_request *request, const struct osb_http_params *params)
{
    struct renew *renew = osb_arena_new(request->arena, struct renew);
    renew->id = osb_http_param(params, "id");
    request->data = renew;
    rest_read_body(request, on_body);
}
