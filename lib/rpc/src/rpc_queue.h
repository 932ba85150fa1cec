// SPDX-License-Identifier: Apache-2.0
/*
 * One completion queue, the thread that drains it, and the way from there to the loop. A batch
 * that has on_queue ends on that thread and nowhere else. Of the others the thread only moves the
 * event to a list and rings an eventfd: everything else happens on the loop. An eventfd and not
 * osb_loop_post(), because a watch can be stopped: once the queue is done, nothing in the loop
 * points to it.
 */
#ifndef RPC_QUEUE_H
#define RPC_QUEUE_H

#include <grpc/grpc.h>
#include <osb/err.h>
#include <osb/list.h>
#include <osb/loop.h>
#include <pthread.h>
#include <stdbool.h>

/* One batch in flight; its address is the tag. Memory of the call, reused when the batch is over.
 */
struct rpc_event {
    struct osb_list link;
    void (*on_queue)(struct rpc_event *event); /* queue's thread; NULL: on_done instead */
    void (*on_done)(struct rpc_event *event);  /* loop thread */
    void *arg;
    bool is_ok;
};

struct rpc_queue {
    grpc_completion_queue *cq;
    pthread_t thread;
    pthread_mutex_t lock;
    struct osb_list done; /* under the lock */
    int wake_fd;
    struct osb_watch watch;
    bool is_trim_due; /* of the queue's thread */
};

/* Brings the library up; FN(ARG) runs on the loop when there is something to pop. */
int rpc_queue_init(struct rpc_queue *queue, struct osb_loop *loop,
                   void (*fn)(struct osb_watch *watch, int events), void *arg, struct osb_err *err);
/* Hands an event that belongs to no batch to the loop. Any thread. */
void rpc_queue_push(struct rpc_queue *queue, struct rpc_event *event);
/*
 * Calls on_done of what is finished, but leaves the loop to others after a while. Stops when
 * *IS_CLOSING turns true; what is left is then heard of again.
 */
void rpc_queue_run(struct rpc_queue *queue, const bool *is_closing);
/* Blocks until something is finished and calls its on_done; for the end of a server. */
void rpc_queue_wait(struct rpc_queue *queue);
/*
 * Gives memory back to the system once the queue has been quiet for a moment, which the library
 * does not do after large messages and many calls. Queue's thread.
 */
void rpc_queue_trim_when_idle(struct rpc_queue *queue);
/* Blocks until every batch is finished: cancel the calls before. Takes the library down. */
void rpc_queue_done(struct rpc_queue *queue);

#endif
