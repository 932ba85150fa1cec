// SPDX-License-Identifier: Apache-2.0
/*
 * Group commit. Writes queue up while a transaction is on its way to disk; then all that wait are
 * evaluated into the next one, in order, on the loop thread, and committed together on the worker.
 * Only when it is durable do the cache, the history, the watchers and the callers see it. A failed
 * commit refuses all writes of its batch that changed something; nothing was visible to anyone.
 */
#ifndef WRITER_H
#define WRITER_H

#include "history.h"
#include "refusal.h"
#include "store.h"
#include "txn.h"

#include <osb/list.h>
#include <osb/loop.h>
#include <osb/worker.h>

enum {
    WRITER_MAX_BATCH = 256,  /* writes of one transaction */
    WRITER_MAX_QUEUE = 8192, /* waiting writes; more are 429 */
};

struct write {
    struct osb_list link; /* private */
    /* Negative (and REFUSAL) when refused; must not refuse after it has changed something. */
    int (*evaluate)(struct write *write, struct txn *txn);
    /* Exactly once, after the change is durable; RESULT is negative when refused. */
    void (*done)(struct write *write, int result);
    struct refusal refusal;
    int result;       /* private */
    bool has_changed; /* private */
};

struct writer;

struct writer_options {
    struct osb_loop *loop;
    struct osb_workers *workers;
    struct store *store;
    struct cache *cache;
    struct history *history;
    /* After a commit, once a batch; the new events start at SEQUENCE of the history. */
    void (*on_committed)(uint64_t sequence, void *arg);
    void *arg;
};

struct writer *writer_new(const struct writer_options *options);
/* Nothing may be in flight: stop the workers first. Waiting writes end refused. */
void writer_free(struct writer *writer);
/* Takes WRITE. Its done may run before this returns only when the queue is full. */
void writer_submit(struct writer *writer, struct write *write);
/* Nothing waits and nothing is in flight. */
bool writer_is_idle(const struct writer *writer);

#endif
