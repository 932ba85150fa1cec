// SPDX-License-Identifier: Apache-2.0
/* Waiting for a BatchSandbox in the cache to become what a request needs. */
#ifndef OPERATOR_REST_WAIT_H
#define OPERATOR_REST_WAIT_H

#include <osb/list.h>
#include <osb/loop.h>

struct batchsandbox;
struct rest;
struct rest_wait;

/*
 * Called once soon after the start, after each change of the object, and a last time with IS_OVER
 * when the time is over (or the server drains). BS is NULL while the cache has no such object. The
 * wait goes on until it is stopped or over.
 */
typedef void rest_wait_fn(struct rest_wait *wait, const struct batchsandbox *bs, bool is_over);

struct rest_wait {
    struct osb_list link;
    struct osb_timer timer;
    struct rest *rest;
    const char *name; /* borrowed */
    rest_wait_fn *fn;
    void *arg;
};

void rest_wait_start(struct rest_wait *wait, struct rest *rest, const char *name, uint64_t limit_ms,
                     rest_wait_fn *fn, void *arg);
/* Safe on a zero-filled or stopped one. */
void rest_wait_stop(struct rest_wait *wait);

/* For the server. */
void rest_waits_init(struct rest *rest);
/* Tells all that their time is over. */
void rest_waits_end(struct rest *rest);

#endif
