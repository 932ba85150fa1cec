// SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include <osb/clock.h>

static int fired;
static uint64_t fired_at[8];

static void note_time(struct osb_timer *timer)
{
    fired_at[fired++] = osb_loop_now_ns(timer->loop);
}

static void repeat_each_second(struct osb_timer *timer)
{
    note_time(timer);
    osb_timer_set(timer, 1000);
}

static int make_sim(void **state)
{
    fired = 0;
    the_backend = osb_loop_new_sim;
    return make_loop(state);
}

static void time_moves_only_when_told(void **state)
{
    uint64_t start = osb_loop_now_ns(the_loop);
    int64_t wall = osb_loop_realtime_ns(the_loop);
    (void)state;
    osb_loop_sim_settle(the_loop);
    assert_int_equal(osb_loop_now_ns(the_loop), start);
    osb_loop_sim_advance(the_loop, 5 * OSB_NS_PER_S);
    assert_int_equal(osb_loop_now_ns(the_loop) - start, 5 * OSB_NS_PER_S);
    assert_int_equal(osb_loop_realtime_ns(the_loop) - wall, 5 * OSB_NS_PER_S);
}

static void advancing_fires_each_timer_at_its_own_time(void **state)
{
    struct osb_timer timer;
    uint64_t start = osb_loop_now_ns(the_loop);
    (void)state;
    osb_timer_init(&timer, the_loop, repeat_each_second, NULL);
    osb_timer_set(&timer, 1000);
    osb_loop_sim_advance(the_loop, 3 * OSB_NS_PER_S + OSB_NS_PER_S / 2);
    assert_int_equal(fired, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(fired_at[i] - start, (uint64_t)(i + 1) * OSB_NS_PER_S);
    osb_timer_stop(&timer);
}

static void waiting_jumps_to_the_next_timer(void **state)
{
    struct osb_timer timer;
    uint64_t start = osb_loop_now_ns(the_loop);
    (void)state;
    osb_timer_init(&timer, the_loop, note_time, NULL);
    osb_timer_set(&timer, 3600 * 1000);
    assert_int_equal(osb_loop_turn(the_loop, 10), 0);
    assert_int_equal(osb_loop_now_ns(the_loop) - start, 10 * OSB_NS_PER_MS);
    assert_int_equal(osb_loop_turn(the_loop, -1), 1);
    assert_int_equal(fired_at[0] - start, 3600 * OSB_NS_PER_S);
}

static void count_defer(struct osb_defer *defer)
{
    if (++fired < 5)
        osb_defer_post(defer);
}

static void settling_runs_all_that_needs_no_time(void **state)
{
    struct osb_defer defer;
    struct osb_timer later;
    (void)state;
    osb_defer_init(&defer, the_loop, count_defer, NULL);
    osb_timer_init(&later, the_loop, note_time, NULL);
    osb_defer_post(&defer);
    osb_timer_set(&later, 1);
    assert_int_equal(osb_loop_sim_settle(the_loop), 5);
    assert_true(osb_timer_is_set(&later));
    osb_timer_stop(&later);
}

#define SIM_TEST(fn) cmocka_unit_test_setup_teardown(fn, make_sim, free_loop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SIM_TEST(time_moves_only_when_told),
        SIM_TEST(advancing_fires_each_timer_at_its_own_time),
        SIM_TEST(waiting_jumps_to_the_next_timer),
        SIM_TEST(settling_runs_all_that_needs_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
