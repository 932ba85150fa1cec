// SPDX-License-Identifier: Apache-2.0
#include "event_expiry.h"

#include <osb/alloc.h>
#include <osb/clock.h>

/* An event with the time at which it was last seen. */
struct seen {
    struct object *object;
    int64_t at_ns;
};

static int64_t last_seen(const struct object *event)
{
    static const char *const paths[] = {"metadata.creationTimestamp", "firstTimestamp",
                                        "lastTimestamp", "eventTime", "series.lastObservedTime"};
    _cleanup_json_ struct osb_json *tree = object_tree(event);
    int64_t newest = 0, at;
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        struct osb_slice text = osb_json_str(osb_json_get_path(tree, paths[i]));
        if (text.len && osb_rfc3339_parse(text, &at) >= 0 && at > newest)
            newest = at;
    }
    return newest;
}

static int newest_first(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    return (x->at_ns < y->at_ns) - (x->at_ns > y->at_ns);
}

/* What is still to be removed of one look: its limit keeps a transaction small. */
enum { REMOVED_MAX = 1000 };

static int remove_old(struct txn *txn, const struct seen *all, size_t count)
{
    int64_t oldest = txn->now_ns - (int64_t)EVENT_TTL_S * (int64_t)OSB_NS_PER_S;
    int removed = 0;
    for (size_t i = count; i > 0 && removed < REMOVED_MAX; i--) {
        const struct seen *seen = &all[i - 1];
        if (seen->at_ns >= oldest && i <= EVENT_MAX)
            break;
        _cleanup_json_ struct osb_json *tree = object_tree(seen->object);
        txn_remove(txn, seen->object->resource, tree);
        removed++;
    }
    return removed;
}

int events_expire(struct txn *txn, const struct registry *registry)
{
    const struct resource *events = registry_by_storage(registry, "events");
    const struct collection *cached = cache_list(txn->cache, events);
    _cleanup_free_ struct seen *all = osb_calloc(cached->count + 1, sizeof(*all));
    size_t count = 0;
    for (size_t i = 0; i < cached->count; i++) {
        struct object *event = txn_get(txn, events, cached->items[i]->key);
        if (event)
            all[count++] = (struct seen){event, last_seen(event)};
    }
    qsort(all, count, sizeof(*all), newest_first);
    return remove_old(txn, all, count);
}
