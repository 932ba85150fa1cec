// SPDX-License-Identifier: Apache-2.0
/*
 * Who may do what: a built-in table, because the clients of this server are the parts of one engine
 * and its administrator. A client is known by its certificate: common name and organisation.
 */
#ifndef AUTHZ_H
#define AUTHZ_H

#include "request.h"

#include <stdbool.h>

struct identity {
    const char *user;  /* NULL: anonymous */
    const char *group; /* may be NULL */
};

bool authz_allows(const struct identity *who, const struct request *request);
/* Discovery and OpenAPI are open to all who are known. */
bool authz_is_known(const struct identity *who);
/* 403 in the words that clients know. */
int authz_refuse(const struct identity *who, const struct request *request,
                 struct refusal *refusal);

#endif
