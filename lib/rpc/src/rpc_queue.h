// SPDX-License-Identifier: Apache-2.0
/*
 * One completion queue, the thread that drains it, and the way from there to the loop. The thread
 * only moves finished batches to a list and rings an eventfd: everything else happens on the loop.
 * An eventfd and not osb_loop_post(), because a watch can be stopped: once the queue is done,
 * nothing in the loop points to it.
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
    void (*on_done)(struct rpc_event *event); /* loop thread */
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
};

/* Brings the library up; FN(ARG) runs on the loop when there is something to pop. */
int rpc_queue_init(struct rpc_queue *queue, struct osb_loop *loop,
                   void (*fn)(struct osb_watch *watch, int events), void *arg, struct osb_err *err);
/* The next finished batch, or NULL. */
struct rpc_event *rpc_queue_pop(struct rpc_queue *queue);
/* Ready to be rung again; call before popping. */
void rpc_queue_hear(struct rpc_queue *queue);
/* Rings if something was left unpopped. */
void rpc_queue_ring_again(struct rpc_queue *queue);
/* Blocks until every batch is finished: cancel the calls before. Takes the library down. */
void rpc_queue_done(struct rpc_queue *queue);

#endif
