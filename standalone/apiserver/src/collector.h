// SPDX-License-Identifier: Apache-2.0
/*
 * Runs the steps of gc.h as writes of the server's own: each committed event names objects to look
 * at, each is looked at once however often it was named. After a start everything is looked at.
 * Expired events are removed on the way.
 */
#ifndef COLLECTOR_H
#define COLLECTOR_H

#include "cluster.h"

struct collector *collector_new(struct cluster *cluster);
/* NULL is allowed. */
void collector_free(struct collector *collector);
/* The events from SEQUENCE of the history on are new. */
void collector_look(struct collector *collector, uint64_t sequence);
/* Everything that has owners or is being deleted. */
void collector_look_at_all(struct collector *collector);

#endif
