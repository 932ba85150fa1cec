// SPDX-License-Identifier: Apache-2.0
/*
 * The sandbox of an id: from the cache, and where the cache has none from the API server, so that
 * what another facade or kubectl made a moment ago is found too.
 */
#ifndef OPERATOR_REST_FIND_H
#define OPERATOR_REST_FIND_H

#include "rest_request.h"

/* True when BS is a sandbox of the API: it has its id as a label. */
bool rest_is_sandbox(const struct batchsandbox *bs);

/* Calls FN, or answers 404 or what the API server's failure means. */
void rest_find(struct rest_request *request, struct osb_slice id, rest_found_fn *fn);

/* One object read from an answer of the API server. */
struct rest_object {
    struct osb_kube_store *store;
    const struct batchsandbox *bs; /* NULL when it could not be read */
};

struct rest_object rest_object_read(struct osb_slice text);
void rest_object_done(struct rest_object *object);

/* Calls FN once the cache shows VERSION of the request's sandbox or later, or is too slow. */
void rest_after_cache(struct rest_request *request, uint64_t version, rest_then_fn *fn);

#endif
