// SPDX-License-Identifier: Apache-2.0
/* What holds for forwarded calls of one request and one answer, on each of the routes. */
#include "proxy_fixture.h"
#include "rpc_forward.h"

#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/clock.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    MANY_CALLS = 1000,
    AT_ONCE = 20,
    RESTARTS = 3,
    BACK_WITHIN_MS = 200,
    COMPRESSIBLE = 100000,
};

/* Of the group that runs: 'p', 'u' or 'r'. */
static char package;

static int use_pumps(void **state)
{
    (void)state;
    package = 'p';
    return 0;
}

static int use_unary(void **state)
{
    (void)state;
    package = 'u';
    return 0;
}

static int use_rewrite(void **state)
{
    (void)state;
    package = 'r';
    return 0;
}

static enum osb_rpc_route expected_route(void)
{
    return package == 'p' ? OSB_RPC_FORWARD
                          : (package == 'u' ? OSB_RPC_FORWARD_UNARY : OSB_RPC_REWRITE);
}

/* "/p.S/NAME" of the group's package; valid until the next call. */
static const char *method(const char *name)
{
    static char path[64];

    snprintf(path, sizeof(path), "/%c.S/%s", package, name);
    return path;
}

static struct caller_call *open_call(struct proxy_fixture *fixture, const char *name,
                                     uint64_t timeout_ms)
{
    return caller_open(fixture->caller, method(name), timeout_ms, NULL, 0);
}

/* Sends "leave me", which the rewriting route leaves alone, and half-closes. */
static struct caller_call *ask(struct proxy_fixture *fixture, const char *name, uint64_t timeout_ms,
                               grpc_metadata *metadata, size_t count)
{
    struct caller_call *call =
        caller_open(fixture->caller, method(name), timeout_ms, metadata, count);

    caller_send(call, OSB_SLICE("leave me"));
    caller_close(call);
    return call;
}

static void a_call_brings_its_answer_and_is_reported(void **state)
{
    struct proxy_fixture *fixture = *state;
    _cleanup_buf_ struct osb_buf answer = {0};
    struct proxy_done report;

    assert_int_equal(caller_unary(fixture->caller, method("Echo"), OSB_SLICE("leave me"), &answer),
                     0);
    assert_string_equal(osb_buf_cstr(&answer), "leave me");
    report = proxy_wait_done(fixture, 0);
    assert_string_equal(report.method, method("Echo"));
    assert_int_equal(report.done.route, expected_route());
    assert_int_equal(report.done.code, 0);
    assert_int_equal(report.done.request_bytes, 8);
    assert_int_equal(report.done.response_bytes, 8);
    assert_true(report.done.duration_ns > 0 && report.done.duration_ns < 60 * OSB_NS_PER_S);
    assert_string_equal(report.message, "");
}

static void an_empty_answer_is_a_message_too(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *call = ask(fixture, "Reflect", 0, NULL, 0);
    _cleanup_buf_ struct osb_buf answer = {0};

    assert_true(caller_receive(call, &answer));
    assert_int_equal(answer.len, 0);
    assert_int_equal(caller_status(call), 0);
    caller_free(call);
}

static void a_half_close_without_a_request_reaches_the_backend(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *call = open_call(fixture, "Echo", 0);
    _cleanup_buf_ struct osb_buf answer = {0};

    assert_true(caller_close(call));
    assert_true(caller_receive(call, &answer));
    assert_int_equal(answer.len, 0);
    assert_int_equal(caller_status(call), 0);
    assert_int_equal(proxy_wait_done(fixture, 0).done.request_bytes, 0);
    caller_free(call);
}

static void a_failure_brings_code_text_and_details_unchanged(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *call = ask(fixture, "Missing", 0, NULL, 0);
    _cleanup_buf_ struct osb_buf answer = {0};
    struct proxy_done report;

    assert_false(caller_receive(call, &answer));
    assert_int_equal(caller_status(call), 5);
    assert_true(osb_slice_eq_str(caller_text(call), "no such \"sandbox\": 100% gone \xc3\xa9"));
    assert_true(osb_slice_eq_str(caller_metadata(&call->trailing, "grpc-status-details-bin", 0),
                                 "\x01why\xff"));
    assert_int_equal(call->trailing.count, 1);
    report = proxy_wait_done(fixture, 0);
    assert_int_equal(report.done.code, 5);
    assert_string_equal(report.message, "no such \"sandbox\": 100% gone \xc3\xa9");
    caller_free(call);
}

static void an_unknown_method_is_refused_in_the_words_of_the_backend(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *call = ask(fixture, "Nope", 0, NULL, 0);

    assert_int_equal(caller_status(call), 12);
    assert_true(osb_slice_eq_str(caller_text(call),
                                 "unknown method Nope for service runtime.v1.RuntimeService"));
    caller_free(call);
}

static void a_status_that_nobody_knows_passes(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *call = ask(fixture, "Odd", 0, NULL, 0);

    assert_int_equal(caller_status(call), 77);
    assert_true(osb_slice_eq_str(caller_text(call), "odd"));
    caller_free(call);
}

static void a_long_error_text_comes_whole(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *call = ask(fixture, "LongText", 0, NULL, 0);

    assert_int_equal(caller_status(call), 2);
    assert_int_equal(caller_text(call).len, PROXY_LONG_TEXT);
    caller_free(call);
}

static void assert_reflected(const grpc_metadata_array *pairs)
{
    struct osb_slice binary = caller_metadata(pairs, "x-bytes-bin", 0);

    assert_true(osb_slice_eq_str(caller_metadata(pairs, "x-twice", 0), "one"));
    assert_true(osb_slice_eq_str(caller_metadata(pairs, "x-twice", 1), "two"));
    assert_null(caller_metadata(pairs, "x-twice", 2).data);
    assert_true(osb_slice_eq(binary, osb_slice("\0\x80\xff", 3)));
}

/* Sends pairs that the backend reflects, checks both blocks, returns the status. */
static int reflect(struct proxy_fixture *fixture, const char *name)
{
    grpc_metadata pairs[] = {
        {.key = grpc_slice_from_static_string("x-twice"),
         .value = grpc_slice_from_static_string("one")},
        {.key = grpc_slice_from_static_string("x-bytes-bin"),
         .value = grpc_slice_from_static_buffer("\0\x80\xff", 3)},
        {.key = grpc_slice_from_static_string("x-twice"),
         .value = grpc_slice_from_static_string("two")},
    };
    struct caller_call *call = ask(fixture, name, 0, pairs, 3);
    int code = caller_status(call);

    caller_wait(call, &call->headers);
    assert_reflected(&call->initial);
    assert_reflected(&call->trailing);
    caller_free(call);
    return code;
}

static void metadata_passes_both_ways_repeated_and_binary(void **state)
{
    assert_int_equal(reflect(*state, "Reflect"), 0);
    assert_int_equal(reflect(*state, "ReflectAndFail"), 9);
}

static void the_host_passes(void **state)
{
    struct proxy_fixture *fixture = *state;
    _cleanup_buf_ struct osb_buf answer = {0};

    assert_int_equal(caller_unary(fixture->caller, method("Host"), OSB_SLICE("leave me"), &answer),
                     0);
    assert_string_equal(osb_buf_cstr(&answer), "some.host");
}

static void a_deadline_arrives_and_none_stays_none(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *call = ask(fixture, "Echo", 60000, NULL, 0);

    assert_int_equal(caller_status(call), 0);
    /* Each sender rounds up to what its header can say. */
    assert_in_range(fixture->deadline_ms, 30000, 62000);
    caller_free(call);
    call = ask(fixture, "Echo", 0, NULL, 0);
    assert_int_equal(caller_status(call), 0);
    assert_int_equal(fixture->deadline_ms, -1);
    caller_free(call);
}

static void a_deadline_that_passes_ends_both_sides(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *call = ask(fixture, "Open", 50, NULL, 0);

    assert_int_equal(caller_status(call), 4);
    assert_int_equal(proxy_wait_done(fixture, 0).done.code, 4);
    grpc_caller_until(fixture->caller, grpc_peer_counts(fixture->peer)->cancelled ==
                                           grpc_peer_counts(fixture->peer)->calls);
    caller_free(call);
}

static void a_cancelled_call_is_cancelled_at_the_backend(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *call = ask(fixture, "Open", 0, NULL, 0);
    struct proxy_done report;

    grpc_caller_until(fixture->caller, grpc_peer_counts(fixture->peer)->received == 1);
    caller_cancel(call);
    grpc_caller_until(fixture->caller, grpc_peer_counts(fixture->peer)->cancelled == 1);
    report = proxy_wait_done(fixture, 0);
    assert_int_equal(report.done.code, 1);
    assert_string_equal(report.message, "the client cancelled or went away");
    caller_free(call);
}

static void a_client_that_dies_cancels_its_calls(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *waiting = ask(fixture, "Open", 0, NULL, 0);
    struct caller_call *silent = open_call(fixture, "Open", 0);

    grpc_caller_until(fixture->caller, grpc_peer_counts(fixture->peer)->received == 1);
    grpc_caller_hang_up(fixture->caller);
    assert_int_equal(proxy_wait_done(fixture, 0).done.code, 1);
    assert_int_equal(proxy_wait_done(fixture, 1).done.code, 1);
    grpc_caller_until(fixture->caller, grpc_peer_counts(fixture->peer)->cancelled ==
                                           grpc_peer_counts(fixture->peer)->calls);
    /* The one without a request was no proper end of a stream. */
    assert_int_equal(grpc_peer_counts(fixture->peer)->received, 1);
    caller_free(waiting);
    caller_free(silent);
}

static int echo(struct proxy_fixture *fixture)
{
    return caller_unary(fixture->caller, method("Echo"), OSB_SLICE("leave me"), NULL);
}

static void a_backend_that_restarts_is_found_again_at_once(void **state)
{
    struct proxy_fixture *fixture = *state;
    uint64_t start_ns, best_ns = UINT64_MAX;

    for (int i = 0; i < RESTARTS; i++) {
        assert_int_equal(echo(fixture), 0);
        grpc_peer_stop(fixture->peer);
        assert_int_equal(echo(fixture), 14);
        grpc_peer_start(fixture->peer);
        start_ns = osb_monotonic_ns();
        grpc_caller_until(fixture->caller, echo(fixture) == 0);
        if (osb_monotonic_ns() - start_ns < best_ns)
            best_ns = osb_monotonic_ns() - start_ns;
    }
    /* The best, as the machine may be busy with other things. */
    assert_true(best_ns < BACK_WITHIN_MS * OSB_NS_PER_MS);
}

static void a_backend_that_dies_ends_its_calls(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *call = ask(fixture, "Open", 0, NULL, 0);

    grpc_caller_until(fixture->caller, grpc_peer_counts(fixture->peer)->received == 1);
    grpc_peer_stop(fixture->peer);
    assert_int_not_equal(caller_status(call), 0);
    assert_int_equal(proxy_wait_done(fixture, 0).done.code, (int)call->code);
    caller_free(call);
}

static void messages_pass_up_to_the_limit(void **state)
{
    struct proxy_fixture *fixture = *state;
    char *bytes = osb_calloc(1, OSB_RPC_MAX_MESSAGE + 1);
    _cleanup_buf_ struct osb_buf answer = {0};
    size_t len = OSB_RPC_MAX_MESSAGE;

    /* What rewriting puts in front counts. */
    if (package == 'r')
        len -= strlen("rewritten ");
    memset(bytes, 'm', len);
    assert_int_equal(caller_unary(fixture->caller, method("Echo"), osb_slice(bytes, len), &answer),
                     0);
    assert_int_equal(answer.len, OSB_RPC_MAX_MESSAGE);
    assert_memory_equal(answer.base + answer.start + answer.len - 100, bytes, 100);
    assert_int_equal(caller_unary(fixture->caller, method("Echo"),
                                  osb_slice(bytes, OSB_RPC_MAX_MESSAGE + 1), NULL),
                     8);
    assert_int_equal(caller_unary(fixture->caller, method("Huge"), OSB_SLICE("leave me"), NULL), 8);
    assert_int_equal(echo(fixture), 0);
    free(bytes);
}

static void a_compressed_request_passes(void **state)
{
    struct proxy_fixture *fixture = *state;
    grpc_metadata gzip = {.key = grpc_slice_from_static_string("grpc-internal-encoding-request"),
                          .value = grpc_slice_from_static_string("gzip")};
    struct caller_call *call = caller_open(fixture->caller, method("Echo"), 0, &gzip, 1);
    _cleanup_buf_ struct osb_buf answer = {0};
    char *bytes = osb_calloc(1, COMPRESSIBLE);

    assert_true(caller_send(call, osb_slice(bytes, COMPRESSIBLE)));
    assert_true(caller_close(call));
    assert_true(caller_receive(call, &answer));
    assert_int_equal(answer.len, COMPRESSIBLE + (package == 'r' ? strlen("rewritten ") : 0));
    assert_int_equal(caller_status(call), 0);
    assert_int_equal(proxy_wait_done(fixture, 0).done.request_bytes, COMPRESSIBLE);
    caller_free(call);
    free(bytes);
}

static void a_compressed_answer_passes(void **state)
{
    struct proxy_fixture *fixture = *state;
    _cleanup_buf_ struct osb_buf answer = {0};

    assert_int_equal(caller_unary(fixture->caller, method("Zip"), OSB_SLICE("leave me"), &answer),
                     0);
    assert_int_equal(answer.len, 1024 * 1024);
    assert_int_equal(answer.base[answer.start + answer.len - 1], 'b');
    assert_int_equal(proxy_wait_done(fixture, 0).done.response_bytes, 1024 * 1024);
}

/* Their memory is the leak checker's to count. */
static void a_thousand_calls_end_and_are_reported(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *calls[AT_ONCE];
    static const char *const names[] = {"Echo", "Missing", "Nope", "Open"};

    for (int i = 0; i < MANY_CALLS; i += AT_ONCE) {
        for (int k = 0; k < AT_ONCE; k++) {
            calls[k] = open_call(fixture, names[k % 4], 0);
            caller_start_send(calls[k], OSB_SLICE("leave me"));
        }
        for (int k = 0; k < AT_ONCE; k++) {
            if (k % 4 != 3)
                caller_status(calls[k]);
            caller_free(calls[k]);
        }
    }
    grpc_caller_until(fixture->caller, fixture->done_count == MANY_CALLS);
}

/* ---- not of a route ---- */

static void a_rewritten_request_is_what_the_backend_gets(void **state)
{
    struct proxy_fixture *fixture = *state;
    _cleanup_buf_ struct osb_buf answer = {0};

    assert_int_equal(caller_unary(fixture->caller, "/r.S/Echo", OSB_SLICE("me"), &answer), 0);
    assert_string_equal(osb_buf_cstr(&answer), "rewritten me");
    assert_int_equal(proxy_wait_done(fixture, 0).done.request_bytes, 2);
    assert_int_equal(caller_unary(fixture->caller, "/r.S/Echo", OSB_SLICE("leave me"), &answer), 0);
    assert_string_equal(osb_buf_cstr(&answer), "leave me");
}

static void a_refused_rewrite_is_answered_and_the_backend_hears_nothing(void **state)
{
    struct proxy_fixture *fixture = *state;
    struct caller_call *call = caller_open(fixture->caller, "/r.S/Echo", 0, NULL, 0);
    struct proxy_done report;

    caller_send(call, OSB_SLICE("refuse me"));
    assert_int_equal(caller_status(call), osb_err_info(-OSB_E_CONFLICT)->grpc_status);
    assert_true(osb_slice_eq_str(caller_text(call), "version 7 is not here"));
    report = proxy_wait_done(fixture, 0);
    assert_int_equal(report.done.code, osb_err_info(-OSB_E_CONFLICT)->grpc_status);
    assert_string_equal(report.message, "version 7 is not here");
    assert_int_equal(report.done.request_bytes, 9);
    caller_free(call);
    assert_int_equal(caller_unary(fixture->caller, "/r.S/Echo", OSB_SLICE("blow me up"), NULL),
                     osb_err_info(-OSB_E_TOO_LARGE)->grpc_status);
    assert_int_equal(grpc_peer_counts(fixture->peer)->calls, 0);
}

static grpc_metadata pair(const char *name, const char *value)
{
    return (grpc_metadata){.key = grpc_slice_from_static_string(name),
                           .value = grpc_slice_from_static_string(value)};
}

static void metadata_that_cannot_be_sent_is_dropped(void **state)
{
    grpc_metadata pairs[] = {
        pair("x-a", "1"),         pair("X-Upper", "2"), pair("x-control", "a\x01"),
        pair("user-agent", "us"), pair(":path", "/"),   pair("x-bin", "any\x01\xff"),
    };
    grpc_metadata_array array = {.count = 6, .metadata = pairs};

    (void)state;
    rpc_forward_filter_metadata(&array);
    assert_int_equal(array.count, 2);
    assert_true(osb_slice_eq_str(caller_metadata(&array, "x-a", 0), "1"));
    assert_true(osb_slice_eq_str(caller_metadata(&array, "x-bin", 0), "any\x01\xff"));
}

#define proxy_test(name) cmocka_unit_test_setup_teardown(name, proxy_set_up, proxy_tear_down)

int main(void)
{
    const struct CMUnitTest each[] = {
        proxy_test(a_call_brings_its_answer_and_is_reported),
        proxy_test(an_empty_answer_is_a_message_too),
        proxy_test(a_half_close_without_a_request_reaches_the_backend),
        proxy_test(a_failure_brings_code_text_and_details_unchanged),
        proxy_test(an_unknown_method_is_refused_in_the_words_of_the_backend),
        proxy_test(a_status_that_nobody_knows_passes),
        proxy_test(a_long_error_text_comes_whole),
        proxy_test(metadata_passes_both_ways_repeated_and_binary),
        proxy_test(the_host_passes),
        proxy_test(a_deadline_arrives_and_none_stays_none),
        proxy_test(a_deadline_that_passes_ends_both_sides),
        proxy_test(a_cancelled_call_is_cancelled_at_the_backend),
        proxy_test(a_client_that_dies_cancels_its_calls),
        proxy_test(a_backend_that_restarts_is_found_again_at_once),
        proxy_test(a_backend_that_dies_ends_its_calls),
        proxy_test(messages_pass_up_to_the_limit),
        proxy_test(a_compressed_request_passes),
        proxy_test(a_compressed_answer_passes),
        proxy_test(a_thousand_calls_end_and_are_reported),
    };
    const struct CMUnitTest once[] = {
        proxy_test(a_rewritten_request_is_what_the_backend_gets),
        proxy_test(a_refused_rewrite_is_answered_and_the_backend_hears_nothing),
        proxy_test(metadata_that_cannot_be_sent_is_dropped),
    };

    return cmocka_run_group_tests_name("pumps", each, use_pumps, NULL) +
           cmocka_run_group_tests_name("known unary", each, use_unary, NULL) +
           cmocka_run_group_tests_name("rewritten", each, use_rewrite, NULL) +
           cmocka_run_group_tests(once, NULL, NULL);
}
