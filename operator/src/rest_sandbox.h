// SPDX-License-Identifier: Apache-2.0
/* A BatchSandbox as the sandbox object of the API, and the names that make it one. */
#ifndef OPERATOR_REST_SANDBOX_H
#define OPERATOR_REST_SANDBOX_H

#include <osb/json_writer.h>

#include "batchsandbox.h"

#define SYSTEM_PREFIX        "opensandbox.io" /* of labels that are no metadata */
#define LABEL_ID             SYSTEM_PREFIX "/id"
#define LABEL_MANUAL_CLEANUP SYSTEM_PREFIX "/manual-cleanup"
#define LABEL_SNAPSHOT       SYSTEM_PREFIX "/snapshot-id"
#define ANNOTATION_EXTENSION SYSTEM_PREFIX "/extensions." /* then the key's own name */
#define EXTENSION_PREFIX     "opensandbox.extensions."
#define ANNOTATION_RENEW     SYSTEM_PREFIX "/access-renew-extend-seconds"
#define ANNOTATION_ADDRESSES "sandbox.opensandbox.io/endpoints"

enum rest_detail {
    REST_CREATED, /* what the answer to a create has */
    REST_FULL
};

void rest_sandbox_print(struct osb_json_writer *w, const struct batchsandbox *bs,
                        enum rest_detail detail);
/* True for the key of a label that the API does not show as metadata. */
bool rest_is_system_label(const char *key);
/* RFC 3339 in UTC; microseconds only where there are some. Returns BUFFER. */
const char *rest_time_format(char *buffer, int64_t realtime_ns);

#endif
