// SPDX-License-Identifier: Apache-2.0
/* What channel and call know of each other. Loop thread only. */
#ifndef RPC_CHANNEL_H
#define RPC_CHANNEL_H

#include "rpc_mailbox.h"

#include <osb/rpc.h>

enum { RPC_METADATA_MAX = 8 }; /* pairs of osb_rpc_channel_set_metadata() */

struct osb_rpc_channel {
    struct osb_loop *loop;
    struct rpc_mailbox mailbox;
    grpc_completion_queue *cq;
    grpc_channel *channel;
    struct osb_list calls;
    int in_flight; /* batches of all calls */
    grpc_metadata metadata[RPC_METADATA_MAX];
    size_t metadata_count;
    int depth;       /* callbacks of this channel on the stack */
    bool is_closing; /* osb_rpc_channel_free() was called: nothing may run */
};

/*
 * Around everything that may call the user: osb_rpc_channel_free() inside takes effect in leave.
 * After leave the channel may be gone.
 */
void rpc_channel_enter(struct osb_rpc_channel *channel);
void rpc_channel_leave(struct osb_rpc_channel *channel);

/* Frees a call that has no batch in flight. */
void rpc_call_free(struct osb_rpc_call *call);
/* Cancels the call and frees nothing. */
void rpc_call_abandon(struct osb_rpc_call *call);
/* The call that LINK, a member of `calls`, belongs to. */
struct osb_rpc_call *rpc_call_of_link(struct osb_list *link);

#endif
