// SPDX-License-Identifier: Apache-2.0
/* What the API says of a BatchSandbox's state. Free of I/O. */
#ifndef OPERATOR_REST_STATUS_H
#define OPERATOR_REST_STATUS_H

#include "batchsandbox.h"

enum { REST_MAX_REASON = 64 };

struct rest_status {
    const char *state; /* "Pending", "Running", … */
    char reason[REST_MAX_REASON];
    const char *message; /* static or borrowed from the object */
    int64_t transition_ns;
};

struct rest_status rest_status_of(const struct batchsandbox *bs);
/* "ImagePullBackOff" is IMAGE_PULL_BACK_OFF, "OOMKilled" is OOM_KILLED. */
void rest_reason_format(const char *reason, char buffer[static REST_MAX_REASON]);

#endif
