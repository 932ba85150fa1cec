// SPDX-License-Identifier: Apache-2.0
/* What holds for forwarded streams: order, half-close, early ends, and who holds whom back. */
#include "proxy_fixture.h"

#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    BIG_MESSAGES = 40, /* of 1 MiB, that the backend would send */
    HELD_MESSAGES = 8, /* of these at most when nobody reads: direct, it is two */
    CHUNK = 64 * 1024,
    CHUNKS_MAX = 64, /* that the proxy would take in vain */
    STALL_ECHOES = 20,
    STREAMS = 50,
    CANCELS = 240,
};

static struct caller_call *open_call(struct proxy_fixture *fixture, const char *method)
{
    return caller_open(fixture->caller, method, 0, NULL, 0);
}

static struct caller_call *ask(struct proxy_fixture *fixture, const char *method)
{
    struct caller_call *call = open_call(fixture, method);

    caller_send(call, OSB_SLICE("go"));
    caller_close(call);
    return call;
}

static void assert_next(struct caller_call *call, const char *expected)
{
    _cleanup_buf_ struct osb_buf message = {0};

    assert_true(caller_receive(call, &message));
    assert_string_equal(osb_buf_cstr(&message), expected);
}

static void assert_no_more(struct caller_call *call)
{
    _cleanup_buf_ struct osb_buf message = {0};

    assert_false(caller_receive(call, &message));
}

static void answers_come_in_order_and_then_the_status(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *call = ask(fixture, "/p.S/Five");
    struct proxy_done report;

    for (int i = 0; i < 5; i++)
        assert_next(call, "tick");
    assert_no_more(call);
    assert_int_equal(caller_status(call), 0);
    report = proxy_wait_done(fixture, 0);
    assert_int_equal(report.done.response_bytes, 5 * 4);
    caller_free(call);
}

static void answers_come_before_the_stream_ends(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *call = ask(fixture, "/p.S/FiveAndOpen");

    for (int i = 0; i < 5; i++)
        assert_next(call, "tick");
    assert_true(call->status.is_pending);
    assert_int_equal(fixture->done_count, 0);
    caller_free(call);
    assert_int_equal(proxy_wait_done(fixture, 0).done.code, 1);
    grpc_caller_until(fixture->caller, grpc_peer_counts(fixture->peer)->cancelled == 1);
}

static void requests_come_in_order_up_to_the_half_close(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *call = open_call(fixture, "/p.S/Collect");

    assert_true(caller_send(call, OSB_SLICE("one")));
    assert_true(caller_send(call, OSB_SLICE("")));
    assert_true(caller_send(call, OSB_SLICE("three")));
    assert_true(caller_close(call));
    assert_next(call, "3 messages, 8 bytes");
    assert_int_equal(caller_status(call), 0);
    assert_int_equal(proxy_wait_done(fixture, 0).done.request_bytes, 8);
    caller_free(call);
}

static void a_stream_of_no_requests_ends_properly(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *call = open_call(fixture, "/p.S/Collect");

    assert_true(caller_close(call));
    assert_next(call, "0 messages, 0 bytes");
    assert_int_equal(caller_status(call), 0);
    caller_free(call);
}

static void both_sides_may_talk_by_turns(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *call = open_call(fixture, "/p.S/Chat");

    assert_true(caller_send(call, OSB_SLICE("hello")));
    assert_next(call, "hello");
    assert_true(caller_send(call, OSB_SLICE("and")));
    assert_next(call, "and");
    assert_true(caller_send(call, OSB_SLICE("goodbye")));
    assert_true(caller_close(call));
    assert_next(call, "goodbye");
    assert_no_more(call);
    assert_int_equal(caller_status(call), 0);
    caller_free(call);
}

static void headers_pass_before_the_stream_says_anything_more(void **state)
{
    struct proxy_fixture *fixture = *state;
    grpc_metadata pair = {.key = grpc_slice_from_static_string("x-early"),
                          .value = grpc_slice_from_static_string("bird")};
    struct caller_call *call = caller_open(fixture->caller, "/p.S/ReflectAndOpen", 0, &pair, 1);

    caller_send(call, OSB_SLICE("go"));
    assert_true(caller_wait(call, &call->headers));
    assert_true(osb_slice_eq_str(caller_metadata(&call->initial, "x-early", 0), "bird"));
    assert_true(call->status.is_pending);
    caller_free(call);
}

static void a_backend_may_end_while_the_client_still_talks(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *call = open_call(fixture, "/p.S/FiveAndFail");

    assert_true(caller_send(call, OSB_SLICE("more will come")));
    for (int i = 0; i < 5; i++)
        assert_next(call, "tick");
    assert_int_equal(caller_status(call), 14);
    assert_true(osb_slice_eq_str(caller_text(call), "going away"));
    assert_false(caller_send(call, OSB_SLICE("more")));
    assert_int_equal(proxy_wait_done(fixture, 0).done.code, 14);
    caller_free(call);
}

static void a_client_that_dies_in_a_stream_does_not_look_like_its_end(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *call = open_call(fixture, "/p.S/Collect");

    assert_true(caller_send(call, OSB_SLICE("one")));
    grpc_caller_until(fixture->caller, grpc_peer_counts(fixture->peer)->received == 1);
    grpc_caller_hang_up(fixture->caller);
    grpc_caller_until(fixture->caller, grpc_peer_counts(fixture->peer)->cancelled == 1);
    /* A half-close would have been answered. */
    assert_int_equal(grpc_peer_counts(fixture->peer)->messages, 0);
    assert_int_equal(proxy_wait_done(fixture, 0).done.code, 1);
    caller_free(call);
}

static void other_calls_of_the_connection_pass(struct proxy_fixture *fixture, int count)
{
    _cleanup_buf_ struct osb_buf answer = {0};

    for (int i = 0; i < count; i++) {
        assert_int_equal(caller_unary(fixture->caller, "/u.S/Echo", OSB_SLICE("hi"), &answer), 0);
        assert_string_equal(osb_buf_cstr(&answer), "hi");
    }
}

static void a_client_that_stops_reading_holds_the_backend_and_no_other_call(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *call = ask(fixture, "/p.S/Big");
    _cleanup_buf_ struct osb_buf message = {0};

    grpc_caller_until(fixture->caller, grpc_peer_counts(fixture->peer)->messages > 0);
    other_calls_of_the_connection_pass(fixture, STALL_ECHOES);
    assert_true(grpc_peer_counts(fixture->peer)->messages - STALL_ECHOES <= HELD_MESSAGES);
    for (int i = 0; i < BIG_MESSAGES; i++) {
        assert_true(caller_receive(call, &message));
        assert_int_equal(message.len, 1024 * 1024);
    }
    assert_no_more(call);
    assert_int_equal(caller_status(call), 0);
    caller_free(call);
}

static void a_backend_that_stops_reading_holds_the_client_and_no_other_call(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *call = open_call(fixture, "/p.S/Open");
    char *chunk = osb_calloc(1, CHUNK);
    int sent = 0;

    /* Each gets a good while: as long as other calls take there and back. */
    do {
        assert_true(sent++ < CHUNKS_MAX);
        caller_start_send(call, osb_slice(chunk, CHUNK));
        other_calls_of_the_connection_pass(fixture, STALL_ECHOES);
    } while (!call->sent.is_pending);
    caller_free(call);
    grpc_caller_until(fixture->caller, grpc_peer_counts(fixture->peer)->cancelled == 1);
    free(chunk);
}

static void a_stopped_stream_may_be_left(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *call = ask(fixture, "/p.S/Big");

    grpc_caller_until(fixture->caller, grpc_peer_counts(fixture->peer)->messages > 0);
    caller_free(call);
    assert_int_equal(proxy_wait_done(fixture, 0).done.code, 1);
    grpc_caller_until(fixture->caller, grpc_peer_counts(fixture->peer)->cancelled == 1);
}

static void many_streams_at_once_do_not_mix(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *calls[STREAMS];
    char text[32];

    for (int i = 0; i < STREAMS; i++)
        calls[i] = open_call(fixture, "/p.S/Chat");
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < STREAMS; i++) {
            snprintf(text, sizeof(text), "%d of %d", round, i);
            caller_start_send(calls[i], osb_slice_str(text));
            caller_start_receive(calls[i]);
        }
        for (int i = 0; i < STREAMS; i++) {
            snprintf(text, sizeof(text), "%d of %d", round, i);
            assert_true(caller_wait(calls[i], &calls[i]->sent));
            assert_next(calls[i], text);
        }
    }
    for (int i = 0; i < STREAMS; i++) {
        caller_close(calls[i]);
        assert_int_equal(caller_status(calls[i]), 0);
        caller_free(calls[i]);
    }
    grpc_caller_until(fixture->caller, fixture->done_count == STREAMS);
}

static void connections_of_several_clients_are_served(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct grpc_caller *other = proxy_connect(fixture);
    struct caller_call *call = ask(fixture, "/p.S/FiveAndOpen");

    assert_next(call, "tick");
    assert_int_equal(caller_unary(other, "/p.S/Echo", OSB_SLICE("me too"), NULL), 0);
    grpc_caller_hang_up(other);
    grpc_caller_free(other);
    assert_next(call, "tick");
    caller_free(call);
}

static void a_call_may_be_cancelled_at_any_point(void **state)
{
    struct proxy_fixture *fixture = *state;
    static const char *const methods[] = {"/p.S/Chat", "/p.S/Five", "/u.S/Echo", "/r.S/Echo"};

    for (int i = 0; i < CANCELS; i++) {
        struct caller_call *call = open_call(fixture, methods[i % 4]);
        int steps = i / 4 % 6;

        if (steps > 0)
            caller_start_send(call, OSB_SLICE("hello"));
        if (steps > 1)
            caller_start_receive(call);
        if (steps > 2)
            caller_wait(call, &call->sent);
        if (steps > 3)
            caller_wait(call, &call->headers);
        if (steps > 4)
            caller_wait(call, &call->received);
        caller_free(call);
    }
    other_calls_of_the_connection_pass(fixture, 1);
    grpc_caller_until(fixture->caller, grpc_peer_counts(fixture->peer)->open == 0);
}

#define proxy_test(name) cmocka_unit_test_setup_teardown(name, proxy_set_up, proxy_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        proxy_test(answers_come_in_order_and_then_the_status),
        proxy_test(answers_come_before_the_stream_ends),
        proxy_test(requests_come_in_order_up_to_the_half_close),
        proxy_test(a_stream_of_no_requests_ends_properly),
        proxy_test(both_sides_may_talk_by_turns),
        proxy_test(headers_pass_before_the_stream_says_anything_more),
        proxy_test(a_backend_may_end_while_the_client_still_talks),
        proxy_test(a_client_that_dies_in_a_stream_does_not_look_like_its_end),
        proxy_test(a_client_that_stops_reading_holds_the_backend_and_no_other_call),
        proxy_test(a_backend_that_stops_reading_holds_the_client_and_no_other_call),
        proxy_test(a_stopped_stream_may_be_left),
        proxy_test(many_streams_at_once_do_not_mix),
        proxy_test(a_call_may_be_cancelled_at_any_point),
        proxy_test(connections_of_several_clients_are_served),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
