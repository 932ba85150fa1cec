// SPDX-License-Identifier: Apache-2.0
/*
 * Owner garbage collection and the emptying of namespaces, as decisions inside a transaction. Each
 * looks at one object by its UID, as it is at that moment, and does the next step for it; running
 * one twice, or late, does no harm. What to look at after which event is said by gc_affected().
 */
#ifndef GC_H
#define GC_H

#include "history.h"
#include "resource.h"
#include "txn.h"

/*
 * One step for the object of UID: removed when all its owners are gone, freed of references to
 * owners that are gone or wait for it, released from foregroundDeletion or orphan when nothing is
 * left to do, and a terminating namespace is emptied and then removed.
 */
void gc_step(struct txn *txn, const struct registry *registry, const char *uid);

/* Calls FN for the UID of each object that EVENT gives reason to look at. */
void gc_affected(const struct event *event, const struct cache *cache,
                 const struct registry *registry, void (*fn)(const char *uid, void *arg),
                 void *arg);

#endif
