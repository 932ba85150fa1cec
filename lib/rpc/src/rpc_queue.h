// SPDX-License-Identifier: Apache-2.0
/*
 * The completion queue of the process and the thread that drains it. There is one for all channels
 * and servers, because threads that wait on several wake each other: the library has one of them
 * poll, whichever, and that one hands on what it read for another's queue, a futex each time.
 */
#ifndef RPC_QUEUE_H
#define RPC_QUEUE_H

#include <grpc/grpc.h>
#include <osb/err.h>
#include <osb/list.h>
#include <stdbool.h>

struct rpc_mailbox;

/* One batch in flight; its address is the tag. Memory of the call, reused when the batch is over.
 */
struct rpc_event {
    struct osb_list link;
    /* Called by the loop of MAILBOX, or on the queue's thread when there is none. */
    void (*on_done)(struct rpc_event *event);
    struct rpc_mailbox *mailbox;
    void *arg;
    bool is_ok;
};

/* The first one brings the library up and starts the thread. */
int rpc_queue_ref(grpc_completion_queue **ret, struct osb_err *err);
/* The last one ends both. Its user's batches are over. */
void rpc_queue_unref(void);
/*
 * Gives memory back to the system once the queue has been quiet for a moment, or at last after
 * some seconds, which the library does not do after large messages and many calls. Queue's thread.
 */
void rpc_queue_trim_when_idle(void);

#endif
