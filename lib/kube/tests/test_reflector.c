// SPDX-License-Identifier: Apache-2.0
/* The reflector on a virtual clock, with the test as the API server. */
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/kube_reflector.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// cmocka needs the ones above first
#include <cmocka.h>

#include "reflector_core.h"
#include "script_transport.h"
#include "thing.h"

struct fixture {
    struct osb_loop *loop;
    struct script *script;
    struct osb_kube_client *client;
    struct osb_kube_store *store;
    struct osb_kube_reflector *reflector;
    int synced;
};

static void on_sync(void *arg)
{
    struct fixture *f = arg;
    f->synced++;
}

static int set_up(void **state)
{
    struct fixture *f = osb_new(struct fixture);
    struct osb_kube_reflector_options options = {
        .kind = &osb_kind_pod, .label_selector = "a=b,c", .page_size = 2, .seed = 11};
    assert_int_equal(osb_loop_new_sim(&f->loop, NULL), 0);
    f->script = script_new();
    f->client = osb_kube_client_new(f->loop, &f->script->transport);
    f->store = osb_kube_store_new(&thing_projection);
    f->reflector = osb_kube_reflector_new(f->loop, f->client, f->store, &options);
    osb_kube_reflector_on_sync(f->reflector, on_sync, f);
    osb_kube_reflector_start(f->reflector);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    osb_kube_reflector_free(f->reflector);
    osb_kube_store_free(f->store);
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

static char *list_text(int version, const char *continue_token, const char *a, const char *b)
{
    _cleanup_free_ char *item_a = a ? thing_text("n", a, version - 1, "red") : NULL;
    _cleanup_free_ char *item_b = b ? thing_text("n", b, version, "red") : NULL;
    return osb_asprintf("{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"%d\","
                        "\"continue\":\"%s\"},\"items\":[%s%s%s]}",
                        version, continue_token, a ? item_a : "", a && b ? "," : "",
                        b ? item_b : "");
}

static void answer_list(struct script_request *request, int version, const char *continue_token,
                        const char *a, const char *b)
{
    _cleanup_free_ char *text = list_text(version, continue_token, a, b);
    assert_non_null(strstr(request->path, "?limit=2"));
    script_answer(request, 200, text);
}

static void send_event(struct script_request *request, const char *type, const char *name,
                       int version)
{
    _cleanup_free_ char *object = thing_text("n", name, version, "red");
    _cleanup_free_ char *line = osb_asprintf("{\"type\":\"%s\",\"object\":%s}\n", type, object);
    script_data(request, line);
}

static struct script_request *expect_watch(struct fixture *f, int count, const char *version)
{
    struct script_request *request = script_last(f->script, count);
    _cleanup_free_ char *from = osb_asprintf("&resourceVersion=%s&", version);
    assert_non_null(strstr(request->path, "?watch=true&allowWatchBookmarks=true&timeoutSeconds="));
    assert_non_null(strstr(request->path, from));
    assert_non_null(strstr(request->path, "&labelSelector=a%3Db%2Cc"));
    assert_true(request->timeout_ms >= (REFLECTOR_WATCH_MIN_S + REFLECTOR_WATCH_SLACK_S) * 1000);
    script_begin(request);
    return request;
}

/* Lists one object "a" of version 10 and opens the watch; the second request. */
static struct script_request *list_and_watch(struct fixture *f)
{
    answer_list(script_last(f->script, 1), 10, "", NULL, "a");
    osb_loop_sim_settle(f->loop);
    return expect_watch(f, 2, "10");
}

static void test_pages_are_listed_then_watched_from_the_lists_version(void **state)
{
    struct fixture *f = *state;
    struct script_request *first = script_last(f->script, 1);
    assert_string_equal(first->path, "/api/v1/pods?limit=2&labelSelector=a%3Db%2Cc");
    answer_list(first, 10, "to ken", "a", "b");
    assert_false(osb_kube_reflector_is_synced(f->reflector));
    struct script_request *second = script_last(f->script, 2);
    assert_non_null(strstr(second->path, "&continue=to%20ken"));
    answer_list(second, 10, "", "c", NULL);
    osb_loop_sim_settle(f->loop);
    assert_int_equal(f->synced, 1);
    assert_int_equal(osb_kube_store_count(f->store), 3);
    struct script_request *watch = expect_watch(f, 3, "10");
    send_event(watch, "ADDED", "d", 11);
    send_event(watch, "DELETED", "a", 12);
    assert_int_equal(osb_kube_store_count(f->store), 3);
    assert_null(osb_kube_store_get(f->store, "n", "a"));
    assert_int_equal(f->synced, 1);
}

static void test_a_late_listener_is_told_too(void **state)
{
    struct fixture *f = *state;
    list_and_watch(f);
    osb_kube_reflector_on_sync(f->reflector, on_sync, f);
    assert_int_equal(f->synced, 1);
    osb_loop_sim_settle(f->loop);
    assert_int_equal(f->synced, 2);
}

static void test_a_watch_that_ends_goes_on_where_it_was(void **state)
{
    struct fixture *f = *state;
    struct script_request *watch = list_and_watch(f);
    send_event(watch, "MODIFIED", "a", 15);
    script_data(watch, "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":"
                       "{\"resourceVersion\":\"99\"}}}\n");
    advance_ms(f, 60000);
    script_end(watch, 0);
    expect_watch(f, 3, "99");
    assert_int_equal(osb_kube_reflector_relists(f->reflector), 0);
}

static void test_a_watch_cut_in_mid_line_comes_again_after_a_back_off(void **state)
{
    struct fixture *f = *state;
    struct script_request *watch = list_and_watch(f);
    send_event(watch, "ADDED", "b", 11);
    script_data(watch, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"na");
    advance_ms(f, 60000);
    script_end(watch, 0);
    script_last(f->script, 2);
    advance_ms(f, REFLECTOR_BACKOFF_MIN_MS + 1);
    watch = expect_watch(f, 3, "11");
    send_event(watch, "ADDED", "c", 12); /* the half line is forgotten */
    assert_int_equal(osb_kube_store_count(f->store), 3);
}

static void test_a_watch_that_is_too_old_lists_anew_and_drops_what_went_meanwhile(void **state)
{
    struct fixture *f = *state;
    struct script_request *watch = list_and_watch(f);
    script_data(watch, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,"
                       "\"reason\":\"Expired\"}}\n");
    osb_loop_sim_settle(f->loop);
    assert_true(f->script->requests[1].is_cancelled);
    answer_list(script_last(f->script, 3), 20, "", NULL, "z");
    assert_null(osb_kube_store_get(f->store, "n", "a"));
    assert_non_null(osb_kube_store_get(f->store, "n", "z"));
    expect_watch(f, 4, "20");
    assert_int_equal(osb_kube_reflector_relists(f->reflector), 1);
    assert_int_equal(f->synced, 1);
}

static void test_a_410_answer_to_the_watch_lists_anew_at_once(void **state)
{
    struct fixture *f = *state;
    answer_list(script_last(f->script, 1), 10, "", NULL, "a");
    script_answer(script_last(f->script, 2), 410,
                  "{\"kind\":\"Status\",\"reason\":\"Expired\",\"code\":410}");
    assert_non_null(strstr(script_last(f->script, 3)->path, "?limit=2"));
    assert_int_equal(osb_kube_store_count(f->store), 1); /* kept until the list has ended */
}

static void test_a_server_that_says_410_for_ever_is_asked_slowly(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 10; i++) {
        if (f->script->requests[f->script->count - 1].is_open)
            script_answer(&f->script->requests[f->script->count - 1], 410, "");
        advance_ms(f, 100);
    }
    assert_true(f->script->count <= 6);
}

static void test_a_page_token_that_expires_starts_the_list_from_the_top(void **state)
{
    struct fixture *f = *state;
    answer_list(script_last(f->script, 1), 10, "t", "a", "b");
    script_answer(script_last(f->script, 2), 410, "");
    assert_null(strstr(script_last(f->script, 3)->path, "continue="));
    answer_list(script_last(f->script, 3), 12, "", "b", NULL);
    assert_int_equal(osb_kube_store_count(f->store), 1);
    assert_non_null(osb_kube_store_get(f->store, "n", "b"));
}

static void test_retry_after_is_honoured(void **state)
{
    struct fixture *f = *state;
    script_answer_later(script_last(f->script, 1), 429, 7, "");
    advance_ms(f, 6999);
    script_last(f->script, 1);
    advance_ms(f, 1);
    answer_list(script_last(f->script, 2), 10, "", NULL, "a");
    script_answer_later(script_last(f->script, 3), 503, 3, "");
    advance_ms(f, 2999);
    script_last(f->script, 3);
    advance_ms(f, 1);
    expect_watch(f, 4, "10");
}

static void test_a_network_that_fails_is_tried_again_further_and_further_apart(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 40; i++) {
        script_end(&f->script->requests[f->script->count - 1], -OSB_E_UNAVAILABLE);
        advance_ms(f, REFLECTOR_BACKOFF_MAX_MS);
    }
    int before = f->script->count;
    script_end(&f->script->requests[before - 1], -OSB_E_UNAVAILABLE);
    advance_ms(f, REFLECTOR_BACKOFF_MAX_MS / 2 - 1);
    assert_int_equal(f->script->count, before);
    advance_ms(f, REFLECTOR_BACKOFF_MAX_MS / 2 + 1);
    assert_int_equal(f->script->count, before + 1);
    answer_list(script_last(f->script, before + 1), 10, "", NULL, "a");
    assert_true(osb_kube_reflector_is_synced(f->reflector));
}

static void test_a_request_that_cannot_even_begin_is_tried_again(void **state)
{
    struct fixture *f = *state;
    f->script->refuse = 1;
    answer_list(script_last(f->script, 1), 10, "", NULL, "a");
    script_last(f->script, 1);
    advance_ms(f, REFLECTOR_BACKOFF_MIN_MS);
    expect_watch(f, 2, "10");
}

static void test_watches_that_end_at_once_do_not_spin(void **state)
{
    struct fixture *f = *state;
    list_and_watch(f);
    for (int i = 0; i < 20; i++) {
        if (f->script->requests[f->script->count - 1].is_open)
            script_end(&f->script->requests[f->script->count - 1], 0);
        advance_ms(f, 50);
    }
    assert_true(f->script->count <= 6);
}

static void test_an_event_that_cannot_be_read_leads_to_a_new_list(void **state)
{
    static const char *const bad[] = {
        "no json\n",
        "{\"type\":\"ADDED\"}\n",
        "{\"type\":\"SHOUT\",\"object\":{\"metadata\":{\"name\":\"x\"}}}\n",
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":7}}\n",
        "[]\n",
    };
    struct fixture *f = *state;
    struct script_request *watch = list_and_watch(f);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        script_data(watch, bad[i]);
        osb_loop_sim_settle(f->loop);
        assert_true(watch->is_cancelled);
        advance_ms(f, REFLECTOR_BACKOFF_MAX_MS);
        answer_list(&f->script->requests[f->script->count - 1], 20 + (int)i, "", NULL, "a");
        watch = &f->script->requests[f->script->count - 1];
        script_begin(watch);
    }
}

static void test_an_object_that_its_projection_refuses_is_passed_over(void **state)
{
    struct fixture *f = *state;
    struct script_request *watch = list_and_watch(f);
    script_data(watch, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"x\","
                       "\"namespace\":\"n\",\"resourceVersion\":\"30\"},\"color\":\"refused\"}}\n");
    osb_loop_sim_settle(f->loop);
    assert_true(watch->is_open);
    assert_int_equal(osb_kube_store_skipped(f->store), 1);
    advance_ms(f, 60000);
    script_end(watch, 0);
    expect_watch(f, 3, "30");
}

static void test_half_a_list_is_no_list(void **state)
{
    struct fixture *f = *state;
    struct script_request *watch = list_and_watch(f);
    script_data(watch, "{\"type\":\"ERROR\",\"object\":{\"code\":410}}\n");
    osb_loop_sim_settle(f->loop);
    script_answer(script_last(f->script, 3), 200,
                  "{\"metadata\":{\"resourceVersion\":\"30\"},\"items\":[");
    assert_int_equal(osb_kube_store_count(f->store), 1);
    advance_ms(f, REFLECTOR_BACKOFF_MAX_MS);
    script_answer(script_last(f->script, 4), 200, "{\"metadata\":{},\"items\":[]}");
    assert_int_equal(osb_kube_store_count(f->store), 1);
    advance_ms(f, REFLECTOR_BACKOFF_MAX_MS);
    script_answer(script_last(f->script, 5), 200,
                  "{\"metadata\":{\"resourceVersion\":\"30\"},\"items\":null}");
    assert_int_equal(osb_kube_store_count(f->store), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_pages_are_listed_then_watched_from_the_lists_version),
        TEST(test_a_late_listener_is_told_too),
        TEST(test_a_watch_that_ends_goes_on_where_it_was),
        TEST(test_a_watch_cut_in_mid_line_comes_again_after_a_back_off),
        TEST(test_a_watch_that_is_too_old_lists_anew_and_drops_what_went_meanwhile),
        TEST(test_a_410_answer_to_the_watch_lists_anew_at_once),
        TEST(test_a_server_that_says_410_for_ever_is_asked_slowly),
        TEST(test_a_page_token_that_expires_starts_the_list_from_the_top),
        TEST(test_retry_after_is_honoured),
        TEST(test_a_network_that_fails_is_tried_again_further_and_further_apart),
        TEST(test_a_request_that_cannot_even_begin_is_tried_again),
        TEST(test_watches_that_end_at_once_do_not_spin),
        TEST(test_an_event_that_cannot_be_read_leads_to_a_new_list),
        TEST(test_an_object_that_its_projection_refuses_is_passed_over),
        TEST(test_half_a_list_is_no_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
