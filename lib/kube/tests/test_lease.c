// SPDX-License-Identifier: Apache-2.0
#include <osb/alloc.h>
#include <osb/kube_lease.h>
#include <osb/text.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// cmocka needs the ones above first
#include <cmocka.h>

#include "script_transport.h"

#define PATH  "/apis/coordination.k8s.io/v1/namespaces/n/leases/l"
#define PLACE "/apis/coordination.k8s.io/v1/namespaces/n/leases"

struct fixture {
    struct osb_loop *loop;
    struct script *script;
    struct osb_kube_client *client;
    struct osb_kube_lease *lease;
    bool leads;
    int changes;
    int failures;
    bool is_released;
};

static void on_change(bool leads, void *arg)
{
    struct fixture *f = arg;
    assert_int_not_equal(leads, f->leads);
    f->leads = leads;
    f->changes++;
}

static void on_note(int r, const char *holder, const struct osb_err *err, void *arg)
{
    struct fixture *f = arg;
    assert_non_null(holder);
    assert_int_equal(r < 0, err != NULL);
    f->failures += r < 0;
}

static void on_released(void *arg)
{
    struct fixture *f = arg;
    f->is_released = true;
}

static int set_up(void **state)
{
    struct fixture *f = osb_new(struct fixture);
    assert_int_equal(osb_loop_new_sim(&f->loop, NULL), 0);
    f->script = script_new();
    f->client = osb_kube_client_new(f->loop, &f->script->transport);
    struct osb_kube_lease_options options = {.namespace_ = "n",
                                             .name = "l",
                                             .identity = "me",
                                             .seed = 1,
                                             .on_change = on_change,
                                             .on_note = on_note,
                                             .arg = f};
    f->lease = osb_kube_lease_new(f->loop, f->client, &options);
    osb_kube_lease_start(f->lease);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    osb_kube_lease_free(f->lease);
    osb_kube_client_free(f->client);
    osb_loop_free(f->loop);
    free(f);
    return 0;
}

static void advance_ms(struct fixture *f, uint64_t ms)
{
    osb_loop_sim_advance(f->loop, ms * 1000000);
    osb_loop_sim_settle(f->loop);
}

/* Answers the newest request, the COUNT-th, with a lease of HOLDER at VERSION. */
static void answer(struct fixture *f, int count, int status, const char *holder, int version)
{
    _cleanup_free_ char *body = osb_asprintf(
        "{\"metadata\":{\"name\":\"l\",\"resourceVersion\":\"%d\",\"labels\":{\"a\":\"b\"}},"
        "\"spec\":{\"holderIdentity\":\"%s\",\"leaseDurationSeconds\":15,\"leaseTransitions\":4,"
        "\"acquireTime\":\"2026-01-01T00:00:00.000000Z\"}}",
        version, holder);
    script_answer(script_last(f->script, count), status, body);
    osb_loop_sim_settle(f->loop);
}

static void refuse(struct fixture *f, int count, int status)
{
    script_answer(script_last(f->script, count), status, "{\"kind\":\"Status\"}");
    osb_loop_sim_settle(f->loop);
}

static void expect_request(struct fixture *f, int count, const char *method, const char *path)
{
    struct script_request *request = script_last(f->script, count);
    assert_string_equal(request->method, method);
    assert_string_equal(request->path, path);
}

/* Advances until the next request, the COUNT-th, which comes within a retry and its jitter. */
static void expect_next(struct fixture *f, int count, const char *method, const char *path)
{
    assert_int_equal(f->script->count, count - 1);
    for (int i = 0; i < 30 && f->script->count < count; i++)
        advance_ms(f, 100);
    expect_request(f, count, method, path);
}

/* Takes a lease that is not there yet: two requests. */
static void lead(struct fixture *f)
{
    expect_request(f, 1, "GET", PATH);
    refuse(f, 1, 404);
    expect_request(f, 2, "POST", PLACE);
    answer(f, 2, 201, "me", 7);
    assert_true(osb_kube_lease_leads(f->lease));
}

static void test_a_lease_that_is_not_there_is_made_and_held(void **state)
{
    struct fixture *f = *state;
    assert_false(osb_kube_lease_leads(f->lease));
    lead(f);
    const char *body = f->script->requests[1].body;
    assert_non_null(strstr(body, "\"holderIdentity\":\"me\""));
    assert_non_null(strstr(body, "\"leaseDurationSeconds\":15"));
    assert_non_null(strstr(body, "\"leaseTransitions\":0"));
    assert_non_null(strstr(body, "\"acquireTime\":\""));
    assert_int_equal(osb_kube_lease_terms(f->lease), 1);
}

static void test_a_holder_renews_with_one_request_and_keeps_what_others_wrote(void **state)
{
    struct fixture *f = *state;
    lead(f);
    expect_next(f, 3, "PUT", PATH);
    const char *body = f->script->requests[2].body;
    assert_non_null(strstr(body, "\"resourceVersion\":\"7\""));
    assert_non_null(strstr(body, "\"labels\":{\"a\":\"b\"}"));
    assert_non_null(strstr(body, "\"leaseTransitions\":4"));
    assert_non_null(strstr(body, "\"acquireTime\":\"2026-01-01T00:00:00.000000Z\""));
    answer(f, 3, 200, "me", 8);
    assert_int_equal(f->changes, 1);
}

static void test_the_lease_of_another_is_taken_when_it_has_not_moved_for_its_duration(void **state)
{
    struct fixture *f = *state;
    int count = 1;
    uint64_t start = osb_loop_now_ns(f->loop);
    answer(f, count, 200, "other", 3);
    assert_string_equal(osb_kube_lease_holder(f->lease), "other");
    while (strcmp(f->script->requests[count - 1].method, "GET") == 0) {
        expect_next(f, ++count, "GET", PATH);
        answer(f, count, 200, "other", 3);
        count = f->script->count;
    }
    uint64_t waited_ms = (osb_loop_now_ns(f->loop) - start) / 1000000;
    assert_in_range(waited_ms, OSB_LEASE_DURATION_MS, OSB_LEASE_DURATION_MS + 2500);
    expect_request(f, count, "PUT", PATH);
    assert_non_null(strstr(f->script->requests[count - 1].body, "\"leaseTransitions\":5"));
    assert_false(f->leads);
    answer(f, count, 200, "me", 4);
    assert_true(f->leads);
}

static void test_a_lease_that_moves_is_not_taken(void **state)
{
    struct fixture *f = *state;
    answer(f, 1, 200, "other", 1);
    for (int count = 2; count < 40; count++) {
        expect_next(f, count, "GET", PATH);
        answer(f, count, 200, "other", count);
    }
    assert_int_equal(f->changes, 0);
}

static void test_a_lease_that_was_given_back_is_taken_at_once(void **state)
{
    struct fixture *f = *state;
    answer(f, 1, 200, "", 3);
    expect_request(f, 2, "PUT", PATH);
    answer(f, 2, 200, "me", 4);
    assert_true(f->leads);
}

static void test_of_two_that_take_it_one_wins(void **state)
{
    struct fixture *f = *state;
    answer(f, 1, 200, "", 3);
    refuse(f, 2, 409);
    assert_false(f->leads);
    assert_int_equal(f->failures, 0);
    expect_next(f, 3, "GET", PATH);
    answer(f, 3, 200, "other", 4);
    expect_next(f, 4, "GET", PATH);
    assert_int_equal(f->changes, 0);
}

static void test_who_cannot_renew_stops_before_another_may_begin(void **state)
{
    struct fixture *f = *state;
    lead(f);
    uint64_t start = osb_loop_now_ns(f->loop);
    for (int count = 3; f->leads; count++) {
        while (f->leads && f->script->count < count)
            advance_ms(f, 10);
        if (f->leads)
            refuse(f, count, 503);
    }
    uint64_t led_ms = (osb_loop_now_ns(f->loop) - start) / 1000000;
    assert_in_range(led_ms, OSB_LEASE_RENEW_DEADLINE_MS - 10, OSB_LEASE_RENEW_DEADLINE_MS + 10);
    assert_true(led_ms < OSB_LEASE_DURATION_MS);
    assert_true(f->failures >= 3);
}

static void test_requests_without_an_answer_are_given_up_and_leading_ends_in_time(void **state)
{
    struct fixture *f = *state;
    lead(f);
    advance_ms(f, OSB_LEASE_RENEW_DEADLINE_MS - 10);
    assert_true(f->leads);
    advance_ms(f, 20);
    assert_false(f->leads);
    /* and no more than one request is on its way, a few in all */
    int open = 0;
    for (int i = 0; i < f->script->count; i++)
        open += f->script->requests[i].is_open;
    assert_true(open <= 1);
    assert_true(f->script->count <= 6);
}

static void test_time_counts_from_the_request_and_not_from_its_answer(void **state)
{
    struct fixture *f = *state;
    refuse(f, 1, 404);
    advance_ms(f, 3000);
    answer(f, 2, 201, "me", 7);
    assert_true(f->leads);
    advance_ms(f, OSB_LEASE_RENEW_DEADLINE_MS - 3000 - 10);
    assert_true(f->leads);
    advance_ms(f, 20);
    assert_false(f->leads);
}

static void test_a_renewal_whose_answer_was_lost_is_no_loss(void **state)
{
    struct fixture *f = *state;
    lead(f);
    expect_next(f, 3, "PUT", PATH); /* done by the server, unanswered */
    advance_ms(f, OSB_LEASE_RENEW_DEADLINE_MS / 3);
    expect_next(f, 4, "GET", PATH);
    answer(f, 4, 200, "me", 8);
    expect_request(f, 5, "PUT", PATH);
    answer(f, 5, 200, "me", 9);
    assert_true(f->leads);
    assert_int_equal(f->changes, 1);
}

static void test_somebody_else_in_the_lease_ends_leading_at_once(void **state)
{
    struct fixture *f = *state;
    lead(f);
    expect_next(f, 3, "PUT", PATH);
    refuse(f, 3, 409);
    expect_next(f, 4, "GET", PATH);
    answer(f, 4, 200, "other", 9);
    assert_false(f->leads);
}

static void test_a_lease_that_is_released_can_be_taken_at_once(void **state)
{
    struct fixture *f = *state;
    lead(f);
    osb_kube_lease_release(f->lease, on_released, f);
    assert_false(f->leads);
    assert_false(f->is_released);
    expect_request(f, 3, "PUT", PATH);
    assert_non_null(strstr(f->script->requests[2].body, "\"holderIdentity\":\"\""));
    answer(f, 3, 200, "", 8);
    assert_true(f->is_released);
    advance_ms(f, 60000);
    assert_int_equal(f->script->count, 3);
}

static void test_a_release_during_a_renewal_waits_for_its_answer(void **state)
{
    struct fixture *f = *state;
    lead(f);
    expect_next(f, 3, "PUT", PATH);
    osb_kube_lease_release(f->lease, on_released, f);
    assert_int_equal(f->script->count, 3);
    answer(f, 3, 200, "me", 8);
    assert_false(f->leads);
    expect_request(f, 4, "PUT", PATH);
    assert_non_null(strstr(f->script->requests[3].body, "\"resourceVersion\":\"8\""));
    answer(f, 4, 200, "", 9);
    assert_true(f->is_released);
}

static void test_a_release_without_an_answer_ends_in_time(void **state)
{
    struct fixture *f = *state;
    lead(f);
    osb_kube_lease_release(f->lease, on_released, f);
    advance_ms(f, OSB_LEASE_RELEASE_TIMEOUT_MS - 10);
    assert_false(f->is_released);
    advance_ms(f, 20);
    assert_true(f->is_released);
    assert_int_equal(f->script->count, 3);
}

static void test_who_does_not_lead_has_nothing_to_release(void **state)
{
    struct fixture *f = *state;
    osb_kube_lease_release(f->lease, on_released, f);
    assert_false(f->is_released);
    osb_loop_sim_settle(f->loop);
    assert_true(f->is_released);
    assert_int_equal(f->script->count, 1);
}

static void test_answers_that_are_no_lease_are_failures(void **state)
{
    struct fixture *f = *state;
    script_answer(script_last(f->script, 1), 200, "{");
    osb_loop_sim_settle(f->loop);
    assert_int_equal(f->failures, 1);
    expect_next(f, 2, "GET", PATH);
    script_answer(script_last(f->script, 2), 200, "{\"metadata\":{},\"spec\":{}}");
    osb_loop_sim_settle(f->loop);
    /* nobody holds it: it is there to be taken */
    expect_request(f, 3, "PUT", PATH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(test_a_lease_that_is_not_there_is_made_and_held),
        TEST(test_a_holder_renews_with_one_request_and_keeps_what_others_wrote),
        TEST(test_the_lease_of_another_is_taken_when_it_has_not_moved_for_its_duration),
        TEST(test_a_lease_that_moves_is_not_taken),
        TEST(test_a_lease_that_was_given_back_is_taken_at_once),
        TEST(test_of_two_that_take_it_one_wins),
        TEST(test_who_cannot_renew_stops_before_another_may_begin),
        TEST(test_requests_without_an_answer_are_given_up_and_leading_ends_in_time),
        TEST(test_time_counts_from_the_request_and_not_from_its_answer),
        TEST(test_a_renewal_whose_answer_was_lost_is_no_loss),
        TEST(test_somebody_else_in_the_lease_ends_leading_at_once),
        TEST(test_a_lease_that_is_released_can_be_taken_at_once),
        TEST(test_a_release_during_a_renewal_waits_for_its_answer),
        TEST(test_a_release_without_an_answer_ends_in_time),
        TEST(test_who_does_not_lead_has_nothing_to_release),
        TEST(test_answers_that_are_no_lease_are_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
