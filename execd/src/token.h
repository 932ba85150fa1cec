// SPDX-License-Identifier: Apache-2.0
/* Where the access token comes from: a descriptor that the launcher hands over, or the environment.
 */
#ifndef EXECD_TOKEN_H
#define EXECD_TOKEN_H

#include <osb/err.h>
#include <osb/secret.h>

enum { TOKEN_MAX = 4096 }; /* bytes */

/*
 * Reads the token from FD (closed afterwards) when it is not -1, else takes it out of the
 * environment, whose block is wiped. Without either RET is empty: no authentication.
 */
int token_load(int fd, struct osb_secret *ret, struct osb_err *err);

#endif
