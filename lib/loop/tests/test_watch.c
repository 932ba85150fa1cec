// SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include <fcntl.h>
#include <osb/alloc.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

/* A watch on the reading end of a pipe. */
struct end {
    int fds[2];
    struct osb_watch watch;
    int calls;
    struct end *other;
};

static void make_pipe(struct end *end, void (*fn)(struct osb_watch *watch, int events))
{
    assert_int_equal(pipe2(end->fds, O_CLOEXEC | O_NONBLOCK), 0);
    end->calls = 0;
    osb_watch_init(&end->watch, the_loop, end->fds[0], fn, end);
}

static void close_pipe(struct end *end)
{
    osb_watch_stop(&end->watch);
    close(end->fds[0]);
    close(end->fds[1]);
}

static void put(const struct end *end)
{
    assert_int_equal(write(end->fds[1], "x", 1), 1);
}

static void count_call(struct osb_watch *watch, int events)
{
    struct end *end = watch->arg;
    assert_int_equal(events, OSB_READABLE);
    end->calls++;
}

static void a_watch_is_level_triggered(void **state)
{
    struct end end;
    char c;
    (void)state;
    make_pipe(&end, count_call);
    assert_int_equal(osb_watch_set(&end.watch, OSB_READABLE), 0);
    turn_idle();
    assert_int_equal(end.calls, 0);
    put(&end);
    turn_until(end.calls == 3);
    assert_int_equal(read(end.fds[0], &c, 1), 1);
    turn_idle();
    assert_int_equal(end.calls, 3);
    close_pipe(&end);
}

static void a_stopped_watch_is_silent_and_can_be_set_again(void **state)
{
    struct end end;
    struct osb_watch zero = {0};
    (void)state;
    make_pipe(&end, count_call);
    put(&end);
    assert_int_equal(osb_watch_set(&end.watch, OSB_READABLE), 0);
    osb_watch_stop(&end.watch);
    osb_watch_stop(&zero);
    turn_idle();
    assert_int_equal(end.calls, 0);
    assert_int_equal(osb_watch_set(&end.watch, OSB_READABLE), 0);
    turn_until(end.calls == 1);
    assert_int_equal(osb_watch_set(&end.watch, 0), 0);
    turn_idle();
    assert_int_equal(end.calls, 1);
    close_pipe(&end);
}

static void end_of_file_is_readable(void **state)
{
    struct end end;
    (void)state;
    make_pipe(&end, count_call);
    close(end.fds[1]);
    assert_int_equal(osb_watch_set(&end.watch, OSB_READABLE), 0);
    turn_until(end.calls == 2);
    end.fds[1] = -1;
    close_pipe(&end);
}

static int writable_calls;

static void count_writable(struct osb_watch *watch, int events)
{
    (void)watch;
    assert_int_equal(events, OSB_WRITABLE);
    writable_calls++;
}

static void a_pipe_that_nobody_reads_is_writable_again_and_again(void **state)
{
    int fds[2];
    struct osb_watch watch;
    (void)state;
    writable_calls = 0;
    assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
    close(fds[0]);
    osb_watch_init(&watch, the_loop, fds[1], count_writable, NULL);
    assert_int_equal(osb_watch_set(&watch, OSB_WRITABLE), 0);
    turn_until(writable_calls == 3);
    osb_watch_stop(&watch);
    close(fds[1]);
}

static int last_events;

static void note_events(struct osb_watch *watch, int events)
{
    (void)watch;
    last_events = events;
}

static void asking_for_less_or_more_takes_effect_at_once(void **state)
{
    int fds[2];
    struct osb_watch watch;
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    osb_watch_init(&watch, the_loop, fds[0], note_events, NULL);
    assert_int_equal(osb_watch_set(&watch, OSB_READABLE | OSB_WRITABLE), 0);
    turn_until(last_events == OSB_WRITABLE);
    assert_int_equal(osb_watch_set(&watch, OSB_READABLE), 0);
    last_events = 0;
    turn_idle();
    assert_int_equal(last_events, 0);
    assert_int_equal(write(fds[1], "x", 1), 1);
    turn_until(last_events == OSB_READABLE);
    assert_int_equal(osb_watch_set(&watch, OSB_WRITABLE), 0);
    turn_until(last_events == OSB_WRITABLE);
    assert_int_equal(osb_watch_set(&watch, OSB_READABLE | OSB_WRITABLE), 0);
    turn_until(last_events == (OSB_READABLE | OSB_WRITABLE));
    osb_watch_stop(&watch);
    close(fds[0]);
    close(fds[1]);
}

static struct end *survivor;

/* Whichever of two comes first frees the other: the batch still has its event. */
static void free_other(struct osb_watch *watch, int events)
{
    struct end *end = watch->arg;
    (void)events;
    survivor = end;
    end->calls++;
    osb_watch_stop(&end->watch);
    close_pipe(end->other);
    free(end->other);
}

static void a_watch_freed_by_another_one_of_the_same_batch_is_not_called(void **state)
{
    struct end *ends[2] = {osb_new(struct end), osb_new(struct end)};
    (void)state;
    make_pipe(ends[0], free_other);
    make_pipe(ends[1], free_other);
    ends[0]->other = ends[1];
    ends[1]->other = ends[0];
    put(ends[0]);
    put(ends[1]);
    assert_int_equal(osb_watch_set(&ends[0]->watch, OSB_READABLE), 0);
    assert_int_equal(osb_watch_set(&ends[1]->watch, OSB_READABLE), 0);
    survivor = NULL;
    turn_until(survivor);
    turn_idle();
    assert_int_equal(survivor->calls, 1); /* AddressSanitizer watches over the other one */
    close_pipe(survivor);
    free(survivor);
}

static struct end reused;

/* Closes the other pipe and opens a new one, which gets the same descriptor numbers. */
static void replace_other(struct osb_watch *watch, int events)
{
    struct end *end = watch->arg;
    struct end *other = end->other;
    (void)events;
    end->calls++;
    osb_watch_stop(&end->watch);
    int number = other->fds[0];
    close_pipe(other);
    make_pipe(&reused, count_call);
    assert_int_equal(reused.fds[0], number);
    assert_int_equal(osb_watch_set(&reused.watch, OSB_READABLE), 0);
}

static void an_event_of_a_closed_descriptor_does_not_reach_its_successor(void **state)
{
    struct end ends[2];
    (void)state;
    make_pipe(&ends[0], replace_other);
    make_pipe(&ends[1], replace_other);
    ends[0].other = &ends[1];
    ends[1].other = &ends[0];
    put(&ends[0]);
    put(&ends[1]);
    assert_int_equal(osb_watch_set(&ends[0].watch, OSB_READABLE), 0);
    assert_int_equal(osb_watch_set(&ends[1].watch, OSB_READABLE), 0);
    turn_until(ends[0].calls + ends[1].calls == 1);
    turn_idle();
    assert_int_equal(ends[0].calls + ends[1].calls, 1);
    assert_int_equal(reused.calls, 0);
    put(&reused);
    turn_until(reused.calls == 1);
    close_pipe(&reused);
    close_pipe(ends[0].calls ? &ends[0] : &ends[1]);
}

static void a_second_watch_of_a_descriptor_is_refused(void **state)
{
    struct end end;
    struct osb_watch second;
    (void)state;
    make_pipe(&end, count_call);
    osb_watch_init(&second, the_loop, end.fds[0], count_call, &end);
    assert_int_equal(osb_watch_set(&end.watch, OSB_READABLE), 0);
    assert_int_equal(osb_watch_set(&second, OSB_READABLE), -EEXIST);
    osb_watch_stop(&second);
    put(&end);
    turn_until(end.calls == 1);
    osb_watch_stop(&end.watch);
    assert_int_equal(osb_watch_set(&second, OSB_READABLE), 0);
    osb_watch_stop(&second);
    close_pipe(&end);
}

static void a_regular_file_and_a_closed_descriptor_are_refused(void **state)
{
    struct osb_watch watch;
    FILE *file = tmpfile();
    (void)state;
    assert_non_null(file);
    osb_watch_init(&watch, the_loop, fileno(file), count_call, NULL);
    assert_int_equal(osb_watch_set(&watch, OSB_READABLE), -EPERM);
    fclose(file);
    assert_int_equal(osb_watch_set(&watch, OSB_READABLE), -EBADF);
    osb_watch_init(&watch, the_loop, -1, count_call, NULL);
    assert_int_equal(osb_watch_set(&watch, OSB_READABLE), -EBADF);
    osb_watch_stop(&watch);
}

static void never(struct osb_timer *timer)
{
    (void)timer;
    fail_msg("it was set for later");
}

static void set_timer_of_arg(struct osb_watch *watch, int events)
{
    (void)events;
    osb_watch_stop(watch);
    osb_timer_set(watch->arg, 10);
}

static void a_timer_set_after_a_long_wait_counts_from_its_end(void **state)
{
    const struct itimerspec in_30_ms = {.it_value.tv_nsec = 30 * 1000000};
    struct osb_watch watch;
    struct osb_timer timer;
    (void)state;
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    assert_true(fd >= 0);
    osb_timer_init(&timer, the_loop, never, NULL);
    osb_watch_init(&watch, the_loop, fd, set_timer_of_arg, &timer);
    assert_int_equal(osb_watch_set(&watch, OSB_READABLE), 0);
    assert_int_equal(timerfd_settime(fd, 0, &in_30_ms, NULL), 0);
    while (!osb_timer_is_set(&timer))
        assert_true(osb_loop_turn(the_loop, -1) >= 0);
    osb_timer_stop(&timer);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOOP_TEST(a_timer_set_after_a_long_wait_counts_from_its_end),
        LOOP_TEST(a_watch_is_level_triggered),
        LOOP_TEST(a_stopped_watch_is_silent_and_can_be_set_again),
        LOOP_TEST(end_of_file_is_readable),
        LOOP_TEST(a_pipe_that_nobody_reads_is_writable_again_and_again),
        LOOP_TEST(asking_for_less_or_more_takes_effect_at_once),
        LOOP_TEST(a_watch_freed_by_another_one_of_the_same_batch_is_not_called),
        LOOP_TEST(an_event_of_a_closed_descriptor_does_not_reach_its_successor),
        LOOP_TEST(a_second_watch_of_a_descriptor_is_refused),
        LOOP_TEST(a_regular_file_and_a_closed_descriptor_are_refused),
    };
    return RUN_ON_EACH_BACKEND(tests);
}
