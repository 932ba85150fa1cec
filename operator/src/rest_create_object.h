// SPDX-License-Identifier: Apache-2.0
/* The BatchSandbox of a create. Free of I/O. */
#ifndef OPERATOR_REST_CREATE_OBJECT_H
#define OPERATOR_REST_CREATE_OBJECT_H

#include "rest_create_spec.h"

struct create_identity {
    const char *id;
    const char *namespace_;
    const char *request_id;
    const char *traceparent; /* NULL when absent */
    const char *digest;      /* of the body; NULL without an idempotency key */
};

/* A new tree. NOW_NS is the wall clock, from which the timeout counts. */
struct osb_json *create_object(const struct create_spec *spec,
                               const struct create_identity *identity, const struct config *config,
                               int64_t now_ns);

#endif
