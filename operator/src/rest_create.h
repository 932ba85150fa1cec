// SPDX-License-Identifier: Apache-2.0
/* What the server knows of creates that are under way. */
#ifndef OPERATOR_REST_CREATE_H
#define OPERATOR_REST_CREATE_H

#include "rest_server.h"

/* Forgets what is left after the server is gone. */
void rest_creates_free(struct rest *rest);

/* What the cache says of a sandbox that a create waits for. Free of I/O. */
enum create_outcome {
    CREATE_WAITS,
    CREATE_RUNS,   /* 202 */
    CREATE_FAILED, /* for good: 500 or 403, and it is deleted */
    CREATE_GONE    /* somebody deleted it: 409 */
};

/* BS NULL: not in the cache (any more, when HAS_SEEN). */
enum create_outcome create_outcome_of(const struct batchsandbox *bs, const char *uid,
                                      bool has_seen);

#endif
