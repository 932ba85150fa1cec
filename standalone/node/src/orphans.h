// SPDX-License-Identifier: Apache-2.0
/* Sandboxes that no pod claims: stopped and removed, a few at a time. Also what `purge` does. */
#ifndef NODE_ORPHANS_H
#define NODE_ORPHANS_H

#include "cri_inventory.h"
#include "node.h"

enum { ORPHANS_AT_ONCE = 8, ORPHANS_TRIES = 3, ORPHANS_CALL_MS = 30000 };

struct orphans;

struct orphans *orphans_new(struct node *node);
/* Cancels what is in flight. */
void orphans_free(struct orphans *orphans);
/* Takes the unclaimed sandboxes of INVENTORY on. */
void orphans_remove(struct orphans *orphans, const struct cri_inventory *inventory);
/* FN runs when none is left; FAILED is the number that could not be removed. */
void orphans_on_done(struct orphans *orphans, void (*fn)(int failed, void *arg), void *arg);

#endif
