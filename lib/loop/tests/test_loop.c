// SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include <fcntl.h>
#include <osb/alloc.h>
#include <osb/clock.h>
#include <pthread.h>
#include <signal.h>

/* ---- a record of what ran ---- */

static char trace[64];

static void note(char c)
{
    size_t len = strlen(trace);
    assert_true(len + 1 < sizeof(trace));
    trace[len] = c;
    trace[len + 1] = '\0';
}

static int make_traced_loop(void **state)
{
    memset(trace, 0, sizeof(trace));
    return make_loop(state);
}

#define TRACED_TEST(fn) cmocka_unit_test_setup_teardown(fn, make_traced_loop, free_loop)

static void note_timer(struct osb_timer *timer)
{
    note(*(const char *)timer->arg);
}

static void note_defer(struct osb_defer *defer)
{
    note(*(const char *)defer->arg);
}

/* ---- timers ---- */

static struct osb_timer ordered[4];

/* In a callback, where time stands still: else a slow machine changes what is already due. */
static void set_ordered(struct osb_defer *defer)
{
    static const char timer_names[] = "abcd";
    static const uint64_t delays_ms[] = {3, 1, 2, 1};
    for (int i = 0; i < 4; i++) {
        osb_timer_init(&ordered[i], defer->loop, note_timer, (void *)&timer_names[i]);
        osb_timer_set(&ordered[i], delays_ms[i]);
    }
}

static void timers_fire_by_deadline_then_by_order_of_setting(void **state)
{
    struct osb_defer defer;
    uint64_t start = osb_loop_now_ns(the_loop);
    (void)state;
    osb_defer_init(&defer, the_loop, set_ordered, NULL);
    osb_defer_post(&defer);
    turn_until(strlen(trace) == 4);
    assert_string_equal(trace, "bdca");
    assert_true(osb_loop_now_ns(the_loop) >= start + 3 * OSB_NS_PER_MS);
    assert_false(osb_timer_is_set(&ordered[0]));
}

static void a_stopped_timer_does_not_fire(void **state)
{
    struct osb_timer first;
    struct osb_timer second;
    struct osb_timer never = {0};
    (void)state;
    osb_timer_init(&first, the_loop, note_timer, "a");
    osb_timer_init(&second, the_loop, note_timer, "b");
    osb_timer_set(&first, 0);
    osb_timer_set(&second, 1);
    osb_timer_stop(&first);
    osb_timer_stop(&first);
    osb_timer_stop(&never);
    turn_until(trace[0]);
    assert_string_equal(trace, "b");
}

static struct osb_timer victim;

static void stop_victim(struct osb_timer *timer)
{
    note(*(const char *)timer->arg);
    osb_timer_stop(&victim);
}

static void a_timer_may_stop_another_one_that_is_due(void **state)
{
    struct osb_timer killer;
    (void)state;
    osb_timer_init(&killer, the_loop, stop_victim, "k");
    osb_timer_init(&victim, the_loop, note_timer, "v");
    osb_timer_set(&killer, 0);
    osb_timer_set(&victim, 0);
    turn_until(trace[0]);
    turn_idle();
    assert_string_equal(trace, "k");
}

static void free_itself(struct osb_timer *timer)
{
    note('f');
    free(timer);
}

static void a_timer_may_free_itself(void **state)
{
    struct osb_timer *timer = osb_new(struct osb_timer);
    (void)state;
    osb_timer_init(timer, the_loop, free_itself, NULL);
    osb_timer_set(timer, 0);
    turn_until(trace[0]);
    assert_string_equal(trace, "f");
}

static void set_again(struct osb_timer *timer)
{
    note('t');
    if (strlen(trace) < 5)
        osb_timer_set_at(timer, 0);
}

static void a_timer_set_to_the_past_again_and_again_does_not_starve_the_loop(void **state)
{
    struct osb_timer timer;
    struct osb_defer defer;
    (void)state;
    osb_timer_init(&timer, the_loop, set_again, NULL);
    osb_defer_init(&defer, the_loop, note_defer, "d");
    osb_timer_set(&timer, 0);
    osb_defer_post(&defer);
    turn_until(strlen(trace) == 5);
    assert_string_equal(trace, "tdttt");
}

static void a_large_heap_stays_in_order_while_timers_are_stopped(void **state)
{
    enum { COUNT = 500 };
    static struct osb_timer timers[COUNT];
    static uint64_t last;
    (void)state;
    uint64_t base = osb_loop_now_ns(the_loop);
    srand(1);
    for (int i = 0; i < COUNT; i++) {
        osb_timer_init(&timers[i], the_loop, note_timer, "x");
        osb_timer_set_at(&timers[i], base + OSB_NS_PER_S + (uint64_t)(rand() % 100));
    }
    for (int i = 0; i < COUNT; i += 3)
        osb_timer_stop(&timers[i]);
    /* Order is seen by stopping the earliest again and again: nothing else is public. */
    last = 0;
    for (int left = COUNT; left > 0; left--) {
        struct osb_timer *first = NULL;
        for (int i = 0; i < COUNT; i++)
            if (timers[i].heap_index == 1)
                first = &timers[i];
        if (!first)
            break;
        assert_true(first->deadline_ns >= last);
        last = first->deadline_ns;
        osb_timer_stop(first);
    }
    for (int i = 0; i < COUNT; i++)
        assert_false(osb_timer_is_set(&timers[i]));
}

static void a_turn_waits_no_longer_than_it_may(void **state)
{
    struct osb_timer timer;
    uint64_t start = osb_loop_now_ns(the_loop);
    (void)state;
    osb_timer_init(&timer, the_loop, note_timer, "t");
    osb_timer_set(&timer, 60 * 1000);
    osb_loop_turn(the_loop, 0);
    osb_loop_turn(the_loop, 2);
    assert_string_equal(trace, "");
    assert_true(osb_loop_now_ns(the_loop) < start + 30 * OSB_NS_PER_S);
    osb_timer_stop(&timer);
}

static uint64_t seen_now[2];

static void see_now(struct osb_timer *timer)
{
    seen_now[0] = osb_loop_now_ns(timer->loop);
    for (volatile int i = 0; i < 100000; i++)
        ;
    seen_now[1] = osb_loop_now_ns(timer->loop);
    note('n');
}

static void time_stands_still_within_a_turn(void **state)
{
    struct osb_timer timer;
    (void)state;
    osb_timer_init(&timer, the_loop, see_now, NULL);
    osb_timer_set(&timer, 0);
    turn_until(trace[0]);
    assert_int_equal(seen_now[0], seen_now[1]);
}

/* ---- deferred calls and posts ---- */

static void repost(struct osb_defer *defer)
{
    note_defer(defer);
    if (strlen(trace) < 3)
        osb_defer_post(defer);
}

static void a_deferred_call_runs_once_and_one_posted_by_it_in_the_next_turn(void **state)
{
    struct osb_defer defer;
    (void)state;
    osb_defer_init(&defer, the_loop, repost, "d");
    osb_defer_post(&defer);
    osb_defer_post(&defer);
    assert_int_equal(osb_loop_turn(the_loop, -1), 1);
    assert_string_equal(trace, "d");
    osb_loop_turn(the_loop, -1);
    assert_string_equal(trace, "dd");
    osb_defer_cancel(&defer);
    turn_idle();
    assert_string_equal(trace, "dd");
}

static struct osb_defer second_defer;

static void cancel_second(struct osb_defer *defer)
{
    note_defer(defer);
    osb_defer_cancel(&second_defer);
}

static void a_deferred_call_may_cancel_the_next_one(void **state)
{
    struct osb_defer first;
    struct osb_defer zero = {0};
    (void)state;
    osb_defer_init(&first, the_loop, cancel_second, "1");
    osb_defer_init(&second_defer, the_loop, note_defer, "2");
    osb_defer_post(&first);
    osb_defer_post(&second_defer);
    osb_defer_cancel(&zero);
    turn_until(trace[0]);
    turn_idle();
    assert_string_equal(trace, "1");
}

static void note_post(void *arg)
{
    note(*(const char *)arg);
}

static void *post_from_thread(void *arg)
{
    (void)arg;
    osb_loop_post(the_loop, note_post, "a");
    osb_loop_post(the_loop, note_post, "b");
    osb_loop_post(the_loop, note_post, "c");
    return NULL;
}

static void posts_of_a_thread_wake_the_loop_and_keep_their_order(void **state)
{
    pthread_t thread;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, post_from_thread, NULL), 0);
    turn_until(strlen(trace) == 3);
    pthread_join(thread, NULL);
    assert_string_equal(trace, "abc");
}

static void post_again(void *arg)
{
    (void)arg;
    note('p');
    if (strlen(trace) < 4)
        osb_loop_post(the_loop, post_again, NULL);
}

static void a_post_that_posts_itself_runs_once_a_turn(void **state)
{
    (void)state;
    osb_loop_post(the_loop, post_again, NULL);
    osb_loop_turn(the_loop, -1);
    assert_string_equal(trace, "p");
    turn_until(strlen(trace) == 4);
}

static void post_another(void *arg)
{
    note_post(arg);
    osb_loop_post(the_loop, note_post, "c");
}

/* The list is not empty when the third is added, so that its poster does not wake the loop. */
static void a_post_made_between_two_others_is_not_forgotten(void **state)
{
    (void)state;
    osb_loop_post(the_loop, post_another, "a");
    osb_loop_post(the_loop, note_post, "b");
    turn_until(strlen(trace) >= 2);
    turn_idle();
    assert_string_equal(trace, "abc");
}

/* ---- running ---- */

static void stop_by_timer(struct osb_timer *timer)
{
    osb_loop_stop(timer->loop);
}

static void run_ends_when_stopped_and_may_be_run_again(void **state)
{
    struct osb_timer timer;
    (void)state;
    osb_timer_init(&timer, the_loop, stop_by_timer, NULL);
    for (int i = 0; i < 3; i++) {
        osb_timer_set(&timer, 1);
        assert_int_equal(osb_loop_run(the_loop), 0);
        assert_false(osb_timer_is_set(&timer));
    }
}

static void *stop_from_thread(void *arg)
{
    osb_loop_stop(arg);
    return NULL;
}

static void another_thread_can_stop_a_loop_that_waits(void **state)
{
    pthread_t thread;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, stop_from_thread, the_loop), 0);
    assert_int_equal(osb_loop_run(the_loop), 0);
    pthread_join(thread, NULL);
}

static void freeing_a_loop_marks_what_is_left_as_stopped(void **state)
{
    struct osb_timer timer;
    struct osb_defer defer;
    struct osb_watch watch;
    int fds[2];
    (void)state;
    assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
    osb_timer_init(&timer, the_loop, note_timer, "t");
    osb_timer_set(&timer, 1000);
    osb_defer_init(&defer, the_loop, note_defer, "d");
    osb_defer_post(&defer);
    osb_watch_init(&watch, the_loop, fds[0], NULL, NULL);
    assert_int_equal(osb_watch_set(&watch, OSB_READABLE), 0);
    osb_loop_post(the_loop, note_post, "p");
    osb_loop_free(the_loop);
    the_loop = NULL;
    osb_timer_stop(&timer);
    osb_defer_cancel(&defer);
    osb_watch_stop(&watch);
    assert_string_equal(trace, "");
    close(fds[0]);
    close(fds[1]);
}

static void a_loop_leaves_sigpipe_ignored(void **state)
{
    struct sigaction action;
    (void)state;
    assert_int_equal(sigaction(SIGPIPE, NULL, &action), 0);
    assert_ptr_equal(action.sa_handler, SIG_IGN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRACED_TEST(timers_fire_by_deadline_then_by_order_of_setting),
        TRACED_TEST(a_stopped_timer_does_not_fire),
        TRACED_TEST(a_timer_may_stop_another_one_that_is_due),
        TRACED_TEST(a_timer_may_free_itself),
        TRACED_TEST(a_timer_set_to_the_past_again_and_again_does_not_starve_the_loop),
        TRACED_TEST(a_large_heap_stays_in_order_while_timers_are_stopped),
        TRACED_TEST(a_turn_waits_no_longer_than_it_may),
        TRACED_TEST(time_stands_still_within_a_turn),
        TRACED_TEST(a_deferred_call_runs_once_and_one_posted_by_it_in_the_next_turn),
        TRACED_TEST(a_deferred_call_may_cancel_the_next_one),
        TRACED_TEST(posts_of_a_thread_wake_the_loop_and_keep_their_order),
        TRACED_TEST(a_post_that_posts_itself_runs_once_a_turn),
        TRACED_TEST(a_post_made_between_two_others_is_not_forgotten),
        TRACED_TEST(run_ends_when_stopped_and_may_be_run_again),
        TRACED_TEST(another_thread_can_stop_a_loop_that_waits),
        TRACED_TEST(freeing_a_loop_marks_what_is_left_as_stopped),
        TRACED_TEST(a_loop_leaves_sigpipe_ignored),
    };
    return RUN_ON_EACH_BACKEND(tests);
}
