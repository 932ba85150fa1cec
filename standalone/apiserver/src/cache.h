// SPDX-License-Identifier: Apache-2.0
/*
 * The current objects, as durable in the store: sorted by key for each resource, by UID, and by
 * owner's UID. Changed only by committed events, on the loop thread.
 */
#ifndef CACHE_H
#define CACHE_H

#include "object.h"

#include <osb/map.h>

/* Objects of one resource in key order; references held by the cache. */
struct collection {
    struct object **items;
    size_t count;
    size_t cap;
};

struct cache {
    struct collection collections[RESOURCE_MAX];
    struct osb_map by_uid;     /* uid: struct object */
    struct osb_map dependents; /* owner's uid: struct collection, in no order */
    uint64_t revision;         /* of the newest committed event */
};

void cache_done(struct cache *cache);
/* Puts OBJECT in the place of one with its key; takes a reference of its own. */
void cache_put(struct cache *cache, struct object *object);
void cache_remove(struct cache *cache, const struct resource *resource, const char *key);
/* Borrowed; NULL when absent. */
struct object *cache_get(const struct cache *cache, const struct resource *resource,
                         const char *key);
struct object *cache_by_uid(const struct cache *cache, const char *uid);
const struct collection *cache_list(const struct cache *cache, const struct resource *resource);
/* The objects that name UID as an owner; never NULL. */
const struct collection *cache_dependents(const struct cache *cache, const char *uid);
/* The place of the first key that is not below KEY. */
size_t collection_lower_bound(const struct collection *collection, const char *key);

#endif
