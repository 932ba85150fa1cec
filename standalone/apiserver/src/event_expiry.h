// SPDX-License-Identifier: Apache-2.0
/* Events (core/v1) are news: an hour after they were last seen they are removed. */
#ifndef EVENT_EXPIRY_H
#define EVENT_EXPIRY_H

#include "resource.h"
#include "txn.h"

enum {
    EVENT_TTL_S = 3600,
    EVENT_MAX = 5000,           /* more are removed before their time, the oldest first */
    EVENT_SWEEP_MS = 60 * 1000, /* between two looks */
};

/* Removes what has expired at the transaction's time; returns how many. */
int events_expire(struct txn *txn, const struct registry *registry);

#endif
