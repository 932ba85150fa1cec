// SPDX-License-Identifier: Apache-2.0
/*
 * A gRPC server for tests: listens on a UNIX socket in a folder of its own, asks a handler on its
 * own thread what to answer, and counts what happened.
 */
#ifndef GRPC_PEER_H
#define GRPC_PEER_H

#include <grpc/grpc.h>
#include <osb/buf.h>
#include <osb/slice.h>
#include <stdatomic.h>
#include <stdbool.h>

struct grpc_peer;

struct grpc_peer_request {
    struct osb_slice method;
    struct osb_slice message; /* the first one */
    bool is_empty;            /* the client half-closed without a message */
    struct osb_slice host;
    int64_t timeout_ms; /* left of the client's deadline; -1 for none */
    const grpc_metadata_array *metadata;
};

/* The value of the first pair with that name; empty when absent. */
struct osb_slice grpc_peer_metadata(const struct grpc_peer_request *request, const char *name);

/* Zero-filled: status OK without a message. */
struct grpc_peer_answer {
    int status;
    const char *text;       /* of the status, may be NULL; borrowed until the next call */
    const char *details;    /* grpc-status-details-bin, may be NULL; borrowed likewise */
    struct osb_buf message; /* freed by the peer */
    int count;              /* how often the message is sent */
    bool stays_open;        /* no status until the client goes */
    bool echoes;            /* every message goes back as it comes, up to the half-close */
    bool collects;          /* reads all, then answers "N messages, M bytes" */
    bool compresses;        /* what it sends */
    bool reflects; /* the request's metadata "x-…" come as initial and as trailing ones */
};

typedef void grpc_peer_handler(const struct grpc_peer_request *request,
                               struct grpc_peer_answer *answer, void *arg);

struct grpc_peer_counts {
    atomic_int calls;
    atomic_int messages;  /* handed to the transport */
    atomic_int received;  /* messages of requests */
    atomic_int open;      /* calls that are not over */
    atomic_int cancelled; /* calls that the client ended */
};

/* Aborts the test when it cannot listen. */
struct grpc_peer *grpc_peer_new(grpc_peer_handler *handler, void *arg);
/* "unix:///…" */
const char *grpc_peer_target(const struct grpc_peer *peer);
const struct grpc_peer_counts *grpc_peer_counts(const struct grpc_peer *peer);
/* Stops serving and serves anew on the same path, as a daemon that is restarted. */
void grpc_peer_stop(struct grpc_peer *peer);
void grpc_peer_start(struct grpc_peer *peer);
void grpc_peer_free(struct grpc_peer *peer);

#endif
