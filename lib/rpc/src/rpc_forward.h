// SPDX-License-Identifier: Apache-2.0
/*
 * What every forwarded call has: the client's side, the backend's side, what the backend answered,
 * and how many batches are in flight. It is freed, and reported, when none is. Everything here
 * belongs to the queue's thread.
 */
#ifndef RPC_FORWARD_H
#define RPC_FORWARD_H

#include "rpc_server.h"

struct rpc_forward {
    struct osb_rpc_server *server;
    enum osb_rpc_route route;
    uint64_t start_ns;
    struct rpc_inbound in;
    grpc_call *out; /* NULL until rpc_forward_open() */
    int in_flight;
    bool is_client_gone; /* nothing may be sent to it any more */
    bool is_answered;    /* the client has got the status */
    struct rpc_event closed;
    int was_cancelled; /* says the library, when `closed` fires */
    grpc_byte_buffer *request;
    grpc_byte_buffer *answer;
    uint64_t request_bytes;
    uint64_t response_bytes;
    grpc_metadata_array initial;
    grpc_metadata_array trailing;
    grpc_status_code code;
    grpc_slice text;
    /* Whether the kind's own machines have come to their ends; asserted when the call is freed. */
    bool (*is_over)(const struct rpc_forward *forward);
};

/*
 * Takes INBOUND over and listens for the client's going. FORWARD is the first member of an
 * allocation that is freed with it.
 */
void rpc_forward_init(struct rpc_forward *forward, struct osb_rpc_server *server,
                      const struct rpc_inbound *inbound, enum osb_rpc_route route,
                      bool (*is_over)(const struct rpc_forward *forward));
/* Creates the backend's side, with the client's method, host and deadline. Sends nothing. */
void rpc_forward_open(struct rpc_forward *forward);
/* Starts a batch on CALL, which is one of the two sides. */
void rpc_forward_start(struct rpc_forward *forward, grpc_call *call, struct rpc_event *event,
                       const grpc_op *ops, size_t count);
/* A batch is over. Must be the last thing its event does: after it the call may be gone. */
void rpc_forward_batch_over(struct rpc_forward *forward);
/* The client is gone: so is the reason for the backend's side. */
void rpc_forward_give_up(struct rpc_forward *forward);
/* Counts what came. */
void rpc_forward_count_request(struct rpc_forward *forward);
void rpc_forward_count_answer(struct rpc_forward *forward);
/* Drops the pairs that the library would refuse to send, or sends itself. */
void rpc_forward_filter_metadata(grpc_metadata_array *pairs);

/*
 * Machines are a byte each and a table of the moves that are allowed: MOVES[state] has the bit of
 * every state that may follow.
 */
#define RPC_TO(state) (1u << (state))
#define rpc_move(state, to, moves)                                                                 \
    do {                                                                                           \
        osb_assert((moves)[*(state)] & RPC_TO(to));                                                \
        *(state) = (to);                                                                           \
    } while (0)

#endif
