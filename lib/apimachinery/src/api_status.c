// SPDX-License-Identifier: Apache-2.0
#include <osb/api_status.h>

#include <osb/arena.h>
#include <osb/json_reader.h>
#include <osb/json_writer.h>

/* Both ways: the reason of a Status and our code. The first row of a code is the one written. */
static const struct {
    const char *reason;
    int code;
} REASONS[] = {
    {"NotFound", -OSB_E_NOT_FOUND},
    {"AlreadyExists", -OSB_E_EXISTS},
    {"Conflict", -OSB_E_CONFLICT},
    {"Invalid", -OSB_E_INVALID},
    {"BadRequest", -OSB_E_SYNTAX},
    {"BadRequest", -OSB_E_TOO_DEEP},
    {"Unauthorized", -OSB_E_UNAUTHENTICATED},
    {"Forbidden", -OSB_E_FORBIDDEN},
    {"Expired", -OSB_E_EXPIRED},
    {"Gone", -OSB_E_EXPIRED},
    {"RequestEntityTooLarge", -OSB_E_TOO_LARGE},
    {"TooManyRequests", -OSB_E_RATE_LIMITED},
    {"Timeout", -OSB_E_TIMEOUT},
    {"ServerTimeout", -OSB_E_UNAVAILABLE},
    {"ServiceUnavailable", -OSB_E_UNAVAILABLE},
    {"MethodNotAllowed", -OSB_E_UNSUPPORTED},
    {"NotAcceptable", -OSB_E_UNSUPPORTED},
    {"UnsupportedMediaType", -OSB_E_UNSUPPORTED},
    {"InternalError", -OSB_E_INTERNAL},
};

enum { REASON_COUNT = sizeof(REASONS) / sizeof(REASONS[0]) };

/* Codes whose first row in the table would say something else. */
const char *osb_api_reason(int code)
{
    if (code == -OSB_E_UNAVAILABLE || code == -OSB_E_CLOSED)
        return "ServiceUnavailable";
    for (int i = 0; i < REASON_COUNT; i++)
        if (REASONS[i].code == code)
            return REASONS[i].reason;
    return "InternalError";
}

static void begin_status(struct osb_json_writer *w, const char *status)
{
    osb_json_begin_object(w);
    osb_json_kv_string(w, "kind", "Status");
    osb_json_kv_string(w, "apiVersion", "v1");
    osb_json_key(w, "metadata");
    osb_json_begin_object(w);
    osb_json_end_object(w);
    osb_json_kv_string(w, "status", status);
}

static void write_causes(const struct osb_api_status *status, struct osb_json_writer *w)
{
    int count = status->cause_count;
    if (count > OSB_API_STATUS_MAX_CAUSES)
        count = OSB_API_STATUS_MAX_CAUSES;
    osb_json_key(w, "causes");
    osb_json_begin_array(w);
    for (int i = 0; i < count; i++) {
        osb_json_begin_object(w);
        osb_json_kv_string_opt(w, "reason", status->causes[i].reason);
        osb_json_kv_string_opt(w, "message", status->causes[i].message);
        osb_json_kv_string_opt(w, "field", status->causes[i].field);
        osb_json_end_object(w);
    }
    osb_json_end_array(w);
}

static bool has_details(const struct osb_api_status *s)
{
    return s->group || s->kind || s->name || s->uid || s->retry_after_s || s->cause_count;
}

static void write_details(const struct osb_api_status *status, struct osb_json_writer *w)
{
    osb_json_key(w, "details");
    osb_json_begin_object(w);
    osb_json_kv_string_opt(w, "name", status->name);
    osb_json_kv_string_opt(w, "group", status->group);
    osb_json_kv_string_opt(w, "kind", status->kind);
    osb_json_kv_string_opt(w, "uid", status->uid);
    if (status->cause_count)
        write_causes(status, w);
    if (status->retry_after_s)
        osb_json_kv_i64(w, "retryAfterSeconds", status->retry_after_s);
    osb_json_end_object(w);
}

void osb_api_status_print(const struct osb_api_status *status, struct osb_buf *out)
{
    struct osb_json_writer w;
    osb_json_writer_init(&w, out);
    begin_status(&w, "Failure");
    osb_json_kv_string_opt(&w, "message", status->message);
    osb_json_kv_string_opt(&w, "reason", status->reason);
    if (has_details(status))
        write_details(status, &w);
    osb_json_kv_i64(&w, "code", status->code);
    osb_json_end_object(&w);
}

void osb_api_status_print_success(const char *group, const char *resource, const char *name,
                                  const char *uid, struct osb_buf *out)
{
    struct osb_json_writer w;
    struct osb_api_status details = {.group = group, .kind = resource, .name = name, .uid = uid};
    osb_json_writer_init(&w, out);
    begin_status(&w, "Success");
    if (has_details(&details))
        write_details(&details, &w);
    osb_json_end_object(&w);
}

/* What of a Status is raised. */
struct received {
    struct osb_slice kind;
    struct osb_slice reason;
    struct osb_slice message;
};

static int read_status(struct osb_slice body, struct osb_arena *arena, struct received *ret)
{
    struct osb_json_reader r;
    struct osb_slice key;
    osb_json_reader_init(&r, body);
    osb_json_enter_object(&r);
    while (osb_json_next_key(&r, &key)) {
        if (osb_slice_eq_str(key, "kind"))
            osb_json_read_string(&r, arena, &ret->kind);
        else if (osb_slice_eq_str(key, "reason"))
            osb_json_read_string(&r, arena, &ret->reason);
        else if (osb_slice_eq_str(key, "message"))
            osb_json_read_string(&r, arena, &ret->message);
        else
            osb_json_skip(&r);
    }
    return osb_json_reader_finish(&r, NULL);
}

static int code_of(struct osb_slice reason, int http_status)
{
    int code = osb_err_from_http(http_status);
    for (int i = 0; i < REASON_COUNT; i++)
        if (osb_slice_eq_str(reason, REASONS[i].reason))
            code = REASONS[i].code;
    /* BadRequest has two codes in the table; the plain one is meant. */
    if (osb_slice_eq_str(reason, "BadRequest"))
        code = -OSB_E_INVALID;
    return code < 0 ? code : -OSB_E_INTERNAL;
}

int osb_api_status_to_err(int http_status, struct osb_slice body, struct osb_err *err)
{
    struct osb_arena arena = {0};
    struct received status = {0};
    if (http_status >= 200 && http_status < 300)
        return 0;
    if (read_status(body, &arena, &status) < 0 || !osb_slice_eq_str(status.kind, "Status"))
        status = (struct received){0};
    int code = code_of(status.reason, http_status);
    if (status.message.len)
        osb_fail(err, code, "%.*s", OSB_SLICE_ARG(status.message));
    else
        osb_fail(err, code, "the API server answered %d", http_status);
    if (err)
        osb_err_set_http(err, http_status);
    osb_arena_done(&arena);
    return code;
}
