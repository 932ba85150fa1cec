// SPDX-License-Identifier: Apache-2.0
#include "refusal.h"

#include <stdarg.h>
#include <stdio.h>

void refusal_done(struct refusal *r)
{
    osb_arena_done(&r->arena);
}

static char *__attribute__((format(printf, 2, 0)))
vprint(struct refusal *r, const char *format, va_list args)
{
    _cleanup_buf_ struct osb_buf text = {0};
    osb_buf_vappendf(&text, format, args);
    return osb_arena_strdup(&r->arena, osb_buf_cstr(&text));
}

static int raise_status(struct refusal *r, int http_code, const char *reason, const char *message)
{
    r->status.code = http_code;
    r->status.reason = reason;
    r->status.message = message;
    return osb_err_from_http(http_code);
}

static void set_details(struct refusal *r, const struct osb_api_kind *kind, const char *name)
{
    r->status.group = osb_arena_strdup(&r->arena, kind->group);
    r->status.kind = osb_arena_strdup(&r->arena, kind->plural);
    r->status.name = osb_arena_strdup(&r->arena, name ? name : "");
}

/* "pods" or "batchsandboxes.sandbox.opensandbox.io", as messages name a resource. */
static const char *qualified(struct refusal *r, const struct osb_api_kind *kind)
{
    if (!kind->group[0])
        return osb_arena_strdup(&r->arena, kind->plural);
    return osb_arena_printf(&r->arena, "%s.%s", kind->plural, kind->group);
}

int refuse(struct refusal *r, int http_code, const char *reason, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *message = vprint(r, format, args);
    va_end(args);
    return raise_status(r, http_code, reason, message);
}

int refuse_bad_request(struct refusal *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *message = vprint(r, format, args);
    va_end(args);
    return raise_status(r, 400, "BadRequest", message);
}

int refuse_not_found(struct refusal *r, const struct osb_api_kind *kind, const char *name)
{
    set_details(r, kind, name);
    return refuse(r, 404, "NotFound", "%s \"%s\" not found", qualified(r, kind), name);
}

int refuse_exists(struct refusal *r, const struct osb_api_kind *kind, const char *name)
{
    set_details(r, kind, name);
    return refuse(r, 409, "AlreadyExists", "%s \"%s\" already exists", qualified(r, kind), name);
}

int refuse_conflict(struct refusal *r, const struct osb_api_kind *kind, const char *name,
                    const char *why)
{
    set_details(r, kind, name);
    return refuse(r, 409, "Conflict", "Operation cannot be fulfilled on %s \"%s\": %s",
                  qualified(r, kind), name, why);
}

int refuse_forbidden(struct refusal *r, const struct osb_api_kind *kind, const char *name,
                     const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *why = vprint(r, format, args);
    va_end(args);
    set_details(r, kind, name);
    if (!name || !name[0])
        return refuse(r, 403, "Forbidden", "%s is forbidden: %s", qualified(r, kind), why);
    return refuse(r, 403, "Forbidden", "%s \"%s\" is forbidden: %s", qualified(r, kind), name, why);
}

int refuse_err(struct refusal *r, const struct osb_err *err)
{
    int code = err->http_status ? err->http_status : 500;
    return refuse(r, code, osb_api_reason(err->code), "%s", err->message);
}

void field_error(struct refusal *r, const char *reason, const char *field, const char *format, ...)
{
    if (r->cause_count == OSB_API_STATUS_MAX_CAUSES)
        return;
    va_list args;
    va_start(args, format);
    char *message = vprint(r, format, args);
    va_end(args);
    r->causes[r->cause_count++] =
        (struct osb_api_cause){reason, message, osb_arena_strdup(&r->arena, field)};
}

void field_required(struct refusal *r, const char *field)
{
    field_error(r, "FieldValueRequired", field, "Required value");
}

int refuse_invalid(struct refusal *r, const struct osb_api_kind *kind, const char *name)
{
    if (!r->cause_count)
        return 0;
    _cleanup_buf_ struct osb_buf text = {0};
    for (int i = 0; i < r->cause_count; i++)
        osb_buf_appendf(&text, "%s%s: %s", i ? ", " : "", r->causes[i].field, r->causes[i].message);
    const char *list = osb_buf_cstr(&text);
    set_details(r, kind, name);
    r->status.kind = osb_arena_strdup(&r->arena, kind->kind); /* real servers put the kind here */
    const char *full =
        kind->group[0] ? osb_arena_printf(&r->arena, "%s.%s", kind->kind, kind->group) : kind->kind;
    return refuse(r, 422, "Invalid",
                  r->cause_count > 1 ? "%s \"%s\" is invalid: [%s]" : "%s \"%s\" is invalid: %s",
                  full, name ? name : "", list);
}

void refusal_copy(struct refusal *to, const struct refusal *from)
{
    const struct osb_api_status *s = &from->status;
    struct osb_arena *arena = &to->arena;
    to->status = *s;
    to->status.reason = osb_arena_strdup(arena, s->reason ? s->reason : "");
    to->status.message = osb_arena_strdup(arena, s->message ? s->message : "");
    to->status.group = s->group ? osb_arena_strdup(arena, s->group) : NULL;
    to->status.kind = s->kind ? osb_arena_strdup(arena, s->kind) : NULL;
    to->status.name = s->name ? osb_arena_strdup(arena, s->name) : NULL;
    to->status.uid = s->uid ? osb_arena_strdup(arena, s->uid) : NULL;
    to->cause_count = from->cause_count;
    for (int i = 0; i < from->cause_count; i++) {
        const struct osb_api_cause *c = &from->causes[i];
        to->causes[i] = (struct osb_api_cause){osb_arena_strdup(arena, c->reason),
                                               osb_arena_strdup(arena, c->message),
                                               osb_arena_strdup(arena, c->field)};
    }
}

void refusal_print(const struct refusal *r, struct osb_buf *out)
{
    struct osb_api_status status = r->status;
    status.causes = r->causes;
    status.cause_count = r->cause_count;
    osb_api_status_print(&status, out);
}
