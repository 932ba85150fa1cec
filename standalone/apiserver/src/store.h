// SPDX-License-Identifier: Apache-2.0
/*
 * The durable side: one SQLite file in WAL mode with synchronous=FULL. A commit appends event rows,
 * replaces current rows and moves the revision counter in one transaction; nothing is visible to
 * clients before it has returned. A file of a newer schema is refused, an older one is copied aside
 * before it is migrated.
 *
 * All calls block. After opening, the commit worker is the only user, so no lock is needed.
 */
#ifndef STORE_H
#define STORE_H

#include "history.h"

#include <osb/err.h>
#include <osb/slice.h>
#include <stdint.h>

enum {
    STORE_SCHEMA = 1,         /* version of the file's layout */
    STORE_PRUNE_EVERY = 1024, /* commits between two prunings of old event rows */
    STORE_BUSY_TIMEOUT_MS = 5000
};

struct store;

/* One change; slices and strings are borrowed until store_commit() returned. */
struct store_change {
    enum event_type type;
    uint64_t revision;
    const char *resource; /* storage name */
    const char *key;
    struct osb_slice object;
    struct osb_slice previous; /* empty for an addition */
};

/* Opens or makes PATH and brings it to STORE_SCHEMA. */
int store_open(const char *path, struct store **ret, struct osb_err *err);
void store_close(struct store *store);

/*
 * Reads everything: current rows in no order by ON_OBJECT, then the kept events from the oldest on
 * by ON_EVENT; a negative return ends it. *RET_REVISION is the counter, *RET_FLOOR the revision
 * after which all events are kept.
 */
int store_load(struct store *store,
               int (*on_object)(const char *resource, uint64_t revision, struct osb_slice object,
                                void *arg),
               int (*on_event)(const struct store_change *event, void *arg), void *arg,
               uint64_t *ret_revision, uint64_t *ret_floor, struct osb_err *err);

/*
 * All changes or none, durable when it returns 0. A full disk is -ENOSPC; after any failure the
 * file is as it was before.
 */
int store_commit(struct store *store, const struct store_change *changes, int count,
                 struct osb_err *err);

/* The most pages the file may have: stands for a disk that is full. For tests. */
void store_limit_pages_for_test(struct store *store, int pages);

#endif
