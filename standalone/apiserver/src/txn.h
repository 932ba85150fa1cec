// SPDX-License-Identifier: Apache-2.0
/*
 * A transaction in the making: changes on top of the committed cache, each with its revision. The
 * verbs work on it without knowing of disks; afterwards it is either stored and applied as a whole
 * or forgotten. Several requests may share one (group commit): later ones see earlier ones.
 */
#ifndef TXN_H
#define TXN_H

#include "cache.h"
#include "history.h"

struct txn {
    const struct cache *cache;
    uint64_t revision; /* last one given out */
    int64_t now_ns;    /* wall clock of all its changes */
    struct event *events;
    size_t count;
    size_t cap;
    struct osb_map overlay; /* "index key": the object, or none when removed */
};

/* Starts after REVISION. */
void txn_init(struct txn *txn, const struct cache *cache, uint64_t revision, int64_t now_ns);
/* Forgets all changes. */
void txn_done(struct txn *txn);
/* The object as this transaction sees it, borrowed; NULL when absent. */
struct object *txn_get(struct txn *txn, const struct resource *resource, const char *key);
/* Stores TREE (borrowed, resourceVersion set by it) as the newest state; borrowed result. */
struct object *txn_put(struct txn *txn, const struct resource *resource, struct osb_json *tree);
/* Removes the object of TREE, its last state. */
struct object *txn_remove(struct txn *txn, const struct resource *resource, struct osb_json *tree);
/* Makes the changes current and moves them into HISTORY; the transaction is empty then. */
void txn_apply(struct txn *txn, struct cache *cache, struct history *history);

/* "namespace/name" or "name" in ARENA. */
char *object_key(struct osb_arena *arena, const char *namespace_, const char *name);

#endif
