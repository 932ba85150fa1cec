// SPDX-License-Identifier: Apache-2.0
/* The documents in which clients find what is served: /api, /apis, resources, /version. */
#ifndef DISCOVERY_H
#define DISCOVERY_H

#include "resource.h"

#include <osb/buf.h>

/*
 * Answers PATH (without a slash at its end) when it is a discovery document; false otherwise.
 */
bool discovery_document(const struct registry *registry, struct osb_slice path,
                        struct osb_buf *out);
void version_document(struct osb_buf *out);
/* True for the first resource of its group and version: a walk over them sees each once. */
bool is_first_of_version(const struct registry *registry, int index);

#endif
