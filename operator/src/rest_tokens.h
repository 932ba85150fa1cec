// SPDX-License-Identifier: Apache-2.0
/* The token of a sandbox's execd: read from its Secret once, then kept while the sandbox lives. */
#ifndef OPERATOR_REST_TOKENS_H
#define OPERATOR_REST_TOKENS_H

#include <osb/secret.h>

#include "rest_request.h"

/* TOKEN is borrowed during the call. Otherwise the request has been answered. */
typedef void rest_token_fn(const struct osb_secret *token, void *arg);

/* Uses the request's data where it has to ask. */
void rest_with_token(struct rest_request *request, const struct batchsandbox *bs, rest_token_fn *fn,
                     void *arg);

#endif
