// SPDX-License-Identifier: Apache-2.0
/*
 * The Kubernetes Status object (meta/v1), the error answer of every API server, both ways.
 */
#ifndef OSB_API_STATUS_H
#define OSB_API_STATUS_H

#include <osb/buf.h>
#include <osb/err.h>
#include <osb/json_tree.h>
#include <osb/slice.h>

enum { OSB_API_STATUS_MAX_CAUSES = 32 };

struct osb_api_cause {
    const char *reason; /* FieldValueRequired, FieldValueInvalid, FieldValueNotFound, … */
    const char *message;
    const char *field; /* "spec.replicas" */
};

struct osb_api_status {
    int code;           /* HTTP status */
    const char *reason; /* NotFound, AlreadyExists, Conflict, Invalid, Expired, BadRequest, … */
    const char *message;
    const char *group; /* details; may be NULL */
    const char *kind;  /* details.kind: the resource (plural) as real API servers put it */
    const char *name;
    const char *uid;
    int retry_after_s; /* 0 for none */
    const struct osb_api_cause *causes;
    int cause_count;
};

/* Appends {"kind":"Status","apiVersion":"v1",…,"status":"Failure"}. */
void osb_api_status_print(const struct osb_api_status *status, struct osb_buf *out);
/* Appends a Status of success (as delete answers). Any of the strings may be NULL. */
void osb_api_status_print_success(const char *group, const char *resource, const char *name,
                                  const char *uid, struct osb_buf *out);
/*
 * Raises what an API server answered: HTTP_STATUS and a body that may be a Status. Reason decides
 * between codes that share a status (409 AlreadyExists: -OSB_E_EXISTS, Conflict: -OSB_E_CONFLICT;
 * 410 Expired: -OSB_E_EXPIRED; 429: -OSB_E_RATE_LIMITED). 0 for 2xx.
 */
int osb_api_status_to_err(int http_status, struct osb_slice body, struct osb_err *err);
/* The Status reason for an error code and its HTTP status. */
const char *osb_api_reason(int code);

#endif
