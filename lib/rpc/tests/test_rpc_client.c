// SPDX-License-Identifier: Apache-2.0
#include "grpc_peer.h"

#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/clock.h>
#include <osb/rpc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    WAIT_MS = 20000, /* bound of every wait; sanitizers on a busy machine are slow */
    LONG_TEXT = 40000,
    BIG_MESSAGE = 1024 * 1024,
    BIG_COUNT = 40,
};

struct fixture {
    struct osb_loop *loop;
    struct grpc_peer *peer;
    struct osb_rpc_channel *channel;
};

/* What a call brought. */
struct result {
    struct fixture *fixture;
    struct osb_buf messages;
    int message_count;
    int end_count;
    struct osb_rpc_status status;
    struct osb_buf text;
    struct osb_buf details;
    bool pauses;        /* after each message */
    bool frees_channel; /* in the callback that comes first */
    bool cancels;       /* in the first message */
};

static char long_text[LONG_TEXT + 1];

static void handle(const struct grpc_peer_request *request, struct grpc_peer_answer *answer,
                   void *arg)
{
    (void)arg;
    answer->count = 1;
    if (osb_slice_eq_str(request->method, "/t.T/Echo")) {
        osb_buf_append_slice(&answer->message, request->message);
    } else if (osb_slice_eq_str(request->method, "/t.T/Namespace")) {
        osb_buf_append_slice(&answer->message, grpc_peer_metadata(request, "containerd-namespace"));
    } else if (osb_slice_eq_str(request->method, "/t.T/Missing")) {
        *answer =
            (struct grpc_peer_answer){.status = 5, .text = "no such sandbox", .details = "why"};
    } else if (osb_slice_eq_str(request->method, "/t.T/LongText")) {
        *answer = (struct grpc_peer_answer){.status = 2, .text = long_text};
    } else if (osb_slice_eq_str(request->method, "/t.T/Silent")) {
        *answer = (struct grpc_peer_answer){.stays_open = true};
    } else if (osb_slice_eq_str(request->method, "/t.T/Nothing")) {
        answer->count = 0;
    } else if (osb_slice_eq_str(request->method, "/t.T/Huge")) {
        osb_buf_commit(
            &answer->message,
            (osb_buf_reserve(&answer->message, OSB_RPC_MAX_MESSAGE + 1), OSB_RPC_MAX_MESSAGE + 1));
    } else if (osb_slice_eq_str(request->method, "/t.T/Five")) {
        osb_buf_append_str(&answer->message, "tick ");
        answer->count = 5;
    } else if (osb_slice_eq_str(request->method, "/t.T/FiveAndOpen")) {
        osb_buf_append_str(&answer->message, "tick ");
        answer->count = 5;
        answer->stays_open = true;
    } else if (osb_slice_eq_str(request->method, "/t.T/FiveAndFail")) {
        osb_buf_append_str(&answer->message, "tick ");
        answer->count = 5;
        answer->status = 14;
        answer->text = "going away";
    } else if (osb_slice_eq_str(request->method, "/t.T/Big")) {
        osb_buf_commit(&answer->message,
                       (memset(osb_buf_reserve(&answer->message, BIG_MESSAGE), 'b', BIG_MESSAGE),
                        BIG_MESSAGE));
        answer->count = BIG_COUNT;
    } else {
        *answer = (struct grpc_peer_answer){.status = 12, .text = "unknown method"};
    }
}

static void on_message(struct osb_rpc_call *call, struct osb_slice message, void *arg)
{
    struct result *result = arg;

    result->message_count++;
    if (message.len < BIG_MESSAGE)
        osb_buf_append_slice(&result->messages, message);
    if (result->pauses)
        osb_rpc_call_pause(call);
    if (result->cancels)
        osb_rpc_call_cancel(call);
    if (result->frees_channel)
        osb_rpc_channel_free(osb_take_ptr(result->fixture->channel));
}

static void on_end(struct osb_rpc_call *call, const struct osb_rpc_status *status, void *arg)
{
    struct result *result = arg;

    (void)call;
    result->end_count++;
    result->status = *status;
    osb_buf_append_slice(&result->text, status->message);
    osb_buf_append_slice(&result->details, status->details);
    if (result->frees_channel && result->fixture->channel)
        osb_rpc_channel_free(osb_take_ptr(result->fixture->channel));
}

static const struct osb_rpc_callbacks callbacks = {on_message, on_end};

/* Of the group that runs: the tests hold on each back end. */
static int (*new_loop)(struct osb_loop **ret, struct osb_err *err);

static int use_epoll(void **state)
{
    (void)state;
    new_loop = osb_loop_new_epoll;
    return 0;
}

static int use_uv(void **state)
{
    (void)state;
    new_loop = osb_loop_new_uv;
    return 0;
}

static int set_up(void **state)
{
    struct fixture *fixture = osb_new(struct fixture);

    assert_int_equal(new_loop(&fixture->loop, NULL), 0);
    memset(long_text, 'x', LONG_TEXT);
    fixture->peer = grpc_peer_new(handle, NULL);
    assert_int_equal(osb_rpc_channel_new(fixture->loop, grpc_peer_target(fixture->peer),
                                         &fixture->channel, NULL),
                     0);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    osb_rpc_channel_free(fixture->channel);
    grpc_peer_free(fixture->peer);
    osb_loop_free(fixture->loop);
    free(fixture);
    return 0;
}

static void result_done(struct result *result)
{
    osb_buf_done(&result->messages);
    osb_buf_done(&result->text);
    osb_buf_done(&result->details);
}

#define turn_until(fixture, condition)                                                             \
    do {                                                                                           \
        uint64_t end_ns_ = osb_monotonic_ns() + WAIT_MS * OSB_NS_PER_MS;                           \
        while (!(condition)) {                                                                     \
            assert_true(osb_monotonic_ns() < end_ns_);                                             \
            osb_loop_turn((fixture)->loop, 10);                                                    \
        }                                                                                          \
    } while (0)

static void unary(struct fixture *fixture, const char *method, const char *request,
                  uint64_t timeout_ms, struct result *ret)
{
    *ret = (struct result){.fixture = fixture};
    assert_int_equal(osb_rpc_unary(fixture->channel, method, osb_slice_str(request), timeout_ms,
                                   &callbacks, ret, NULL, NULL),
                     0);
    assert_int_equal(ret->end_count, 0);
    turn_until(fixture, ret->end_count > 0);
}

static struct osb_rpc_call *stream(struct fixture *fixture, const char *method, struct result *arg)
{
    struct osb_rpc_call *call;

    arg->fixture = fixture;
    assert_int_equal(osb_rpc_server_stream(fixture->channel, method, OSB_SLICE_NULL, 0, &callbacks,
                                           arg, &call, NULL),
                     0);
    return call;
}

static void a_unary_call_brings_its_answer_and_then_its_end(void **state)
{
    struct result result;

    unary(*state, "/t.T/Echo", "hello", 0, &result);
    assert_string_equal(osb_buf_cstr(&result.messages), "hello");
    assert_int_equal(result.message_count, 1);
    assert_int_equal(result.status.code, 0);
    assert_int_equal(osb_rpc_status_to_err(&result.status, NULL), 0);
    result_done(&result);
}

static void an_empty_request_and_answer_are_messages_too(void **state)
{
    struct result result;

    unary(*state, "/t.T/Echo", "", 0, &result);
    assert_int_equal(result.message_count, 1);
    assert_int_equal(result.messages.len, 0);
    result_done(&result);
}

static void a_failure_brings_code_text_and_details_and_no_message(void **state)
{
    struct result result;
    struct osb_err err = {0};

    unary(*state, "/t.T/Missing", "", 0, &result);
    assert_int_equal(result.message_count, 0);
    assert_int_equal(result.status.code, 5);
    result.status.message = osb_buf_slice(&result.text);
    assert_int_equal(osb_rpc_status_to_err(&result.status, &err), -OSB_E_NOT_FOUND);
    assert_string_equal(err.message, "no such sandbox");
    assert_string_equal(osb_buf_cstr(&result.details), "why");
    result_done(&result);
}

static void a_long_error_text_comes_whole(void **state)
{
    struct result result;

    unary(*state, "/t.T/LongText", "", 0, &result);
    assert_int_equal(result.status.code, 2);
    assert_int_equal(result.text.len, LONG_TEXT);
    result_done(&result);
}

static void a_deadline_ends_a_call_that_is_not_answered(void **state)
{
    struct result result;

    unary(*state, "/t.T/Silent", "", 30, &result);
    assert_int_equal(osb_rpc_status_to_err(&result.status, NULL), -OSB_E_TIMEOUT);
    result_done(&result);
}

static void success_without_the_message_is_a_broken_peer(void **state)
{
    struct result result;

    unary(*state, "/t.T/Nothing", "", 0, &result);
    assert_int_equal(osb_rpc_status_to_err(&result.status, NULL), -OSB_E_INTERNAL);
    result_done(&result);
}

static void a_message_over_the_limit_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct osb_slice huge =
        osb_slice(osb_calloc(1, OSB_RPC_MAX_MESSAGE + 1), OSB_RPC_MAX_MESSAGE + 1);
    struct result result;

    unary(fixture, "/t.T/Huge", "", 0, &result);
    assert_int_equal(result.message_count, 0);
    assert_int_equal(osb_rpc_status_to_err(&result.status, NULL), -OSB_E_TOO_LARGE);
    assert_int_equal(
        osb_rpc_unary(fixture->channel, "/t.T/Echo", huge, 0, &callbacks, &result, NULL, NULL),
        -OSB_E_TOO_LARGE);
    free((void *)huge.data);
    result_done(&result);
}

static void metadata_of_the_channel_goes_with_every_call(void **state)
{
    struct fixture *fixture = *state;
    const struct osb_rpc_metadata metadata = {"containerd-namespace", "k8s.io"};
    struct result result;

    osb_rpc_channel_set_metadata(fixture->channel, &metadata, 1);
    for (int i = 0; i < 2; i++) {
        unary(fixture, "/t.T/Namespace", "", 0, &result);
        assert_string_equal(osb_buf_cstr(&result.messages), "k8s.io");
        result_done(&result);
    }
}

static void a_peer_that_is_away_is_unavailable_and_found_again(void **state)
{
    struct fixture *fixture = *state;
    struct result result;
    uint64_t end_ns = osb_monotonic_ns() + WAIT_MS * OSB_NS_PER_MS;

    grpc_peer_stop(fixture->peer);
    unary(fixture, "/t.T/Echo", "one", 0, &result);
    assert_int_equal(osb_rpc_status_to_err(&result.status, NULL), -OSB_E_UNAVAILABLE);
    result_done(&result);
    grpc_peer_start(fixture->peer);
    do {
        unary(fixture, "/t.T/Echo", "two", 0, &result);
        result_done(&result);
        assert_true(osb_monotonic_ns() < end_ns);
    } while (result.status.code != 0);
}

static void a_channel_knows_whether_it_is_connected(void **state)
{
    struct fixture *fixture = *state;

    turn_until(fixture, osb_rpc_channel_is_connected(fixture->channel));
    grpc_peer_stop(fixture->peer);
    turn_until(fixture, !osb_rpc_channel_is_connected(fixture->channel));
    grpc_peer_start(fixture->peer);
    turn_until(fixture, osb_rpc_channel_is_connected(fixture->channel));
}

static void a_cancelled_call_calls_nothing_and_ends_at_the_peer(void **state)
{
    struct fixture *fixture = *state;
    struct result result = {.fixture = fixture};
    struct osb_rpc_call *call;

    assert_int_equal(osb_rpc_unary(fixture->channel, "/t.T/Silent", OSB_SLICE_NULL, 0, &callbacks,
                                   &result, &call, NULL),
                     0);
    turn_until(fixture, grpc_peer_counts(fixture->peer)->calls == 1);
    osb_rpc_call_cancel(call);
    turn_until(fixture, grpc_peer_counts(fixture->peer)->cancelled == 1);
    assert_int_equal(result.end_count, 0);
    result_done(&result);
}

static void a_call_may_be_cancelled_before_it_reached_anybody(void **state)
{
    struct fixture *fixture = *state;
    struct result result = {.fixture = fixture}, other;
    struct osb_rpc_call *call = stream(fixture, "/t.T/Five", &result);

    osb_rpc_call_cancel(call);
    unary(fixture, "/t.T/Echo", "", 0, &other);
    assert_int_equal(result.message_count + result.end_count, 0);
    result_done(&result);
    result_done(&other);
}

static void a_stream_brings_its_messages_in_order_and_then_its_end(void **state)
{
    struct fixture *fixture = *state;
    struct result result = {0};

    stream(fixture, "/t.T/Five", &result);
    turn_until(fixture, result.end_count > 0);
    assert_string_equal(osb_buf_cstr(&result.messages), "tick tick tick tick tick ");
    assert_int_equal(result.message_count, 5);
    assert_int_equal(result.status.code, 0);
    result_done(&result);
}

static void a_stream_that_fails_brings_its_messages_first(void **state)
{
    struct fixture *fixture = *state;
    struct result result = {0};

    stream(fixture, "/t.T/FiveAndFail", &result);
    turn_until(fixture, result.end_count > 0);
    assert_int_equal(result.message_count, 5);
    assert_int_equal(result.status.code, 14);
    assert_string_equal(osb_buf_cstr(&result.text), "going away");
    result_done(&result);
}

static void a_peer_that_dies_ends_a_stream(void **state)
{
    struct fixture *fixture = *state;
    struct result result = {0};

    stream(fixture, "/t.T/FiveAndOpen", &result);
    turn_until(fixture, result.message_count == 5);
    grpc_peer_stop(fixture->peer);
    turn_until(fixture, result.end_count > 0);
    assert_int_not_equal(result.status.code, 0);
    result_done(&result);
}

static void a_stream_may_be_cancelled_in_its_message(void **state)
{
    struct fixture *fixture = *state;
    struct result result = {.cancels = true};

    stream(fixture, "/t.T/FiveAndOpen", &result);
    turn_until(fixture, grpc_peer_counts(fixture->peer)->cancelled == 1);
    assert_int_equal(result.message_count, 1);
    assert_int_equal(result.end_count, 0);
    result_done(&result);
}

static void a_paused_stream_holds_its_peer_back_and_no_other_call(void **state)
{
    struct fixture *fixture = *state;
    struct result result = {.pauses = true}, other;
    struct osb_rpc_call *call = stream(fixture, "/t.T/Big", &result);

    turn_until(fixture, result.message_count == 1);
    for (int i = 0; i < 50; i++) {
        unary(fixture, "/t.T/Echo", "hello", 0, &other);
        assert_int_equal(other.status.code, 0);
        result_done(&other);
    }
    assert_int_equal(result.message_count, 1);
    assert_true(grpc_peer_counts(fixture->peer)->messages < 50 + BIG_COUNT / 2);
    for (int i = 2; i <= BIG_COUNT; i++) {
        osb_rpc_call_resume(call);
        assert_int_equal(result.message_count, i - 1);
        turn_until(fixture, result.message_count == i);
    }
    osb_rpc_call_resume(call);
    turn_until(fixture, result.end_count > 0);
    result_done(&result);
}

static void a_freed_channel_ends_its_calls_without_callbacks(void **state)
{
    struct fixture *fixture = *state;
    struct result results[3] = {0};

    stream(fixture, "/t.T/FiveAndOpen", &results[0]);
    results[1].pauses = true;
    stream(fixture, "/t.T/Big", &results[1]);
    stream(fixture, "/t.T/Silent", &results[2]);
    turn_until(fixture, results[0].message_count == 5 && results[1].message_count == 1);
    osb_rpc_channel_free(osb_take_ptr(fixture->channel));
    turn_until(fixture, grpc_peer_counts(fixture->peer)->cancelled == 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(results[i].end_count, 0);
        result_done(&results[i]);
    }
}

static void a_channel_may_be_freed_in_a_message_and_in_an_end(void **state)
{
    struct fixture *fixture = *state;
    struct result in_message = {.frees_channel = true};
    struct result in_end = {.fixture = fixture, .frees_channel = true};

    stream(fixture, "/t.T/Five", &in_message);
    turn_until(fixture, !fixture->channel);
    assert_int_equal(in_message.message_count, 1);
    assert_int_equal(in_message.end_count, 0);
    assert_int_equal(osb_rpc_channel_new(fixture->loop, grpc_peer_target(fixture->peer),
                                         &fixture->channel, NULL),
                     0);
    assert_int_equal(osb_rpc_unary(fixture->channel, "/t.T/Missing", OSB_SLICE_NULL, 0, &callbacks,
                                   &in_end, NULL, NULL),
                     0);
    turn_until(fixture, !fixture->channel);
    assert_int_equal(in_end.end_count, 1);
    result_done(&in_message);
    result_done(&in_end);
}

static void a_target_that_cannot_be_is_refused_at_once(void **state)
{
    struct fixture *fixture = *state;
    struct osb_rpc_channel *channel = NULL;
    char path[200];

    memset(path, 'p', sizeof(path));
    memcpy(path, "unix:///", 8);
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(osb_rpc_channel_new(fixture->loop, "127.0.0.1:1", &channel, NULL),
                     -OSB_E_INVALID);
    assert_int_equal(osb_rpc_channel_new(fixture->loop, path, &channel, NULL), -OSB_E_INVALID);
    assert_null(channel);
}

#define rpc_test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        rpc_test(a_unary_call_brings_its_answer_and_then_its_end),
        rpc_test(an_empty_request_and_answer_are_messages_too),
        rpc_test(a_failure_brings_code_text_and_details_and_no_message),
        rpc_test(a_long_error_text_comes_whole),
        rpc_test(a_deadline_ends_a_call_that_is_not_answered),
        rpc_test(success_without_the_message_is_a_broken_peer),
        rpc_test(a_message_over_the_limit_is_refused),
        rpc_test(metadata_of_the_channel_goes_with_every_call),
        rpc_test(a_peer_that_is_away_is_unavailable_and_found_again),
        rpc_test(a_channel_knows_whether_it_is_connected),
        rpc_test(a_cancelled_call_calls_nothing_and_ends_at_the_peer),
        rpc_test(a_call_may_be_cancelled_before_it_reached_anybody),
        rpc_test(a_stream_brings_its_messages_in_order_and_then_its_end),
        rpc_test(a_stream_that_fails_brings_its_messages_first),
        rpc_test(a_peer_that_dies_ends_a_stream),
        rpc_test(a_stream_may_be_cancelled_in_its_message),
        rpc_test(a_paused_stream_holds_its_peer_back_and_no_other_call),
        rpc_test(a_freed_channel_ends_its_calls_without_callbacks),
        rpc_test(a_channel_may_be_freed_in_a_message_and_in_an_end),
        rpc_test(a_target_that_cannot_be_is_refused_at_once),
    };

    return cmocka_run_group_tests_name("on epoll", tests, use_epoll, NULL) +
           cmocka_run_group_tests_name("on libuv", tests, use_uv, NULL);
}
