// SPDX-License-Identifier: Apache-2.0
/*
 * A client, the proxy under test and a scripted backend: every method of the package "p" is
 * forwarded as a stream, of "u" as a known unary call, of "r" after rewriting, of "h" handled. The
 * backend answers by the last part of the name alone.
 */
#ifndef PROXY_FIXTURE_H
#define PROXY_FIXTURE_H

#include "grpc_caller.h"
#include "grpc_peer.h"

#include <osb/rpc.h>
#include <pthread.h>

enum { PROXY_DONE_MAX = 16, PROXY_LONG_TEXT = 40000 };

/* A report of the server, copied. */
struct proxy_done {
    struct osb_rpc_done done;
    char method[64];
    char message[64];
};

struct proxy_fixture {
    struct osb_loop *loop;
    struct grpc_peer *peer;
    struct osb_rpc_channel *backend;
    struct osb_rpc_server *server;
    struct grpc_caller *caller;
    atomic_int done_count;
    pthread_mutex_t lock;
    struct proxy_done done[PROXY_DONE_MAX]; /* the first ones; under the lock */
    struct osb_rpc_server_call *handled;    /* the last one */
    int handled_count;
    char handled_method[64];
    char long_text[PROXY_LONG_TEXT + 1];
    atomic_llong deadline_ms;                       /* that the backend saw last; -1 for none */
    void *arg;                                      /* of the test */
    void (*on_call)(struct proxy_fixture *fixture); /* of the test; may be NULL */
};

/* cmocka set-up and tear-down; *STATE is the fixture. */
int proxy_set_up(void **state);
int proxy_tear_down(void **state);
/* A further client connection, served by the proxy. */
struct grpc_caller *proxy_connect(struct proxy_fixture *fixture);
/* Waits for the report number INDEX. */
struct proxy_done proxy_wait_done(struct proxy_fixture *fixture, int index);

#endif
