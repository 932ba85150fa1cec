// SPDX-License-Identifier: Apache-2.0
#include "history.h"

#include <osb/alloc.h>

void history_init(struct history *h, uint64_t floor, size_t max_events, size_t max_bytes)
{
    *h = (struct history){.floor = floor};
    h->max_events = max_events ? max_events : HISTORY_MAX_EVENTS;
    h->max_bytes = max_bytes ? max_bytes : HISTORY_MAX_BYTES;
    h->cap = h->max_events;
    h->ring = osb_calloc(h->cap, sizeof(*h->ring));
}

/* An event's own share: the previous object is that of an earlier event. */
static size_t event_size(const struct event *event)
{
    return sizeof(*event) + object_size(event->object);
}

static void drop_oldest(struct history *h)
{
    struct event *event = &h->ring[h->first % h->cap];
    h->bytes -= event_size(event);
    h->floor = event->revision;
    object_unref(event->object);
    object_unref(event->previous);
    h->first++;
}

void history_done(struct history *h)
{
    while (h->first < h->next)
        drop_oldest(h);
    free(h->ring);
    *h = (struct history){0};
}

void history_push(struct history *h, struct event event)
{
    while (h->first < h->next && (h->next - h->first >= h->max_events || h->bytes >= h->max_bytes))
        drop_oldest(h);
    h->bytes += event_size(&event);
    h->ring[h->next % h->cap] = event;
    h->next++;
}

const struct event *history_at(const struct history *h, uint64_t sequence)
{
    if (sequence < h->first || sequence >= h->next)
        return NULL;
    return &h->ring[sequence % h->cap];
}

bool history_seek(const struct history *h, uint64_t revision, uint64_t *ret_sequence)
{
    if (revision < h->floor)
        return false;
    uint64_t low = h->first, high = h->next;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (h->ring[middle % h->cap].revision <= revision)
            low = middle + 1;
        else
            high = middle;
    }
    *ret_sequence = low;
    return true;
}

static int compare_keys(const void *a, const void *b)
{
    const struct object *const *x = a, *const *y = b;
    return strcmp((*x)->key, (*y)->key);
}

static void snapshot_add(struct collection *snapshot, struct object *object)
{
    osb_grow(snapshot->items, snapshot->count, snapshot->cap);
    snapshot->items[snapshot->count++] = object_ref(object);
}

void snapshot_done(struct collection *snapshot)
{
    for (size_t i = 0; i < snapshot->count; i++)
        object_unref(snapshot->items[i]);
    free(snapshot->items);
    *snapshot = (struct collection){0};
}

/* Marks a key that did not exist at the wanted revision. */
static struct object absent;

/* Undoes events from the newest back: the last word on a key is its state before the oldest. */
static void undo_events(const struct history *h, const struct resource *resource, uint64_t from,
                        struct osb_map *before)
{
    for (uint64_t s = h->next; s > from; s--) {
        const struct event *event = history_at(h, s - 1);
        if (event->object->resource == resource)
            osb_map_set(before, osb_slice_str(event->object->key),
                        event->previous ? event->previous : &absent);
    }
}

bool history_snapshot(const struct history *h, const struct cache *cache,
                      const struct resource *resource, uint64_t revision, const char *after_key,
                      struct collection *ret)
{
    uint64_t from;
    if (!history_seek(h, revision, &from))
        return false;
    struct osb_map before = {0};
    undo_events(h, resource, from, &before);
    struct collection snapshot = {0};
    const struct collection *now = cache_list(cache, resource);
    size_t start = after_key ? collection_lower_bound(now, after_key) : 0;
    for (size_t i = start; i < now->count; i++) {
        struct object *object = now->items[i];
        bool is_first_again = after_key && !strcmp(object->key, after_key);
        if (!is_first_again && !osb_map_has(&before, osb_slice_str(object->key)))
            snapshot_add(&snapshot, object);
    }
    struct osb_map_entry *cursor = NULL;
    struct osb_slice key;
    void *value;
    while (osb_map_next(&before, &cursor, &key, &value)) {
        struct object *object = value;
        if (object != &absent && (!after_key || strcmp(object->key, after_key) > 0))
            snapshot_add(&snapshot, object);
    }
    if (before.count)
        qsort(snapshot.items, snapshot.count, sizeof(*snapshot.items), compare_keys);
    osb_map_done(&before, NULL);
    *ret = snapshot;
    return true;
}
