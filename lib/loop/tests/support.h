// SPDX-License-Identifier: Apache-2.0
/*
 * The same cases over each back end: a test file lists its cases once with LOOP_TEST() and ends in
 * `return run_on_each_backend(tests, count)`. The loop of a case is the_loop.
 */
#ifndef OSB_LOOP_TEST_SUPPORT_H
#define OSB_LOOP_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <osb/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int new_loop_fn(struct osb_loop **ret, struct osb_err *err);

static struct osb_loop *the_loop;
static new_loop_fn *the_backend;

static inline int make_loop(void **state)
{
    (void)state;
    return the_backend(&the_loop, NULL);
}

static inline int free_loop(void **state)
{
    (void)state;
    osb_loop_free(the_loop);
    the_loop = NULL;
    return 0;
}

#define LOOP_TEST(fn) cmocka_unit_test_setup_teardown(fn, make_loop, free_loop)

/* Turns until CONDITION holds; what never comes is ended by the time-out of ctest. */
#define turn_until(condition)                                                                      \
    while (!(condition))                                                                           \
    assert_true(osb_loop_turn(the_loop, -1) >= 0)

/* A few turns without waiting: what could run, has. */
static inline void turn_idle(void)
{
    for (int i = 0; i < 8; i++)
        assert_true(osb_loop_turn(the_loop, 0) >= 0);
}

static inline int run_on_each_backend(const struct CMUnitTest *tests, size_t count)
{
    static const struct {
        const char *name;
        new_loop_fn *fn;
    } backends[] = {
        {"epoll", osb_loop_new_epoll}, {"uv", osb_loop_new_uv}, {"sim", osb_loop_new_sim}};
    int failed = 0;
    for (size_t i = 0; i < sizeof(backends) / sizeof(backends[0]); i++) {
        the_backend = backends[i].fn;
        failed += _cmocka_run_group_tests(backends[i].name, tests, count, NULL, NULL);
    }
    return failed;
}

#define RUN_ON_EACH_BACKEND(tests) run_on_each_backend(tests, sizeof(tests) / sizeof((tests)[0]))

#endif
