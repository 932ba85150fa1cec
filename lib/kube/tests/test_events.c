// SPDX-License-Identifier: Apache-2.0
#include <osb/alloc.h>
#include <osb/kube_events.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// cmocka needs the ones above first
#include <cmocka.h>

#include "script_transport.h"

struct fixture {
    struct osb_loop *loop;
    struct script *script;
    struct osb_kube_client *client;
    struct osb_kube_events *events;
    struct osb_kube_ref about;
};

static const char *const annotations[] = {"x/request-id", "r-1", "x/none", NULL, NULL};

static int set_up(void **state)
{
    struct fixture *f = osb_new(struct fixture);
    assert_int_equal(osb_loop_new_sim(&f->loop, NULL), 0);
    f->script = script_new();
    f->client = osb_kube_client_new(f->loop, &f->script->transport);
    f->events = osb_kube_events_new(f->loop, f->client, "tester");
    f->about = (struct osb_kube_ref){.kind = &osb_kind_pod,
                                     .namespace_ = "n",
                                     .name = "p",
                                     .uid = "u",
                                     .annotations = annotations};
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    osb_kube_events_free(f->events);
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

static void test_an_event_says_who_and_what(void **state)
{
    struct fixture *f = *state;
    osb_kube_event(f->events, &f->about, true, "Bad", "it went %s", "wrong");
    osb_loop_sim_settle(f->loop);
    struct script_request *request = script_last(f->script, 1);
    assert_string_equal(request->method, "POST");
    assert_string_equal(request->path, "/api/v1/namespaces/n/events");
    static const char *const parts[] = {
        "\"kind\":\"Event\"",
        "\"involvedObject\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"namespace\":\"n\","
        "\"name\":\"p\",\"uid\":\"u\"}",
        "\"type\":\"Warning\"",
        "\"reason\":\"Bad\"",
        "\"message\":\"it went wrong\"",
        "\"source\":{\"component\":\"tester\"}",
        "\"count\":1",
        "\"annotations\":{\"x/request-id\":\"r-1\"}",
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        assert_non_null(strstr(request->body, parts[i]));
    script_answer(request, 201, "{}");
}

static void test_the_same_words_become_one_event_with_a_count(void **state)
{
    struct fixture *f = *state;
    osb_kube_event(f->events, &f->about, false, "Good", "same");
    osb_kube_event(f->events, &f->about, false, "Good", "same");
    osb_loop_sim_settle(f->loop);
    assert_non_null(strstr(script_last(f->script, 1)->body, "\"count\":2"));
    osb_kube_event(f->events, &f->about, false, "Good", "same"); /* while it is sent */
    osb_kube_event(f->events, &f->about, false, "Good", "other");
    osb_loop_sim_settle(f->loop);
    script_answer(script_last(f->script, 1), 201, "{}");
    osb_loop_sim_settle(f->loop);
    script_answer(script_last(f->script, 2), 201, "{}");
    osb_loop_sim_settle(f->loop);
    struct script_request *patch = script_last(f->script, 3);
    assert_string_equal(patch->method, "PATCH");
    assert_non_null(strstr(patch->body, "\"count\":3"));
    script_answer(patch, 200, "{}");

    advance_ms(f, (OSB_EVENTS_WINDOW_S + 1) * 1000ULL);
    osb_kube_event(f->events, &f->about, false, "Good", "same");
    osb_loop_sim_settle(f->loop);
    assert_string_equal(script_last(f->script, 4)->method, "POST"); /* a new one after the window */
    script_answer(script_last(f->script, 4), 201, "{}");
}

static void test_an_event_that_aged_out_on_the_server_begins_anew(void **state)
{
    struct fixture *f = *state;
    osb_kube_event(f->events, &f->about, false, "Good", "same");
    osb_loop_sim_settle(f->loop);
    script_answer(script_last(f->script, 1), 201, "{}");
    osb_kube_event(f->events, &f->about, false, "Good", "same");
    osb_loop_sim_settle(f->loop);
    script_answer(script_last(f->script, 2), 404, "{}");
    osb_loop_sim_settle(f->loop);
    assert_string_equal(script_last(f->script, 3)->method, "POST");
    script_answer(script_last(f->script, 3), 409,
                  "{\"kind\":\"Status\",\"reason\":\"AlreadyExists\"}");
    assert_int_equal(osb_kube_events_lost(f->events), 0);
}

static void on_refusal(int r, const char *reason, const char *namespace_, const struct osb_err *err,
                       void *arg)
{
    int *refusals = arg;
    assert_true(r < 0);
    assert_string_equal(reason, "Good");
    assert_string_equal(namespace_, "n");
    assert_non_null(err);
    ++*refusals;
}

static void test_a_failing_server_is_tried_again_and_then_given_up(void **state)
{
    struct fixture *f = *state;
    int refusals = 0;
    osb_kube_events_on_refusal(f->events, on_refusal, &refusals);
    osb_kube_event(f->events, &f->about, false, "Good", "same");
    osb_loop_sim_settle(f->loop);
    for (int i = 1; i <= OSB_EVENTS_MAX_ATTEMPTS; i++) {
        script_answer(script_last(f->script, i), 503, "");
        advance_ms(f, 10000);
    }
    script_last(f->script, OSB_EVENTS_MAX_ATTEMPTS);
    assert_int_equal(osb_kube_events_lost(f->events), 1);
    osb_kube_event(f->events, &f->about, false, "Good", "next");
    osb_loop_sim_settle(f->loop);
    script_answer(script_last(f->script, OSB_EVENTS_MAX_ATTEMPTS + 1), 403, "");
    assert_int_equal(osb_kube_events_lost(f->events), 2);
    assert_int_equal(refusals, 2);
}

static void test_the_queue_is_bounded_and_counts_what_it_loses(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < OSB_EVENTS_MAX_QUEUED + 50; i++)
        osb_kube_event(f->events, &f->about, false, "Good", "number %d", i);
    assert_int_equal(osb_kube_events_lost(f->events), 50);
    osb_loop_sim_settle(f->loop);
    script_last(f->script, 1); /* one at a time */
}

static void test_a_long_message_is_cut_between_characters(void **state)
{
    struct fixture *f = *state;
    char text[2000];
    memset(text, 'a', sizeof(text));
    text[OSB_EVENTS_MAX_MESSAGE - 1] = (char)0xC3;
    text[OSB_EVENTS_MAX_MESSAGE] = (char)0xA9;
    text[sizeof(text) - 1] = '\0';
    osb_kube_event(f->events, &f->about, false, "Good", "%s", text);
    osb_loop_sim_settle(f->loop);
    const char *message = strstr(script_last(f->script, 1)->body, "\"message\":\"") + 11;
    assert_int_equal(strspn(message, "a"), OSB_EVENTS_MAX_MESSAGE - 1);
    assert_int_equal(message[OSB_EVENTS_MAX_MESSAGE - 1], '"');
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_event_says_who_and_what),
        TEST(test_the_same_words_become_one_event_with_a_count),
        TEST(test_an_event_that_aged_out_on_the_server_begins_anew),
        TEST(test_a_failing_server_is_tried_again_and_then_given_up),
        TEST(test_the_queue_is_bounded_and_counts_what_it_loses),
        TEST(test_a_long_message_is_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
