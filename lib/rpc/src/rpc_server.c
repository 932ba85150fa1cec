// SPDX-License-Identifier: Apache-2.0
/*
 * The server: takes connected descriptors, brings calls in and sends each on its route. It is gone
 * when the library has shut down and no call is left, be that after a grace or at once. The library
 * alone is no measure: it speaks when the connections are closed, with calls still to be freed.
 */
#include "rpc_server.h"

#include "rpc_channel.h"
#include "rpc_ops.h"
#include "rpc_tsan.h"

#include <fcntl.h>
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <string.h>
#include <unistd.h>

/* A connection's calls at one time; more wait at the client. */
enum { MAX_STREAMS = 4096 };

static void inbound_init(struct rpc_inbound *inbound)
{
    inbound->call = NULL;
    grpc_call_details_init(&inbound->details);
    grpc_metadata_array_init(&inbound->metadata);
}

void rpc_inbound_done(struct rpc_inbound *inbound)
{
    if (inbound->call)
        grpc_call_unref(inbound->call);
    grpc_call_details_destroy(&inbound->details);
    grpc_metadata_array_destroy(&inbound->metadata);
}

static void request_call(struct rpc_arrival *arrival)
{
    grpc_completion_queue *cq = arrival->server->cq;
    grpc_call_error r;

    inbound_init(&arrival->inbound);
    rpc_handed_over(&arrival->event);
    r = grpc_server_request_call(arrival->server->server, &arrival->inbound.call,
                                 &arrival->inbound.details, &arrival->inbound.metadata, cq, cq,
                                 &arrival->event);
    osb_assert(r == GRPC_CALL_OK);
}

/* Queue's thread. */
static void on_arrival(struct rpc_event *event)
{
    struct rpc_arrival *arrival = event->arg;
    struct osb_rpc_server *server = arrival->server;
    struct rpc_inbound inbound = arrival->inbound;
    enum osb_rpc_route route;

    if (!event->is_ok) { /* the server ends */
        rpc_inbound_done(&inbound);
        rpc_server_unref(server);
        return;
    }
    request_call(arrival);
    route = server->options.route(rpc_slice(&inbound.details.method), server->options.arg);
    switch (route) {
    case OSB_RPC_FORWARD:
        rpc_pump_begin(server, &inbound);
        break;
    case OSB_RPC_FORWARD_UNARY:
    case OSB_RPC_REWRITE:
        rpc_unary_begin(server, &inbound, route);
        break;
    case OSB_RPC_HANDLE:
        rpc_handle_begin(server, &inbound);
        break;
    }
}

static grpc_server *create(void)
{
    grpc_arg args[] = {
        rpc_arg(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, OSB_RPC_MAX_MESSAGE),
        rpc_arg(GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, OSB_RPC_MAX_MESSAGE),
        rpc_arg(GRPC_ARG_MAX_METADATA_SIZE, OSB_RPC_MAX_METADATA),
        rpc_arg(GRPC_ARG_MAX_CONCURRENT_STREAMS, MAX_STREAMS),
        rpc_arg(GRPC_ARG_ENABLE_PER_MESSAGE_COMPRESSION, 0),
        /* A client on this machine may ping as often as it likes. */
        rpc_arg(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0),
        /* Windows that grow with the bandwidth would let a stream that nobody reads hold MBs. */
        rpc_arg(GRPC_ARG_HTTP2_BDP_PROBE, 0),
    };
    grpc_channel_args list = {.num_args = sizeof(args) / sizeof(*args), .args = args};

    return grpc_server_create(&list, NULL);
}

static void on_ready(struct osb_watch *watch, int events)
{
    struct osb_rpc_server *server = watch->arg;

    (void)events;
    rpc_server_enter(server);
    rpc_mailbox_run(&server->mailbox, &server->is_closing);
    rpc_server_leave(server);
}

void rpc_server_ref(struct osb_rpc_server *server)
{
    atomic_fetch_add(&server->users, 1);
}

void rpc_server_unref(struct osb_rpc_server *server)
{
    if (atomic_fetch_sub(&server->users, 1) == 1)
        rpc_mailbox_push(&server->mailbox, &server->gone);
}

static void on_shut_down(struct rpc_event *event)
{
    rpc_server_unref(event->arg);
}

static void on_gone(struct rpc_event *event)
{
    struct osb_rpc_server *server = event->arg;

    server->is_gone = true;
    osb_timer_stop(&server->grace);
    if (server->on_gone && !server->is_closing)
        server->on_gone(server->on_gone_arg);
}

static void on_grace_over(struct osb_timer *timer)
{
    struct osb_rpc_server *server = timer->arg;

    grpc_server_cancel_all_calls(server->server);
}

int osb_rpc_server_new(struct osb_loop *loop, const struct osb_rpc_server_options *options,
                       struct osb_rpc_server **ret, struct osb_err *err)
{
    _cleanup_free_ struct osb_rpc_server *server = osb_new(struct osb_rpc_server);
    int r;

    osb_assert(options->route);
    r = rpc_mailbox_init(&server->mailbox, loop, on_ready, server, err);
    if (r < 0)
        return r;
    r = rpc_queue_ref(&server->cq, err);
    if (r < 0) {
        rpc_mailbox_done(&server->mailbox);
        return r;
    }
    server->loop = loop;
    server->options = *options;
    osb_list_init(&server->handled);
    osb_timer_init(&server->grace, loop, on_grace_over, server);
    server->shut_down = (struct rpc_event){.on_done = on_shut_down, .arg = server};
    server->gone =
        (struct rpc_event){.mailbox = &server->mailbox, .on_done = on_gone, .arg = server};
    server->users = 1 + RPC_ARRIVALS;
    server->server = create();
    grpc_server_register_completion_queue(server->server, server->cq, NULL);
    grpc_server_start(server->server);
    for (int i = 0; i < RPC_ARRIVALS; i++) {
        struct rpc_arrival *arrival = &server->arrivals[i];

        arrival->server = server;
        arrival->event = (struct rpc_event){.on_done = on_arrival, .arg = arrival};
        request_call(arrival);
    }
    *ret = osb_take_ptr(server);
    return 0;
}

int osb_rpc_server_serve_fd(struct osb_rpc_server *server, int fd, struct osb_err *err)
{
    _cleanup_close_ int owned = fd;
    grpc_server_credentials *plain;
    int flags = fcntl(fd, F_GETFL);

    if (server->is_shut_down || server->is_closing)
        return osb_fail(err, -OSB_E_CLOSED, "the server is shutting down");
    /* The library takes it as it is, and would block in it. */
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return osb_fail(err, -errno, "make a connection non-blocking: %s", strerror(errno));
    plain = grpc_insecure_server_credentials_create();
    grpc_server_add_channel_from_fd(server->server, osb_take_fd(&owned), plain);
    grpc_server_credentials_release(plain);
    return 0;
}

static void begin_shutdown(struct osb_rpc_server *server)
{
    server->is_shut_down = true;
    rpc_handed_over(&server->shut_down);
    grpc_server_shutdown_and_notify(server->server, server->cq, &server->shut_down);
}

void osb_rpc_server_shutdown(struct osb_rpc_server *server, uint64_t grace_ms,
                             void (*fn)(void *arg), void *arg)
{
    osb_assert(!server->is_shut_down && !server->is_closing);
    server->on_gone = fn;
    server->on_gone_arg = arg;
    osb_timer_set(&server->grace, grace_ms);
    begin_shutdown(server);
}

static void destroy(struct osb_rpc_server *server)
{
    osb_timer_stop(&server->grace);
    if (!server->is_shut_down)
        begin_shutdown(server);
    if (!server->is_gone)
        grpc_server_cancel_all_calls(server->server);
    rpc_handle_abandon_all(server);
    while (!server->is_gone)
        rpc_mailbox_wait(&server->mailbox);
    grpc_server_destroy(server->server);
    rpc_queue_unref();
    rpc_mailbox_done(&server->mailbox);
    free(server);
}

void osb_rpc_server_free(struct osb_rpc_server *server)
{
    if (!server || server->is_closing)
        return;
    server->is_closing = true;
    if (server->depth == 0)
        destroy(server);
}

void rpc_server_enter(struct osb_rpc_server *server)
{
    server->depth++;
}

void rpc_server_leave(struct osb_rpc_server *server)
{
    if (--server->depth == 0 && server->is_closing)
        destroy(server);
}
