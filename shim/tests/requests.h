// SPDX-License-Identifier: Apache-2.0
/* CreateContainer requests as a kubelet makes them. */
#ifndef SHIM_TESTS_REQUESTS_H
#define SHIM_TESTS_REQUESTS_H

#include "runtime_v1.pb-c.h"

#include <osb/buf.h>

struct request_shape {
    const char *container; /* NULL: no metadata at all */
    const char *inject;    /* the annotations; NULL for none */
    const char *version;
    const char *named;
    const char *host_path; /* a mount of the container's own; NULL for none */
    const char *container_path;
};

/* Appends the request's bytes. */
void request_make(const struct request_shape *shape, struct osb_buf *out);

#endif
