// SPDX-License-Identifier: Apache-2.0
/*
 * What one watcher sends, free of I/O: it holds a place in the history, not a buffer, and gives the
 * next line when there is room for it. A watcher that falls behind what the history keeps ends with
 * an ERROR event of 410 Expired.
 */
#ifndef WATCH_H
#define WATCH_H

#include "history.h"
#include "output.h"
#include "verb_read.h"

struct watcher {
    const struct history *history;
    const struct cache *cache;
    const struct resource *resource;
    struct filter filter; /* borrows from the request */
    struct output output;
    struct watch_start start;
    struct collection initial; /* to be sent as ADDED */
    size_t initial_sent;
    bool is_mark_due;       /* the bookmark behind the initial events */
    uint64_t sequence;      /* next event of the history */
    uint64_t sent_revision; /* the client knows everything up to it */
    bool is_ended;          /* an ERROR event was the last one */
};

/* START came from watch_begin() of the same turn. */
void watcher_init(struct watcher *w, const struct read_context *c, const struct watch_start *start);
void watcher_done(struct watcher *w);
/*
 * Appends the next line that the client is to see; false when there is none now. NOW for ages in
 * tables.
 */
bool watcher_next(struct watcher *w, int64_t now_ns, struct osb_buf *out);
/* A bookmark of all that was seen, if the client does not know it yet; false when it does. */
bool watcher_bookmark(struct watcher *w, struct osb_buf *out);

#endif
