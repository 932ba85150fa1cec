// SPDX-License-Identifier: Apache-2.0
/*
 * What a server and its calls know of each other. A call is requested from the library, arrives on
 * the queue's thread, is asked a route, and then is either forwarded, and stays on that thread, or
 * handled, and lives on the loop.
 */
#ifndef RPC_SERVER_H
#define RPC_SERVER_H

#include "rpc_mailbox.h"

#include <osb/rpc.h>
#include <stdatomic.h>

/* The client's side of a call; moved by value, its memory is that of the library. */
struct rpc_inbound {
    grpc_call *call;
    grpc_call_details details;
    grpc_metadata_array metadata;
};

/* A call that the library is asked to bring. */
struct rpc_arrival {
    struct osb_rpc_server *server;
    struct rpc_event event;
    struct rpc_inbound inbound;
};

/* One being taken in while the next may come already. */
enum { RPC_ARRIVALS = 2 };

struct osb_rpc_server {
    struct osb_loop *loop;
    struct osb_rpc_server_options options;
    struct rpc_mailbox mailbox;
    grpc_completion_queue *cq;
    grpc_server *server;
    struct rpc_arrival arrivals[RPC_ARRIVALS];
    int forwarded; /* calls being forwarded; of the queue's thread */
    /*
     * Whatever may still start a batch or touch the server: the library until it says that it has
     * shut down, arrivals until they fail, calls until they are freed. The last one says `gone`.
     */
    atomic_int users;
    struct rpc_event shut_down; /* the library's word */
    struct rpc_event gone;
    /* The rest is of the loop. */
    struct osb_list handled; /* osb_rpc_server_call */
    int depth;               /* callbacks of this server on the stack */
    bool is_closing;         /* osb_rpc_server_free() was called: nothing may run */
    bool is_shut_down;
    bool is_gone; /* nobody uses it, no connection is left */
    struct osb_timer grace;
    void (*on_gone)(void *arg);
    void *on_gone_arg;
};

/* Any thread; calls hold one from their beginning to their end. */
void rpc_server_ref(struct osb_rpc_server *server);
void rpc_server_unref(struct osb_rpc_server *server);

/* Frees what the arrival brought. */
void rpc_inbound_done(struct rpc_inbound *inbound);

/* Each takes INBOUND over; queue's thread. */
void rpc_pump_begin(struct osb_rpc_server *server, const struct rpc_inbound *inbound);
void rpc_unary_begin(struct osb_rpc_server *server, const struct rpc_inbound *inbound,
                     enum osb_rpc_route route);
void rpc_handle_begin(struct osb_rpc_server *server, const struct rpc_inbound *inbound);

/* Around everything that may call the user, as rpc_channel_enter(). */
void rpc_server_enter(struct osb_rpc_server *server);
void rpc_server_leave(struct osb_rpc_server *server);
/* Every handled call ends without its owner, as soon as its batches have. */
void rpc_handle_abandon_all(struct osb_rpc_server *server);

#endif
