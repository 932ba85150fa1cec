// SPDX-License-Identifier: Apache-2.0
/* The status of a pod as the API shows it, made from spec and state alone. */
#ifndef NODE_POD_STATUS_H
#define NODE_POD_STATUS_H

#include "pod_core.h"

#include <osb/json_writer.h>

/* The times at which conditions last changed; kept beside the state between two calls. */
struct pod_times {
    int64_t start_ns; /* first seen by the node runner; wall clock */
    bool is_ready;
    bool is_initialized;
    int64_t ready_change_ns;
    int64_t initialized_change_ns;
};

/*
 * Appends {"metadata":{"uid":…},"status":{…}}, a merge patch. The same state gives the same text,
 * so that equal texts need no write. HOST_IP is the node's address.
 */
void pod_status_print(const struct pod_spec *spec, const struct pod_state *state,
                      struct pod_times *times, int64_t now_ns, const char *host_ip,
                      struct osb_buf *out);

#endif
