// SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include <osb/worker.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { JOBS = 50, THREADS = 3 };

static struct osb_workers *pool;
static int done_count;
static int done_order[2 * JOBS];
static int last_result;
static pthread_t loop_thread;

static int make_pool(void **state)
{
    done_count = 0;
    last_result = 0;
    loop_thread = pthread_self();
    return make_loop(state) < 0 || osb_workers_new(the_loop, THREADS, JOBS, &pool, NULL) < 0 ? -1
                                                                                             : 0;
}

static int free_pool(void **state)
{
    osb_workers_free(pool);
    pool = NULL;
    return free_loop(state);
}

static void note_done(int r, void *arg)
{
    assert_true(pthread_equal(pthread_self(), loop_thread));
    last_result = r;
    done_order[done_count++] = (int)(intptr_t)arg;
}

static int answer(void *arg)
{
    return pthread_equal(pthread_self(), loop_thread) ? -EDEADLK : (int)(intptr_t)arg;
}

static void work_runs_on_another_thread_and_its_result_reaches_the_loop(void **state)
{
    (void)state;
    assert_int_equal(osb_workers_submit(pool, 0, answer, note_done, (void *)42), 0);
    turn_until(done_count);
    assert_int_equal(last_result, 42);
}

static int key_order[JOBS];
static int key_count; /* no lock: jobs of one key must never overlap, which TSan would see */
static atomic_int inside;

static int note_in_key(void *arg)
{
    int r = atomic_fetch_add(&inside, 1) == 0 ? 0 : -EBUSY;
    for (int i = 0; i < 50; i++) /* gives another thread every chance to come in */
        sched_yield();
    key_order[key_count++] = (int)(intptr_t)arg;
    atomic_fetch_sub(&inside, 1);
    return r;
}

static void expect_alone(int r, void *arg)
{
    assert_int_equal(r, 0);
    note_done(r, arg);
}

static void jobs_of_a_key_run_one_after_the_other_in_order(void **state)
{
    (void)state;
    key_count = 0;
    for (int i = 0; i < JOBS / 2; i++) {
        assert_int_equal(
            osb_workers_submit(pool, 9, note_in_key, expect_alone, (void *)(intptr_t)i), 0);
        assert_int_equal(osb_workers_submit(pool, 0, answer, note_done, NULL), 0);
    }
    turn_until(done_count == JOBS / 2 * 2);
    for (int i = 0; i < JOBS / 2; i++)
        assert_int_equal(key_order[i], i);
}

/* ---- a gate that holds the threads ---- */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_int waiting;

static int wait_at_gate(void *arg)
{
    atomic_fetch_add(&waiting, 1);
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return (int)(intptr_t)arg;
}

static void block_all_threads(void)
{
    atomic_store(&waiting, 0);
    pthread_mutex_lock(&gate);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(osb_workers_submit(pool, 0, wait_at_gate, note_done, (void *)1), 0);
    while (atomic_load(&waiting) < THREADS)
        sched_yield();
}

static void a_full_queue_refuses_more(void **state)
{
    (void)state;
    block_all_threads();
    for (int i = 0; i < JOBS; i++)
        assert_int_equal(osb_workers_submit(pool, 0, answer, note_done, NULL), 0);
    assert_int_equal(osb_workers_submit(pool, 0, answer, note_done, NULL), -OSB_E_RATE_LIMITED);
    pthread_mutex_unlock(&gate);
    turn_until(done_count == JOBS + THREADS);
    assert_int_equal(osb_workers_submit(pool, 0, answer, note_done, NULL), 0);
    turn_until(done_count == JOBS + THREADS + 1);
}

static int place_of(int job)
{
    for (int i = 0; i < done_count; i++)
        if (done_order[i] == job)
            return i;
    fail_msg("job %d was not told", job);
    return -1;
}

static void freeing_finishes_running_jobs_and_cancels_the_others(void **state)
{
    (void)state;
    block_all_threads();
    assert_int_equal(osb_workers_submit(pool, 7, answer, note_done, (void *)5), 0);
    assert_int_equal(osb_workers_submit(pool, 7, answer, note_done, (void *)6), 0);
    pthread_mutex_unlock(&gate);
    osb_workers_free(pool);
    pool = NULL;
    assert_int_equal(done_count, THREADS + 2);
    assert_true(place_of(5) < place_of(6));
    turn_idle();
    assert_int_equal(done_count, THREADS + 2);
}

static void free_the_pool(int r, void *arg)
{
    note_done(r, arg);
    osb_workers_free(pool);
    pool = NULL;
}

static void a_done_may_free_the_pool(void **state)
{
    (void)state;
    assert_int_equal(osb_workers_submit(pool, 1, answer, free_the_pool, NULL), 0);
    assert_int_equal(osb_workers_submit(pool, 1, answer, note_done, NULL), 0);
    turn_until(done_count);
    assert_int_equal(done_count, 2);
}

#define POOL_TEST(fn) cmocka_unit_test_setup_teardown(fn, make_pool, free_pool)

int main(void)
{
    const struct CMUnitTest tests[] = {
        POOL_TEST(work_runs_on_another_thread_and_its_result_reaches_the_loop),
        POOL_TEST(jobs_of_a_key_run_one_after_the_other_in_order),
        POOL_TEST(a_full_queue_refuses_more),
        POOL_TEST(freeing_finishes_running_jobs_and_cancels_the_others),
        POOL_TEST(a_done_may_free_the_pool),
    };
    return RUN_ON_EACH_BACKEND(tests);
}
