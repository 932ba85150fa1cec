// SPDX-License-Identifier: Apache-2.0
/*
 * A refusal: the Status that answers a request which is not done. Built by the verb that refuses,
 * printed once by the edge. Validation collects field errors first and raises them together, as
 * clients expect to see all of them at once. Strings live in the refusal's own arena, so that it
 * may outlive the request's trees.
 */
#ifndef REFUSAL_H
#define REFUSAL_H

#include <osb/api_kinds.h>
#include <osb/api_status.h>
#include <osb/arena.h>
#include <osb/buf.h>
#include <stdbool.h>

struct refusal {
    struct osb_arena arena;
    struct osb_api_status status; /* code 0: nothing was refused */
    struct osb_api_cause causes[OSB_API_STATUS_MAX_CAUSES];
    int cause_count;
};

void refusal_done(struct refusal *r);
#define _cleanup_refusal_ __attribute__((cleanup(refusal_done)))

/* Raises; each returns a negative code, so that `return refuse(…)` reads well. */
int refuse(struct refusal *r, int http_code, const char *reason, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int refuse_bad_request(struct refusal *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int refuse_not_found(struct refusal *r, const struct osb_api_kind *kind, const char *name);
int refuse_exists(struct refusal *r, const struct osb_api_kind *kind, const char *name);
/* "Operation cannot be fulfilled on …: WHY". */
int refuse_conflict(struct refusal *r, const struct osb_api_kind *kind, const char *name,
                    const char *why);
int refuse_forbidden(struct refusal *r, const struct osb_api_kind *kind, const char *name,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));
/* A library's error as a Status of the same meaning. */
int refuse_err(struct refusal *r, const struct osb_err *err);

/* Collects one violation; REASON is FieldValueInvalid and its kin, FIELD a path. */
void field_error(struct refusal *r, const char *reason, const char *field, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void field_required(struct refusal *r, const char *field);
/* Raises 422 Invalid when violations were collected, else returns 0. */
int refuse_invalid(struct refusal *r, const struct osb_api_kind *kind, const char *name);

/* Copies what FROM says, so that FROM may go. */
void refusal_copy(struct refusal *to, const struct refusal *from);
void refusal_print(const struct refusal *r, struct osb_buf *out);

#endif
