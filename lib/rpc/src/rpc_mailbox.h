// SPDX-License-Identifier: Apache-2.0
/*
 * The way from the queue's thread to a loop: a list of finished batches and an eventfd to ring. Not
 * osb_loop_post(), because a watch can be stopped: once the mailbox is done, nothing in the loop
 * points to it.
 */
#ifndef RPC_MAILBOX_H
#define RPC_MAILBOX_H

#include "rpc_queue.h"

#include <osb/loop.h>
#include <pthread.h>

struct rpc_mailbox {
    pthread_mutex_t lock;
    struct osb_list done; /* rpc_event; under the lock */
    int wake_fd;
    struct osb_watch watch;
};

/* FN(ARG) runs on the loop when there is something to run. */
int rpc_mailbox_init(struct rpc_mailbox *mailbox, struct osb_loop *loop,
                     void (*fn)(struct osb_watch *watch, int events), void *arg,
                     struct osb_err *err);
/* Nothing may be pushed any more. */
void rpc_mailbox_done(struct rpc_mailbox *mailbox);
/*
 * Any thread. The event may be run, and the mailbox be done with, from the moment that the lock is
 * free again.
 */
void rpc_mailbox_push(struct rpc_mailbox *mailbox, struct rpc_event *event);
/*
 * Calls on_done of what is finished, but leaves the loop to others after a while. Stops when
 * *IS_CLOSING turns true; what is left is then heard of again.
 */
void rpc_mailbox_run(struct rpc_mailbox *mailbox, const bool *is_closing);
/* Blocks until something is finished and calls its on_done: for the end of an owner. */
void rpc_mailbox_wait(struct rpc_mailbox *mailbox);

#endif
