// SPDX-License-Identifier: Apache-2.0
#include "txn.h"

#include <osb/alloc.h>

/* In the overlay: removed by this transaction. */
static struct object removed;

void txn_init(struct txn *txn, const struct cache *cache, uint64_t revision, int64_t now_ns)
{
    *txn = (struct txn){.cache = cache, .revision = revision, .now_ns = now_ns};
}

void txn_done(struct txn *txn)
{
    for (size_t i = 0; i < txn->count; i++) {
        object_unref(txn->events[i].object);
        object_unref(txn->events[i].previous);
    }
    free(txn->events);
    osb_map_done(&txn->overlay, NULL);
    txn->events = NULL;
    txn->count = txn->cap = 0;
}

static char *overlay_key(const struct resource *resource, const char *key)
{
    return osb_asprintf("%d %s", resource->index, key);
}

struct object *txn_get(struct txn *txn, const struct resource *resource, const char *key)
{
    _cleanup_free_ char *name = overlay_key(resource, key);
    struct object *object = osb_map_get(&txn->overlay, osb_slice_str(name));
    if (object)
        return object == &removed ? NULL : object;
    return cache_get(txn->cache, resource, key);
}

static struct object *add_event(struct txn *txn, enum event_type type, struct object *object)
{
    struct object *previous = txn_get(txn, object->resource, object->key);
    if (type != EVENT_DELETED)
        type = previous ? EVENT_MODIFIED : EVENT_ADDED;
    osb_grow(txn->events, txn->count, txn->cap);
    txn->events[txn->count++] =
        (struct event){type, object->revision, object, object_ref(previous)};
    _cleanup_free_ char *name = overlay_key(object->resource, object->key);
    osb_map_set(&txn->overlay, osb_slice_str(name), type == EVENT_DELETED ? &removed : object);
    return object;
}

struct object *txn_put(struct txn *txn, const struct resource *resource, struct osb_json *tree)
{
    return add_event(txn, EVENT_MODIFIED, object_new(resource, tree, ++txn->revision));
}

struct object *txn_remove(struct txn *txn, const struct resource *resource, struct osb_json *tree)
{
    return add_event(txn, EVENT_DELETED, object_new(resource, tree, ++txn->revision));
}

void txn_apply(struct txn *txn, struct cache *cache, struct history *history)
{
    for (size_t i = 0; i < txn->count; i++) {
        struct event *event = &txn->events[i];
        if (event->type == EVENT_DELETED)
            cache_remove(cache, event->object->resource, event->object->key);
        else
            cache_put(cache, event->object);
        cache->revision = event->revision;
        history_push(history, *event);
    }
    txn->count = 0;
    txn_done(txn);
}

char *object_key(struct osb_arena *arena, const char *namespace_, const char *name)
{
    if (!namespace_ || !namespace_[0])
        return osb_arena_strdup(arena, name);
    return osb_arena_printf(arena, "%s/%s", namespace_, name);
}
