// SPDX-License-Identifier: Apache-2.0
#include "proxy_fixture.h"

#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

enum { PROXY_BIG_MESSAGE = 1024 * 1024 };

static void fill(struct osb_buf *buf, size_t len)
{
    char *room = osb_buf_reserve(buf, len);

    if (!room) /* over the limit of the buffer, which remembers it */
        return;
    memset(room, 'b', len);
    osb_buf_commit(buf, len);
}

/* The backend; on the peer's thread. */
static void handle(const struct grpc_peer_request *request, struct grpc_peer_answer *answer,
                   void *arg)
{
    struct proxy_fixture *fixture = arg;
    struct osb_slice name = osb_slice_from(request->method, strlen("/p.S/"));

    fixture->deadline_ms = request->timeout_ms;
    if (osb_slice_eq_str(name, "Echo")) {
        osb_buf_append_slice(&answer->message, request->message);
        answer->count = 1;
    } else if (osb_slice_eq_str(name, "Zip")) {
        fill(&answer->message, PROXY_BIG_MESSAGE);
        answer->count = 1;
        answer->compresses = true;
    } else if (osb_slice_eq_str(name, "Chat")) {
        answer->echoes = true;
    } else if (osb_slice_eq_str(name, "Collect")) {
        answer->collects = true;
    } else if (osb_slice_eq_str(name, "Five")) {
        osb_buf_append_str(&answer->message, "tick");
        answer->count = 5;
    } else if (osb_slice_eq_str(name, "FiveAndOpen")) {
        osb_buf_append_str(&answer->message, "tick");
        answer->count = 5;
        answer->stays_open = true;
    } else if (osb_slice_eq_str(name, "FiveAndFail")) {
        osb_buf_append_str(&answer->message, "tick");
        answer->count = 5;
        answer->status = 14;
        answer->text = "going away";
    } else if (osb_slice_eq_str(name, "Big")) {
        fill(&answer->message, PROXY_BIG_MESSAGE);
        answer->count = 40;
    } else if (osb_slice_eq_str(name, "Open")) {
        answer->stays_open = true;
    } else if (osb_slice_eq_str(name, "Missing")) {
        *answer = (struct grpc_peer_answer){.status = 5,
                                            .text = "no such \"sandbox\": 100% gone \xc3\xa9",
                                            .details = "\x01why\xff"};
    } else if (osb_slice_eq_str(name, "Odd")) {
        *answer = (struct grpc_peer_answer){.status = 77, .text = "odd"};
    } else if (osb_slice_eq_str(name, "Reflect")) {
        answer->reflects = true;
        answer->count = 1;
    } else if (osb_slice_eq_str(name, "ReflectAndOpen")) {
        *answer = (struct grpc_peer_answer){.reflects = true, .stays_open = true};
    } else if (osb_slice_eq_str(name, "ReflectAndFail")) {
        *answer = (struct grpc_peer_answer){.status = 9, .text = "not now", .reflects = true};
    } else if (osb_slice_eq_str(name, "LongText")) {
        *answer = (struct grpc_peer_answer){.status = 2, .text = fixture->long_text};
    } else if (osb_slice_eq_str(name, "Huge")) {
        fill(&answer->message, OSB_RPC_MAX_MESSAGE + 1);
        answer->count = 1;
    } else if (osb_slice_eq_str(name, "Host")) {
        osb_buf_append_slice(&answer->message, request->host);
        answer->count = 1;
    } else {
        *answer = (struct grpc_peer_answer){
            .status = 12, .text = "unknown method Nope for service runtime.v1.RuntimeService"};
    }
}

static enum osb_rpc_route route(struct osb_slice method, void *arg)
{
    (void)arg;
    switch (method.data[1]) {
    case 'u':
        return OSB_RPC_FORWARD_UNARY;
    case 'r':
        return OSB_RPC_REWRITE;
    case 'h':
        return OSB_RPC_HANDLE;
    default:
        return OSB_RPC_FORWARD;
    }
}

static int rewrite(struct osb_slice method, struct osb_slice request, struct osb_buf *out,
                   struct osb_err *err, void *arg)
{
    (void)arg;
    assert_true(osb_slice_starts(method, OSB_SLICE("/r.S/")));
    if (osb_slice_eq_str(request, "leave me"))
        return OSB_RPC_UNCHANGED;
    if (osb_slice_eq_str(request, "refuse me"))
        return osb_fail(err, -OSB_E_CONFLICT, "version %d is not here", 7);
    if (osb_slice_eq_str(request, "blow me up"))
        fill(out, OSB_RPC_MAX_MESSAGE + 1);
    osb_buf_append_str(out, "rewritten ");
    osb_buf_append_slice(out, request);
    return 0;
}

static void on_done(const struct osb_rpc_done *done, void *arg)
{
    struct proxy_fixture *fixture = arg;

    pthread_mutex_lock(&fixture->lock);
    if (fixture->done_count < PROXY_DONE_MAX) {
        struct proxy_done *copy = &fixture->done[fixture->done_count];

        copy->done = *done;
        snprintf(copy->method, sizeof(copy->method), "%.*s", OSB_SLICE_ARG(done->method));
        snprintf(copy->message, sizeof(copy->message), "%.*s", OSB_SLICE_ARG(done->message));
    }
    fixture->done_count++;
    pthread_mutex_unlock(&fixture->lock);
}

static void on_call(struct osb_rpc_server_call *call, struct osb_slice method, void *arg)
{
    struct proxy_fixture *fixture = arg;

    fixture->handled = call;
    fixture->handled_count++;
    snprintf(fixture->handled_method, sizeof(fixture->handled_method), "%.*s",
             OSB_SLICE_ARG(method));
    if (fixture->on_call)
        fixture->on_call(fixture);
}

struct grpc_caller *proxy_connect(struct proxy_fixture *fixture)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    assert_int_equal(osb_rpc_server_serve_fd(fixture->server, fds[1], NULL), 0);
    return grpc_caller_new(fixture->loop, fds[0]);
}

int proxy_set_up(void **state)
{
    struct proxy_fixture *fixture = osb_new(struct proxy_fixture);
    struct osb_rpc_server_options options = {
        .route = route, .rewrite = rewrite, .on_done = on_done, .on_call = on_call, .arg = fixture};

    assert_int_equal(osb_loop_new_epoll(&fixture->loop, NULL), 0);
    pthread_mutex_init(&fixture->lock, NULL);
    memset(fixture->long_text, 'x', PROXY_LONG_TEXT);
    fixture->peer = grpc_peer_new(handle, fixture);
    assert_int_equal(osb_rpc_channel_new(fixture->loop, grpc_peer_target(fixture->peer),
                                         &fixture->backend, NULL),
                     0);
    options.backend = fixture->backend;
    assert_int_equal(osb_rpc_server_new(fixture->loop, &options, &fixture->server, NULL), 0);
    fixture->caller = proxy_connect(fixture);
    *state = fixture;
    return 0;
}

int proxy_tear_down(void **state)
{
    struct proxy_fixture *fixture = *state;

    osb_rpc_server_free(fixture->server);
    grpc_caller_free(fixture->caller);
    osb_rpc_channel_free(fixture->backend);
    grpc_peer_free(fixture->peer);
    osb_loop_free(fixture->loop);
    pthread_mutex_destroy(&fixture->lock);
    free(fixture);
    return 0;
}

struct proxy_done proxy_wait_done(struct proxy_fixture *fixture, int index)
{
    struct proxy_done copy;

    grpc_caller_until(fixture->caller, fixture->done_count > index);
    pthread_mutex_lock(&fixture->lock);
    copy = fixture->done[index];
    pthread_mutex_unlock(&fixture->lock);
    copy.done.method = osb_slice_str(copy.method);
    copy.done.message = osb_slice_str(copy.message);
    return copy;
}
