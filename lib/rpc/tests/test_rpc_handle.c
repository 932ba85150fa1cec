// SPDX-License-Identifier: Apache-2.0
/* What holds for calls that the loop handles, and for the server's end. */
#include "proxy_fixture.h"

#include <fcntl.h>
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/clock.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    GRACE_MS = 50,
    LONG_GRACE_MS = 600000, /* that no test waits for */
    WRITES_MAX = 64,        /* of 1 MiB, that would be taken in vain */
    WRITE_BYTES = 1024 * 1024,
    STALL_ECHOES = 20,
};

/* What a handler saw, and what it is to do. */
struct handler {
    struct proxy_fixture *fixture;
    struct osb_buf message;
    int read_count;
    int written_count;
    int cancel_count;
    bool is_end;
    bool has_stopped; /* for osb_rpc_server_shutdown() */
    bool frees_server;
};

static const struct osb_rpc_status ok = {0};

static void set_up_handler(void **state, struct handler *handler)
{
    struct proxy_fixture *fixture = *state;

    *handler = (struct handler){.fixture = fixture};
    fixture->arg = handler;
}

static void on_read(struct osb_rpc_server_call *call, struct osb_slice message, bool is_end,
                    void *arg)
{
    struct handler *handler = arg;

    assert_ptr_equal(call, handler->fixture->handled);
    handler->read_count++;
    handler->is_end = is_end;
    osb_buf_clear(&handler->message);
    osb_buf_append_slice(&handler->message, message);
    if (handler->frees_server)
        osb_rpc_server_free(osb_take_ptr(handler->fixture->server));
}

static void on_written(struct osb_rpc_server_call *call, void *arg)
{
    struct handler *handler = arg;

    assert_ptr_equal(call, handler->fixture->handled);
    handler->written_count++;
}

static void on_cancel(struct osb_rpc_server_call *call, void *arg)
{
    struct handler *handler = arg;

    assert_ptr_equal(call, handler->fixture->handled);
    handler->cancel_count++;
}

static void on_cancel_finish(struct osb_rpc_server_call *call, void *arg)
{
    on_cancel(call, arg);
    osb_rpc_server_call_finish(call, &ok);
}

static void on_stopped(void *arg)
{
    struct handler *handler = arg;

    handler->has_stopped = true;
    if (handler->frees_server)
        osb_rpc_server_free(osb_take_ptr(handler->fixture->server));
}

static struct caller_call *open_call(struct proxy_fixture *fixture, const char *method,
                                     uint64_t timeout_ms)
{
    int before = fixture->handled_count;
    struct caller_call *call = caller_open(fixture->caller, method, timeout_ms, NULL, 0);

    if (method[1] == 'h')
        grpc_caller_until(fixture->caller, fixture->handled_count > before);
    return call;
}

/* The next request; false at the half-close. */
static bool read_next(struct handler *handler)
{
    int before = handler->read_count;

    osb_rpc_server_call_read(handler->fixture->handled, on_read, handler);
    assert_int_equal(handler->read_count, before);
    grpc_caller_until(handler->fixture->caller, handler->read_count > before);
    return !handler->is_end;
}

static void write_next(struct handler *handler, const char *message)
{
    int before = handler->written_count;

    osb_rpc_server_call_write(handler->fixture->handled, osb_slice_str(message), on_written,
                              handler);
    grpc_caller_until(handler->fixture->caller, handler->written_count > before);
}

static void assert_next(struct caller_call *call, const char *expected)
{
    _cleanup_buf_ struct osb_buf message = {0};

    assert_true(caller_receive(call, &message));
    assert_string_equal(osb_buf_cstr(&message), expected);
}

static void a_handler_reads_writes_and_finishes(void **state)
{
    struct handler handler;
    struct proxy_fixture *fixture = *state;
    struct caller_call *call;

    set_up_handler(state, &handler);
    call = open_call(fixture, "/h.S/Talk", 0);
    assert_string_equal(fixture->handled_method, "/h.S/Talk");
    assert_true(caller_send(call, OSB_SLICE("one")));
    assert_true(read_next(&handler));
    assert_string_equal(osb_buf_cstr(&handler.message), "one");
    write_next(&handler, "first");
    assert_next(call, "first");
    assert_true(caller_send(call, OSB_SLICE("")));
    assert_true(read_next(&handler));
    assert_int_equal(handler.message.len, 0);
    assert_true(caller_close(call));
    assert_false(read_next(&handler));
    /* The end does not wait for the caller to see the last message leave. */
    osb_rpc_server_call_write(fixture->handled, OSB_SLICE("last"), NULL, NULL);
    osb_rpc_server_call_finish(fixture->handled, &ok);
    assert_next(call, "last");
    assert_int_equal(caller_status(call), 0);
    assert_int_equal(fixture->done_count, 0);
    caller_free(call);
    osb_buf_done(&handler.message);
}

static void finish_at_once(struct proxy_fixture *fixture)
{
    const struct osb_rpc_status status = {
        .code = 9, .message = OSB_SLICE("not here"), .details = OSB_SLICE("\x01why")};

    osb_rpc_server_call_finish(fixture->handled, &status);
}

static void a_call_may_be_finished_as_it_comes_with_text_and_details(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *call;

    fixture->on_call = finish_at_once;
    call = open_call(fixture, "/h.S/Refuse", 0);
    assert_int_equal(caller_status(call), 9);
    assert_true(osb_slice_eq_str(caller_text(call), "not here"));
    assert_true(osb_slice_eq_str(caller_metadata(&call->trailing, "grpc-status-details-bin", 0),
                                 "\x01why"));
    caller_free(call);
}

static void metadata_and_deadline_can_be_asked(void **state)
{
    struct proxy_fixture *fixture = *state;
    grpc_metadata pair = {.key = grpc_slice_from_static_string("x-key"),
                          .value = grpc_slice_from_static_string("value")};
    struct caller_call *call = caller_open(fixture->caller, "/h.S/Ask", 60000, &pair, 1);
    struct osb_slice name, value;
    uint64_t deadline_ns, now_ns = osb_monotonic_ns();
    bool is_found = false;

    grpc_caller_until(fixture->caller, fixture->handled_count == 1);
    for (size_t i = 0; osb_rpc_server_call_metadata(fixture->handled, i, &name, &value); i++)
        is_found |= osb_slice_eq_str(name, "x-key") && osb_slice_eq_str(value, "value");
    assert_true(is_found);
    deadline_ns = osb_rpc_server_call_deadline_ns(fixture->handled);
    assert_true(deadline_ns > now_ns + 50 * OSB_NS_PER_S);
    assert_true(deadline_ns < now_ns + 90 * OSB_NS_PER_S);
    osb_rpc_server_call_finish(fixture->handled, &ok);
    caller_status(call);
    caller_free(call);
    call = open_call(fixture, "/h.S/Ask", 0);
    assert_true(osb_rpc_server_call_deadline_ns(fixture->handled) == UINT64_MAX);
    osb_rpc_server_call_finish(fixture->handled, &ok);
    caller_free(call);
}

static void a_client_that_cancels_is_heard_of_and_not_as_a_half_close(void **state)
{
    struct handler handler;
    struct proxy_fixture *fixture = *state;
    struct caller_call *call;

    set_up_handler(state, &handler);
    call = open_call(fixture, "/h.S/Wait", 0);
    osb_rpc_server_call_on_cancel(fixture->handled, on_cancel, &handler);
    osb_rpc_server_call_read(fixture->handled, on_read, &handler);
    caller_cancel(call);
    grpc_caller_until(fixture->caller, handler.cancel_count == 1);
    assert_int_equal(handler.read_count, 0);
    osb_rpc_server_call_finish(fixture->handled, &ok);
    caller_free(call);
}

static void a_client_that_has_died_is_heard_of_also_late(void **state)
{
    struct handler handler;
    struct proxy_fixture *fixture = *state;
    struct grpc_caller *other = proxy_connect(fixture);
    struct caller_call *call;

    set_up_handler(state, &handler);
    call = open_call(fixture, "/h.S/Wait", 0);
    grpc_caller_hang_up(fixture->caller);
    caller_wait(call, &call->status);
    /* By now the server knows, most likely; either way it is to say so. */
    assert_int_equal(caller_unary(other, "/u.S/Echo", OSB_SLICE("hi"), NULL), 0);
    osb_rpc_server_call_on_cancel(fixture->handled, on_cancel_finish, &handler);
    assert_int_equal(handler.cancel_count, 0);
    grpc_caller_until(fixture->caller, handler.cancel_count == 1);
    caller_free(call);
    grpc_caller_free(other);
}

static void a_deadline_cancels_and_the_client_knows_why(void **state)
{
    struct handler handler;
    struct proxy_fixture *fixture = *state;
    struct caller_call *call;

    set_up_handler(state, &handler);
    call = open_call(fixture, "/h.S/Wait", 100);
    osb_rpc_server_call_on_cancel(fixture->handled, on_cancel_finish, &handler);
    assert_int_equal(caller_status(call), 4);
    grpc_caller_until(fixture->caller, handler.cancel_count == 1);
    caller_free(call);
}

static void a_finished_call_has_no_callbacks(void **state)
{
    struct handler handler;
    struct proxy_fixture *fixture = *state;
    struct caller_call *call;

    set_up_handler(state, &handler);
    call = open_call(fixture, "/h.S/Wait", 0);
    osb_rpc_server_call_on_cancel(fixture->handled, on_cancel, &handler);
    osb_rpc_server_call_read(fixture->handled, on_read, &handler);
    osb_rpc_server_call_write(fixture->handled, OSB_SLICE("m"), on_written, &handler);
    osb_rpc_server_call_finish(fixture->handled, &ok);
    caller_cancel(call);
    caller_status(call);
    caller_free(call);
    /* One more call there and back, so that the others' events have come. */
    call = open_call(fixture, "/h.S/Wait", 0);
    osb_rpc_server_call_finish(fixture->handled, &ok);
    assert_int_equal(caller_status(call), 0);
    caller_free(call);
    assert_int_equal(handler.read_count + handler.written_count + handler.cancel_count, 0);
}

static void a_client_that_does_not_read_holds_the_handler(void **state)
{
    struct handler handler;
    struct proxy_fixture *fixture = *state;
    struct caller_call *call;
    char *bytes = osb_calloc(1, WRITE_BYTES);
    int written = 0;

    set_up_handler(state, &handler);
    call = open_call(fixture, "/h.S/Big", 0);
    do {
        assert_true(written++ < WRITES_MAX);
        osb_rpc_server_call_write(fixture->handled, osb_slice(bytes, WRITE_BYTES), on_written,
                                  &handler);
        for (int i = 0; i < STALL_ECHOES; i++)
            assert_int_equal(caller_unary(fixture->caller, "/u.S/Echo", OSB_SLICE("hi"), NULL), 0);
    } while (handler.written_count == written);
    osb_rpc_server_call_finish(fixture->handled, &ok);
    for (int i = 0; i < written; i++) {
        _cleanup_buf_ struct osb_buf message = {0};

        assert_true(caller_receive(call, &message));
        assert_int_equal(message.len, WRITE_BYTES);
    }
    assert_int_equal(caller_status(call), 0);
    caller_free(call);
    free(bytes);
}

static void a_message_over_the_limit_ends_the_call(void **state)
{
    struct handler handler;
    struct proxy_fixture *fixture = *state;
    struct caller_call *call;
    char *bytes = osb_calloc(1, OSB_RPC_MAX_MESSAGE + 1);

    set_up_handler(state, &handler);
    call = open_call(fixture, "/h.S/Huge", 0);
    osb_rpc_server_call_on_cancel(fixture->handled, on_cancel, &handler);
    osb_rpc_server_call_write(fixture->handled, osb_slice(bytes, OSB_RPC_MAX_MESSAGE + 1),
                              on_written, &handler);
    assert_int_equal(caller_status(call), 8);
    grpc_caller_until(fixture->caller, handler.cancel_count == 1);
    assert_int_equal(handler.written_count, 0);
    osb_rpc_server_call_finish(fixture->handled, &ok);
    caller_free(call);
    free(bytes);
}

/* ---- the server's end ---- */

static void a_server_without_calls_stops_at_once(void **state)
{
    struct handler handler;
    struct proxy_fixture *fixture = *state;

    set_up_handler(state, &handler);
    assert_int_equal(caller_unary(fixture->caller, "/p.S/Echo", OSB_SLICE("hi"), NULL), 0);
    osb_rpc_server_shutdown(fixture->server, LONG_GRACE_MS, on_stopped, &handler);
    assert_false(handler.has_stopped);
    grpc_caller_until(fixture->caller, handler.has_stopped);
}

static void a_server_that_stops_lets_calls_end_and_takes_no_new_ones(void **state)
{
    struct handler handler;
    struct proxy_fixture *fixture = *state;
    struct caller_call *chat, *handled;
    int fds[2];

    set_up_handler(state, &handler);
    chat = caller_open(fixture->caller, "/p.S/Chat", 0, NULL, 0);
    caller_send(chat, OSB_SLICE("before"));
    assert_next(chat, "before");
    handled = open_call(fixture, "/h.S/Talk", 0);
    osb_rpc_server_shutdown(fixture->server, LONG_GRACE_MS, on_stopped, &handler);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(osb_rpc_server_serve_fd(fixture->server, fds[1], NULL), -OSB_E_CLOSED);
    assert_int_equal(fcntl(fds[1], F_GETFD), -1);
    close(fds[0]);
    caller_send(chat, OSB_SLICE("after"));
    assert_next(chat, "after");
    caller_close(chat);
    assert_int_equal(caller_status(chat), 0);
    assert_false(handler.has_stopped);
    osb_rpc_server_call_finish(fixture->handled, &ok);
    assert_int_equal(caller_status(handled), 0);
    grpc_caller_until(fixture->caller, handler.has_stopped);
    assert_int_equal(proxy_wait_done(fixture, 0).done.code, 0);
    caller_free(chat);
    caller_free(handled);
}

static void open_streams_are_cancelled_after_the_grace(void **state)
{
    struct handler handler;
    struct proxy_fixture *fixture = *state;
    struct caller_call *events, *handled;

    set_up_handler(state, &handler);
    events = caller_open(fixture->caller, "/p.S/FiveAndOpen", 0, NULL, 0);
    caller_send(events, OSB_SLICE("go"));
    assert_next(events, "tick");
    handled = open_call(fixture, "/h.S/Wait", 0);
    osb_rpc_server_call_on_cancel(fixture->handled, on_cancel_finish, &handler);
    handler.frees_server = true;
    osb_rpc_server_shutdown(fixture->server, GRACE_MS, on_stopped, &handler);
    grpc_caller_until(fixture->caller, handler.has_stopped);
    assert_null(fixture->server);
    assert_int_equal(handler.cancel_count, 1);
    assert_int_not_equal(caller_status(events), 0);
    assert_int_not_equal(caller_status(handled), 0);
    assert_int_equal(fixture->done_count, 1);
    grpc_caller_until(fixture->caller, grpc_peer_counts(fixture->peer)->cancelled == 1);
    caller_free(events);
    caller_free(handled);
}

static void a_freed_server_ends_calls_of_all_kinds(void **state)
{
    struct handler handler;
    struct proxy_fixture *fixture = *state;
    struct caller_call *calls[5];
    static const char *const methods[] = {"/p.S/FiveAndOpen", "/u.S/Open", "/r.S/Open", "/p.S/Big",
                                          "/h.S/Wait"};

    set_up_handler(state, &handler);
    for (int i = 0; i < 5; i++) {
        calls[i] = open_call(fixture, methods[i], 0);
        caller_send(calls[i], OSB_SLICE("go"));
    }
    osb_rpc_server_call_on_cancel(fixture->handled, on_cancel, &handler);
    osb_rpc_server_call_read(fixture->handled, on_read, &handler);
    grpc_caller_until(fixture->caller, grpc_peer_counts(fixture->peer)->received == 4);
    osb_rpc_server_free(osb_take_ptr(fixture->server));
    assert_int_equal(fixture->done_count, 4);
    for (int i = 0; i < 5; i++) {
        assert_int_not_equal(caller_status(calls[i]), 0);
        caller_free(calls[i]);
    }
    grpc_caller_until(fixture->caller, grpc_peer_counts(fixture->peer)->cancelled == 4);
    assert_int_equal(handler.cancel_count, 0);
    osb_buf_done(&handler.message);
}

static void a_server_may_be_freed_while_it_stops(void **state)
{
    struct handler handler;
    struct proxy_fixture *fixture = *state;
    struct caller_call *call;

    set_up_handler(state, &handler);
    call = open_call(fixture, "/h.S/Wait", 0);
    osb_rpc_server_shutdown(fixture->server, LONG_GRACE_MS, on_stopped, &handler);
    osb_rpc_server_free(osb_take_ptr(fixture->server));
    assert_false(handler.has_stopped);
    caller_free(call);
}

static void a_server_may_be_freed_in_a_callback(void **state)
{
    struct handler handler;
    struct proxy_fixture *fixture = *state;
    struct caller_call *call;

    set_up_handler(state, &handler);
    handler.frees_server = true;
    call = open_call(fixture, "/h.S/Wait", 0);
    caller_send(call, OSB_SLICE("bye"));
    osb_rpc_server_call_read(fixture->handled, on_read, &handler);
    grpc_caller_until(fixture->caller, !fixture->server);
    assert_string_equal(osb_buf_cstr(&handler.message), "bye");
    caller_free(call);
    osb_buf_done(&handler.message);
}

/* The end of a connection that does not speak HTTP/2. */
static int connect_raw(struct proxy_fixture *fixture)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    assert_int_equal(osb_rpc_server_serve_fd(fixture->server, fds[1], NULL), 0);
    return fds[0];
}

/* Reads what comes; true at the end of the connection. */
static bool has_ended(int fd)
{
    char bytes[256];
    ssize_t n;

    while ((n = read(fd, bytes, sizeof(bytes))) > 0)
        continue;
    return n == 0 || errno == ECONNRESET;
}

static void what_is_not_http2_is_hung_up_on_and_harms_nobody(void **state)
{
    struct proxy_fixture *fixture = *state;
    static const char words[] = "GET / HTTP/1.1\r\nHost: here\r\n\r\n";
    int fd = connect_raw(fixture);

    assert_int_equal(write(fd, words, sizeof(words)), sizeof(words));
    grpc_caller_until(fixture->caller, has_ended(fd));
    assert_int_equal(caller_unary(fixture->caller, "/p.S/Echo", OSB_SLICE("hi"), NULL), 0);
    close(fd);
}

static void a_silent_connection_does_not_hold_a_server_that_stops(void **state)
{
    struct handler handler;
    struct proxy_fixture *fixture = *state;
    int fd = connect_raw(fixture);

    set_up_handler(state, &handler);
    osb_rpc_server_shutdown(fixture->server, GRACE_MS, on_stopped, &handler);
    grpc_caller_until(fixture->caller, handler.has_stopped);
    grpc_caller_until(fixture->caller, has_ended(fd));
    close(fd);
}

static void what_is_no_socket_is_refused(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct osb_err err = {0};

    assert_true(osb_rpc_server_serve_fd(fixture->server, -1, &err) < 0);
    assert_true(err.message[0]);
}

#define proxy_test(name) cmocka_unit_test_setup_teardown(name, proxy_set_up, proxy_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        proxy_test(a_handler_reads_writes_and_finishes),
        proxy_test(a_call_may_be_finished_as_it_comes_with_text_and_details),
        proxy_test(metadata_and_deadline_can_be_asked),
        proxy_test(a_client_that_cancels_is_heard_of_and_not_as_a_half_close),
        proxy_test(a_client_that_has_died_is_heard_of_also_late),
        proxy_test(a_deadline_cancels_and_the_client_knows_why),
        proxy_test(a_finished_call_has_no_callbacks),
        proxy_test(a_client_that_does_not_read_holds_the_handler),
        proxy_test(a_message_over_the_limit_ends_the_call),
        proxy_test(a_server_without_calls_stops_at_once),
        proxy_test(a_server_that_stops_lets_calls_end_and_takes_no_new_ones),
        proxy_test(open_streams_are_cancelled_after_the_grace),
        proxy_test(a_freed_server_ends_calls_of_all_kinds),
        proxy_test(a_server_may_be_freed_while_it_stops),
        proxy_test(a_server_may_be_freed_in_a_callback),
        proxy_test(what_is_not_http2_is_hung_up_on_and_harms_nobody),
        proxy_test(a_silent_connection_does_not_hold_a_server_that_stops),
        proxy_test(what_is_no_socket_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
