// SPDX-License-Identifier: Apache-2.0
/*
 * get and list, and from where a watch starts: the resourceVersion rules of the Kubernetes API
 * concepts (unset, 0, exact, not older), pages of one snapshot, 410 for what is too old.
 */
#ifndef VERB_READ_H
#define VERB_READ_H

#include "history.h"
#include "output.h"
#include "request.h"

struct read_context {
    const struct cache *cache;
    const struct history *history;
    const struct request *request;
    struct output *output;
    struct osb_arena *arena;
    struct refusal *refusal;
    int64_t now_ns;
};

int verb_get(struct read_context *c, struct osb_buf *out);
int verb_list(struct read_context *c, struct osb_buf *out);

/* Where a watch begins. */
struct watch_start {
    bool has_initial;      /* ADDED for each object that is there comes first */
    bool has_initial_mark; /* then the bookmark that ends them */
    uint64_t revision;     /* events after it follow */
};

int watch_begin(struct read_context *c, struct watch_start *ret);
/* What the request's selectors, namespace and name pick. */
struct filter request_filter(const struct request *request);

#endif
