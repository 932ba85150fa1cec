// SPDX-License-Identifier: Apache-2.0
/*
 * What is done with each call that passes: where it goes, the injection, and what is told of it
 * (metrics, the log of slow ones and of refused injections). The three callbacks run on the
 * transport's thread; what they want to have logged is posted to the loop, so that a stuck log
 * holds up no call.
 */
#ifndef SHIM_CALLS_H
#define SHIM_CALLS_H

#include "inject.h"

#include <osb/rpc.h>

struct calls;

struct calls_options {
    struct inject_files files; /* borrowed */
    uint64_t slow_call_ms;     /* 0: none is slow */
    /* On the loop, when execd has been put into a container. May be NULL. */
    void (*on_injected)(const struct inject_subject *subject, void *arg);
    void *arg;
};

struct calls *calls_new(struct osb_loop *loop, const struct calls_options *options);
/* After the server that calls it, not from inside a turn: writes what waits to be logged. */
void calls_free(struct calls *calls);

/* For struct osb_rpc_server_options; ARG is the calls. */
enum osb_rpc_route calls_route(struct osb_slice method, void *arg);
int calls_rewrite(struct osb_slice method, struct osb_slice request, struct osb_buf *out,
                  struct osb_err *err, void *arg);
void calls_done(const struct osb_rpc_done *done, void *arg);

#endif
