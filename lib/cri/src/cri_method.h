// SPDX-License-Identifier: Apache-2.0
/* The methods that lib/cri calls: where they are and what they take and give. */
#ifndef CRI_METHOD_H
#define CRI_METHOD_H

#include <osb/cri.h>
#include <protobuf-c/protobuf-c.h>

struct cri_method {
    const char *path; /* "/runtime.v1.RuntimeService/Version" */
    const char *name; /* "Version" */
    const ProtobufCMessageDescriptor *request;
    const ProtobufCMessageDescriptor *response;
    uint64_t timeout_ms;
};

/* METHOD must be below OSB_CRI_METHOD_COUNT. */
const struct cri_method *cri_method(enum osb_cri_method method);

#endif
