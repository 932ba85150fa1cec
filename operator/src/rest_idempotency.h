// SPDX-License-Identifier: Apache-2.0
/* The same request sent twice: names from keys, and digests that tell one body from another. */
#ifndef OPERATOR_REST_IDEMPOTENCY_H
#define OPERATOR_REST_IDEMPOTENCY_H

#include <osb/json_tree.h>
#include <osb/uuid.h>

enum { REST_DIGEST_MAX = 65 }; /* 64 hex digits and a NUL */

/* The sandbox id that KEY means in NAMESPACE (docs/interfaces.md); returns BUFFER. */
const char *rest_idempotent_name(const char *namespace_, struct osb_slice key,
                                 char buffer[static OSB_UUID_TEXT_MAX]);
/* SHA-256 of BODY with its keys sorted and its nulls left out, in hex; returns BUFFER. */
const char *rest_body_digest(const struct osb_json *body, char buffer[static REST_DIGEST_MAX]);

#endif
