// SPDX-License-Identifier: Apache-2.0
/* Cases of signals and children; run with pidfds (test_child.c) and without
 * (test_child_no_pidfd.c).
 */
#ifndef OSB_LOOP_TEST_CHILD_CASES_H
#define OSB_LOOP_TEST_CHILD_CASES_H

#include "support.h"
#include <signal.h>
#include <sys/wait.h>

enum { CHILDREN = 5 };

static int ended;
static int last_status;
static int signals_seen;

static inline void count_signal(int signo, void *arg)
{
    signals_seen++;
    *(int *)arg = signo;
}

static inline void note_end(struct osb_child *child, int wait_status)
{
    (void)child;
    ended++;
    last_status = wait_status;
}

/* A child that ends with CODE, or waits to be killed when CODE is negative. */
static inline pid_t make_child(int code)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (code >= 0)
            _exit(code);
        for (;;)
            pause();
    }
    return pid;
}

static inline int make_counting_loop(void **state)
{
    ended = 0;
    last_status = 0;
    signals_seen = 0;
    return make_loop(state);
}

static void a_signal_is_delivered_on_the_loop(void **state)
{
    int seen = 0;
    (void)state;
    assert_int_equal(osb_loop_on_signal(the_loop, SIGUSR1, count_signal, &seen, NULL), 0);
    assert_int_equal(osb_loop_on_signal(the_loop, SIGUSR2, count_signal, &seen, NULL), 0);
    raise(SIGUSR2);
    assert_int_equal(signals_seen, 0);
    turn_until(signals_seen == 1);
    assert_int_equal(seen, SIGUSR2);
    raise(SIGUSR1);
    turn_until(signals_seen == 2);
    assert_int_equal(seen, SIGUSR1);
}

static void a_removed_signal_is_unblocked_unless_it_was_blocked_before(void **state)
{
    int seen;
    sigset_t mask;
    (void)state;
    assert_int_equal(osb_loop_on_signal(the_loop, SIGUSR1, count_signal, &seen, NULL), 0);
    sigprocmask(SIG_SETMASK, NULL, &mask);
    assert_true(sigismember(&mask, SIGUSR1));
    assert_int_equal(osb_loop_on_signal(the_loop, SIGUSR1, NULL, NULL, NULL), 0);
    sigprocmask(SIG_SETMASK, NULL, &mask);
    assert_false(sigismember(&mask, SIGUSR1));

    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR2);
    sigprocmask(SIG_BLOCK, &one, NULL);
    assert_int_equal(osb_loop_on_signal(the_loop, SIGUSR2, count_signal, &seen, NULL), 0);
    assert_int_equal(osb_loop_on_signal(the_loop, SIGUSR2, NULL, NULL, NULL), 0);
    sigprocmask(SIG_SETMASK, NULL, &mask);
    assert_true(sigismember(&mask, SIGUSR2));
    sigprocmask(SIG_UNBLOCK, &one, NULL);
}

static void signals_that_nobody_can_catch_are_refused(void **state)
{
    struct osb_err err = {0};
    (void)state;
    assert_int_equal(osb_loop_on_signal(the_loop, SIGKILL, count_signal, NULL, &err), -EINVAL);
    assert_int_equal(osb_loop_on_signal(the_loop, 0, count_signal, NULL, &err), -EINVAL);
    assert_int_equal(osb_loop_on_signal(the_loop, 32, count_signal, NULL, &err), -EINVAL);
    assert_string_equal(err.message, "signal 32 cannot be handled");
}

static void the_status_of_a_child_is_told_once(void **state)
{
    struct osb_child child;
    (void)state;
    assert_int_equal(osb_child_watch(&child, the_loop, make_child(7), note_end, NULL), 0);
    turn_until(ended);
    assert_true(WIFEXITED(last_status));
    assert_int_equal(WEXITSTATUS(last_status), 7);
    turn_idle();
    assert_int_equal(ended, 1);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    osb_child_stop(&child);
}

static void a_child_that_ended_before_it_is_watched_is_told(void **state)
{
    struct osb_child child;
    siginfo_t info;
    pid_t pid = make_child(3);
    (void)state;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(osb_child_watch(&child, the_loop, pid, note_end, NULL), 0);
    turn_until(ended);
    assert_int_equal(WEXITSTATUS(last_status), 3);
}

static void a_killed_child_shows_the_signal(void **state)
{
    struct osb_child child;
    pid_t pid = make_child(-1);
    (void)state;
    assert_int_equal(osb_child_watch(&child, the_loop, pid, note_end, NULL), 0);
    turn_idle();
    assert_int_equal(ended, 0);
    kill(pid, SIGKILL);
    turn_until(ended);
    assert_true(WIFSIGNALED(last_status));
    assert_int_equal(WTERMSIG(last_status), SIGKILL);
}

static void many_children_that_end_at_once_are_all_told(void **state)
{
    struct osb_child children[CHILDREN];
    pid_t pids[CHILDREN];
    (void)state;
    for (int i = 0; i < CHILDREN; i++) {
        pids[i] = make_child(-1);
        assert_int_equal(osb_child_watch(&children[i], the_loop, pids[i], note_end, NULL), 0);
    }
    for (int i = 0; i < CHILDREN; i++)
        kill(pids[i], SIGKILL);
    turn_until(ended == CHILDREN);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static struct osb_child siblings[2];

static void stop_sibling(struct osb_child *child, int wait_status)
{
    note_end(child, wait_status);
    osb_child_stop(&siblings[child == &siblings[0]]);
}

static void a_stopped_child_is_neither_told_nor_reaped(void **state)
{
    struct osb_child zero = {0};
    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(osb_child_watch(&siblings[i], the_loop, make_child(0), stop_sibling, NULL),
                         0);
    osb_child_stop(&zero);
    turn_until(ended);
    turn_idle();
    assert_int_equal(ended, 1);
    assert_true(waitpid(-1, NULL, 0) > 0); /* the other one is still ours to reap */
}

static void a_handler_of_sigchld_and_watched_children_get_along(void **state)
{
    struct osb_child child;
    int seen = 0;
    (void)state;
    assert_int_equal(osb_loop_on_signal(the_loop, SIGCHLD, count_signal, &seen, NULL), 0);
    assert_int_equal(osb_child_watch(&child, the_loop, make_child(0), note_end, NULL), 0);
    turn_until(ended && signals_seen);
    assert_int_equal(osb_loop_on_signal(the_loop, SIGCHLD, NULL, NULL, NULL), 0);
    assert_int_equal(osb_child_watch(&child, the_loop, make_child(0), note_end, NULL), 0);
    turn_until(ended == 2);
}

static void a_process_that_is_not_there_is_esrch_or_unsupported(void **state)
{
    struct osb_child child;
    pid_t pid = make_child(0);
    (void)state;
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    int r = osb_child_watch(&child, the_loop, pid, note_end, NULL);
    assert_true(r == -ESRCH || r == -OSB_E_UNSUPPORTED);
}

#define CHILD_TEST(fn) cmocka_unit_test_setup_teardown(fn, make_counting_loop, free_loop)

#define CHILD_TESTS                                                                                \
    CHILD_TEST(a_signal_is_delivered_on_the_loop),                                                 \
        CHILD_TEST(a_removed_signal_is_unblocked_unless_it_was_blocked_before),                    \
        CHILD_TEST(signals_that_nobody_can_catch_are_refused),                                     \
        CHILD_TEST(the_status_of_a_child_is_told_once),                                            \
        CHILD_TEST(a_child_that_ended_before_it_is_watched_is_told),                               \
        CHILD_TEST(a_killed_child_shows_the_signal),                                               \
        CHILD_TEST(many_children_that_end_at_once_are_all_told),                                   \
        CHILD_TEST(a_stopped_child_is_neither_told_nor_reaped),                                    \
        CHILD_TEST(a_handler_of_sigchld_and_watched_children_get_along),                           \
        CHILD_TEST(a_process_that_is_not_there_is_esrch_or_unsupported)

#endif
