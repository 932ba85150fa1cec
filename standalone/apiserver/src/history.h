// SPDX-License-Identifier: Apache-2.0
/*
 * The newest committed events, for watches that start in the past and for lists at a revision that
 * is not the current one. Bounded by count and bytes; what fell out is 410 Expired. Watchers hold
 * a sequence number instead of a buffer: one that is too slow finds its place gone.
 */
#ifndef HISTORY_H
#define HISTORY_H

#include "cache.h"

enum {
    HISTORY_MAX_EVENTS = 4096,
    HISTORY_MAX_BYTES = 8 * 1024 * 1024,
};

enum event_type { EVENT_ADDED, EVENT_MODIFIED, EVENT_DELETED };

struct event {
    enum event_type type;
    uint64_t revision;
    struct object *object;   /* after the change; of a deletion, the last state at its revision */
    struct object *previous; /* before it; NULL for an addition */
};

struct history {
    struct event *ring;
    size_t cap;
    uint64_t first; /* sequence number of the oldest event */
    uint64_t next;  /* of the next one to come */
    uint64_t floor; /* all events after this revision are here */
    size_t bytes;
    size_t max_events;
    size_t max_bytes;
};

/* Nothing up to FLOOR is known. Limits of 0 are the named ones. */
void history_init(struct history *history, uint64_t floor, size_t max_events, size_t max_bytes);
void history_done(struct history *history);
/* Takes the references of EVENT. Revisions rise. */
void history_push(struct history *history, struct event event);
/* The event of SEQUENCE; NULL when it is not there (yet, or any more). */
const struct event *history_at(const struct history *history, uint64_t sequence);
/* The first event after REVISION; false when events after it have been dropped. */
bool history_seek(const struct history *history, uint64_t revision, uint64_t *ret_sequence);

/*
 * The objects of RESOURCE as they were at REVISION, in key order from AFTER_KEY (exclusive, NULL:
 * from the start). References are held by the result; free with snapshot_done(). False when
 * REVISION is no longer known.
 */
bool history_snapshot(const struct history *history, const struct cache *cache,
                      const struct resource *resource, uint64_t revision, const char *after_key,
                      struct collection *ret);
void snapshot_done(struct collection *snapshot);

#endif
