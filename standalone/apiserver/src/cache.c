// SPDX-License-Identifier: Apache-2.0
#include "cache.h"

#include <osb/alloc.h>

static void free_collection(void *p)
{
    struct collection *c = p;
    free(c->items);
    free(c);
}

void cache_done(struct cache *cache)
{
    for (int i = 0; i < RESOURCE_MAX; i++) {
        struct collection *c = &cache->collections[i];
        for (size_t k = 0; k < c->count; k++)
            object_unref(c->items[k]);
        free(c->items);
    }
    osb_map_done(&cache->by_uid, NULL);
    osb_map_done(&cache->dependents, free_collection);
    *cache = (struct cache){0};
}

size_t collection_lower_bound(const struct collection *c, const char *key)
{
    size_t low = 0, high = c->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(c->items[middle]->key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void link_owners(struct cache *cache, struct object *o)
{
    for (char **uid = o->owners; *uid; uid++) {
        struct osb_slice key = osb_slice_str(*uid);
        struct collection *c = osb_map_get(&cache->dependents, key);
        if (!c) {
            c = osb_new(struct collection);
            osb_map_set(&cache->dependents, key, c);
        }
        osb_grow(c->items, c->count, c->cap);
        c->items[c->count++] = o;
    }
}

static void unlink_owners(struct cache *cache, struct object *o)
{
    for (char **uid = o->owners; *uid; uid++) {
        struct osb_slice key = osb_slice_str(*uid);
        struct collection *c = osb_map_get(&cache->dependents, key);
        for (size_t i = 0; c && i < c->count; i++) {
            if (c->items[i] != o)
                continue;
            c->items[i] = c->items[--c->count];
            break;
        }
        if (c && !c->count)
            free_collection(osb_map_remove(&cache->dependents, key));
    }
}

static void drop(struct cache *cache, struct object *o)
{
    unlink_owners(cache, o);
    osb_map_remove(&cache->by_uid, osb_slice_str(o->uid));
    object_unref(o);
}

static bool is_at(const struct collection *c, size_t at, const char *key)
{
    return at < c->count && !strcmp(c->items[at]->key, key);
}

void cache_put(struct cache *cache, struct object *object)
{
    struct collection *c = &cache->collections[object->resource->index];
    size_t at = collection_lower_bound(c, object->key);
    if (is_at(c, at, object->key)) {
        drop(cache, c->items[at]);
    } else {
        osb_grow(c->items, c->count, c->cap);
        memmove(&c->items[at + 1], &c->items[at], (c->count - at) * sizeof(*c->items));
        c->count++;
    }
    c->items[at] = object_ref(object);
    osb_map_set(&cache->by_uid, osb_slice_str(object->uid), object);
    link_owners(cache, object);
}

void cache_remove(struct cache *cache, const struct resource *resource, const char *key)
{
    struct collection *c = &cache->collections[resource->index];
    size_t at = collection_lower_bound(c, key);
    if (!is_at(c, at, key))
        return;
    struct object *o = c->items[at];
    memmove(&c->items[at], &c->items[at + 1], (c->count - at - 1) * sizeof(*c->items));
    c->count--;
    drop(cache, o);
}

struct object *cache_get(const struct cache *cache, const struct resource *resource,
                         const char *key)
{
    const struct collection *c = &cache->collections[resource->index];
    size_t at = collection_lower_bound(c, key);
    return is_at(c, at, key) ? c->items[at] : NULL;
}

struct object *cache_by_uid(const struct cache *cache, const char *uid)
{
    return osb_map_get(&cache->by_uid, osb_slice_str(uid));
}

const struct collection *cache_list(const struct cache *cache, const struct resource *resource)
{
    return &cache->collections[resource->index];
}

const struct collection *cache_dependents(const struct cache *cache, const char *uid)
{
    static const struct collection none;
    const struct collection *c = osb_map_get(&cache->dependents, osb_slice_str(uid));
    return c ? c : &none;
}
