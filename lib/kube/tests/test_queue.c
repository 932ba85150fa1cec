// SPDX-License-Identifier: Apache-2.0
#include <osb/alloc.h>
#include <osb/buf.h>
#include <osb/kube_queue.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// cmocka needs the ones above first
#include <cmocka.h>

struct fixture {
    struct osb_loop *loop;
    struct osb_kube_queue *queue;
    struct osb_buf begun; /* keys handed out, each with a blank behind */
    bool is_manual;       /* the test ends the work */
    int r;
    uint64_t after_ms;
};

static void work(struct osb_kube_queue *queue, const char *key, void *arg)
{
    struct fixture *f = arg;
    osb_buf_appendf(&f->begun, "%s ", key);
    if (!f->is_manual)
        osb_kube_queue_done(queue, key, f->r, f->after_ms);
}

static int set_up(void **state)
{
    struct fixture *f = osb_new(struct fixture);
    assert_int_equal(osb_loop_new_sim(&f->loop, NULL), 0);
    f->queue = osb_kube_queue_new(f->loop, 2, 7, work, f);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    osb_kube_queue_free(f->queue);
    osb_loop_free(f->loop);
    osb_buf_done(&f->begun);
    free(f);
    return 0;
}

static void advance_ms(struct fixture *f, uint64_t ms)
{
    osb_loop_sim_advance(f->loop, ms * 1000000);
    osb_loop_sim_settle(f->loop);
}

#define assert_begun(f, text)                                                                      \
    do {                                                                                           \
        assert_string_equal(osb_buf_cstr(&(f)->begun), (text));                                    \
        osb_buf_clear(&(f)->begun);                                                                \
    } while (0)

static void test_a_key_added_twice_is_worked_on_once_and_never_at_once(void **state)
{
    struct fixture *f = *state;
    osb_kube_queue_add(f->queue, "a");
    osb_kube_queue_add(f->queue, "b");
    osb_kube_queue_add(f->queue, "a");
    assert_begun(f, "");
    assert_int_equal(osb_kube_queue_depth(f->queue), 2);
    osb_loop_sim_settle(f->loop);
    assert_begun(f, "a b ");
    assert_int_equal(osb_kube_queue_depth(f->queue), 0);
}

static void test_a_key_added_while_worked_on_comes_again_after(void **state)
{
    struct fixture *f = *state;
    f->is_manual = true;
    osb_kube_queue_add(f->queue, "a");
    osb_loop_sim_settle(f->loop);
    osb_kube_queue_add(f->queue, "a");
    osb_kube_queue_add(f->queue, "a");
    osb_loop_sim_settle(f->loop);
    assert_begun(f, "a ");
    osb_kube_queue_done(f->queue, "a", 0, 0);
    osb_loop_sim_settle(f->loop);
    assert_begun(f, "a ");
    osb_kube_queue_done(f->queue, "a", 0, 0);
    advance_ms(f, 1000000);
    assert_begun(f, "");
}

static void test_no_more_keys_than_allowed_are_out_at_a_time(void **state)
{
    struct fixture *f = *state;
    f->is_manual = true;
    osb_kube_queue_add(f->queue, "a");
    osb_kube_queue_add(f->queue, "b");
    osb_kube_queue_add(f->queue, "c");
    osb_loop_sim_settle(f->loop);
    assert_begun(f, "a b ");
    osb_kube_queue_done(f->queue, "b", 0, 0);
    osb_loop_sim_settle(f->loop);
    assert_begun(f, "c ");
    osb_kube_queue_done(f->queue, "a", 0, 0);
    osb_kube_queue_done(f->queue, "c", 0, 0);
}

static void test_errors_back_off_further_and_further_and_success_forgets_them(void **state)
{
    struct fixture *f = *state;
    f->r = -OSB_E_UNAVAILABLE;
    osb_kube_queue_add(f->queue, "a");
    osb_loop_sim_settle(f->loop);
    uint64_t longest_ms = 0;
    int tries = 1;
    for (uint64_t waited_ms = 0; tries < 18; waited_ms++) {
        osb_buf_clear(&f->begun);
        advance_ms(f, 1);
        if (f->begun.len == 0)
            continue;
        tries++;
        if (waited_ms > longest_ms)
            longest_ms = waited_ms;
        waited_ms = 0;
    }
    assert_true(longest_ms > OSB_QUEUE_BACKOFF_MAX_MS / 4);
    assert_true(longest_ms <= OSB_QUEUE_BACKOFF_MAX_MS);
    assert_int_equal(osb_kube_queue_retries(f->queue), 18);

    f->r = 0;
    advance_ms(f, OSB_QUEUE_BACKOFF_MAX_MS + 1);
    osb_buf_clear(&f->begun);
    f->r = -OSB_E_UNAVAILABLE;
    osb_kube_queue_add(f->queue, "a");
    osb_loop_sim_settle(f->loop);
    advance_ms(f, OSB_QUEUE_BACKOFF_MIN_MS + 1);
    assert_begun(f, "a a ");
}

static void test_news_do_not_wait_for_a_back_off(void **state)
{
    struct fixture *f = *state;
    f->r = -OSB_E_UNAVAILABLE;
    osb_kube_queue_add(f->queue, "a");
    osb_loop_sim_settle(f->loop);
    assert_begun(f, "a ");
    f->r = 0;
    osb_kube_queue_add(f->queue, "a");
    osb_loop_sim_settle(f->loop);
    assert_begun(f, "a ");
    advance_ms(f, 1000000);
    assert_begun(f, "");
}

static void test_the_earlier_of_two_delays_wins(void **state)
{
    struct fixture *f = *state;
    osb_kube_queue_add_after(f->queue, "a", 500);
    osb_kube_queue_add_after(f->queue, "a", 100);
    osb_kube_queue_add_after(f->queue, "a", 300);
    advance_ms(f, 99);
    assert_begun(f, "");
    advance_ms(f, 1);
    assert_begun(f, "a ");
    advance_ms(f, 1000);
    assert_begun(f, "");
}

static void test_work_can_ask_to_come_again(void **state)
{
    struct fixture *f = *state;
    f->after_ms = 1000;
    osb_kube_queue_add(f->queue, "a");
    osb_loop_sim_settle(f->loop);
    advance_ms(f, 999);
    assert_begun(f, "a ");
    f->after_ms = 0;
    advance_ms(f, 1);
    assert_begun(f, "a ");
}

static void test_a_paused_queue_hands_out_nothing_and_loses_nothing(void **state)
{
    struct fixture *f = *state;
    osb_kube_queue_pause(f->queue);
    osb_kube_queue_add(f->queue, "a");
    osb_kube_queue_add_after(f->queue, "b", 10);
    advance_ms(f, 100);
    assert_begun(f, "");
    osb_kube_queue_resume(f->queue);
    osb_loop_sim_settle(f->loop);
    assert_begun(f, "a b ");
}

static void test_freeing_with_work_out_and_timers_set_is_clean(void **state)
{
    struct fixture *f = *state;
    f->is_manual = true;
    osb_kube_queue_add(f->queue, "a");
    osb_kube_queue_add_after(f->queue, "b", 10);
    osb_loop_sim_settle(f->loop);
    assert_begun(f, "a ");
}

static void test_expectations_are_met_when_seen(void **state)
{
    struct fixture *f = *state;
    struct osb_kube_expectations *e = osb_kube_expectations_new(f->loop);
    uint64_t left_ms = 0;
    assert_true(osb_kube_expectations_are_met(e, "o", &left_ms));
    osb_kube_expect_create(e, "o", "p-0");
    osb_kube_expect_create(e, "o", "p-1");
    osb_kube_expect_delete(e, "o", "p-1");
    assert_false(osb_kube_expectations_are_met(e, "o", &left_ms));
    assert_int_equal(left_ms, OSB_EXPECTATION_TIMEOUT_MS);
    osb_kube_observe_create(e, "o", "p-0");
    osb_kube_observe_create(e, "o", "p-1");
    osb_kube_observe_create(e, "other", "p-1");
    assert_false(osb_kube_expectations_are_met(e, "o", NULL));
    osb_kube_observe_delete(e, "o", "p-1");
    assert_true(osb_kube_expectations_are_met(e, "o", NULL));
    osb_kube_expect_create(e, "o", "p-2");
    osb_kube_expectations_forget(e, "o");
    assert_true(osb_kube_expectations_are_met(e, "o", NULL));
    osb_kube_expect_create(e, "left", "p"); /* freed with the rest */
    osb_kube_expectations_free(e);
}

static void test_an_expectation_that_is_never_met_ends(void **state)
{
    struct fixture *f = *state;
    struct osb_kube_expectations *e = osb_kube_expectations_new(f->loop);
    uint64_t left_ms = 0;
    osb_kube_expect_create(e, "o", "p-0");
    advance_ms(f, OSB_EXPECTATION_TIMEOUT_MS - 10);
    assert_false(osb_kube_expectations_are_met(e, "o", &left_ms));
    assert_int_equal(left_ms, 10);
    advance_ms(f, 10);
    assert_true(osb_kube_expectations_are_met(e, "o", &left_ms));
    osb_kube_expectations_free(e);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_key_added_twice_is_worked_on_once_and_never_at_once),
        TEST(test_a_key_added_while_worked_on_comes_again_after),
        TEST(test_no_more_keys_than_allowed_are_out_at_a_time),
        TEST(test_errors_back_off_further_and_further_and_success_forgets_them),
        TEST(test_news_do_not_wait_for_a_back_off),
        TEST(test_the_earlier_of_two_delays_wins),
        TEST(test_work_can_ask_to_come_again),
        TEST(test_a_paused_queue_hands_out_nothing_and_loses_nothing),
        TEST(test_freeing_with_work_out_and_timers_set_is_clean),
        TEST(test_expectations_are_met_when_seen),
        TEST(test_an_expectation_that_is_never_met_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
