// SPDX-License-Identifier: Apache-2.0
/* When execd is asked, how often, and when its answer no longer counts. */
#include <osb/alloc.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
// cmocka needs the ones above first
#include <cmocka.h>

#include "ping.h"

enum { MAX_QUESTIONS = 512 };

struct fixture {
    struct osb_loop *loop;
    struct ping *ping;
    struct question {
        void (*done)(int r, void *arg);
        void *arg;
        bool is_open;
    } questions[MAX_QUESTIONS];
    int asked;
    int told;
    bool cannot_ask;
};

static void *ask(const char *address, void (*done)(int r, void *arg), void *arg, void *context)
{
    struct fixture *f = context;
    assert_string_equal(address, "10.0.0.1");
    if (f->cannot_ask)
        return NULL;
    assert_true(f->asked < MAX_QUESTIONS);
    struct question *question = &f->questions[f->asked++];
    *question = (struct question){done, arg, true};
    return question;
}

static void cancel(void *handle, void *context)
{
    struct question *question = handle;
    (void)context;
    assert_true(question->is_open);
    question->is_open = false;
}

static void on_told(const char *namespace_, const char *owner_name, void *arg)
{
    struct fixture *f = arg;
    assert_string_equal(namespace_, "n");
    assert_string_equal(owner_name, "a");
    f->told++;
}

static int set_up(void **state)
{
    struct fixture *f = osb_new(struct fixture);
    struct ping_asker asker = {ask, cancel, f};
    assert_int_equal(osb_loop_new_sim(&f->loop, NULL), 0);
    f->ping = ping_new(f->loop, &asker, on_told, f);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    ping_free(f->ping);
    for (int i = 0; i < f->asked; i++)
        assert_false(f->questions[i].is_open);
    osb_loop_free(f->loop);
    free(f);
    return 0;
}

static void answer(struct fixture *f, int number, int r)
{
    assert_int_equal(f->asked, number);
    assert_true(f->questions[number - 1].is_open);
    f->questions[number - 1].is_open = false;
    f->questions[number - 1].done(r, f->questions[number - 1].arg);
}

static void advance_ms(struct fixture *f, uint64_t ms)
{
    osb_loop_sim_advance(f->loop, ms * 1000000);
    osb_loop_sim_settle(f->loop);
}

/* A marked pod with one container. */
struct sample {
    struct pod pod;
    struct container container;
};

static struct sample sample(const char *uid)
{
    return (struct sample){
        .pod = {.object = {.namespace_ = "n", .name = "a-0", .uid = (char *)uid},
                .has_execd = true,
                .owner_name = "a",
                .address = "10.0.0.1",
                .container_count = 1},
        .container = {.name = "sandbox", .state = CONTAINER_WAITING},
    };
}

static const struct pod *look(struct sample *s)
{
    s->pod.containers = &s->container;
    return &s->pod;
}

static void test_a_pod_is_asked_as_soon_as_it_has_an_address(void **state)
{
    struct fixture *f = *state;
    struct sample s = sample("u");
    s.pod.address = NULL;
    ping_observe(f->ping, look(&s));
    assert_int_equal(f->asked, 0);
    s.pod.address = "10.0.0.1";
    ping_observe(f->ping, look(&s));
    assert_int_equal(f->asked, 1);
    assert_true(ping_is_first(f->ping, look(&s)));
    assert_false(ping_has_answered(f->ping, look(&s)));
    answer(f, 1, 0);
    assert_int_equal(f->told, 1);
    assert_true(ping_has_answered(f->ping, look(&s)));
    assert_false(ping_is_first(f->ping, look(&s)));
    advance_ms(f, 100000);
    assert_int_equal(f->asked, 1);
}

static void test_silence_is_asked_again_further_and_further_apart_up_to_a_second(void **state)
{
    struct fixture *f = *state;
    struct sample s = sample("u");
    ping_observe(f->ping, look(&s));
    answer(f, 1, -OSB_E_UNAVAILABLE);
    assert_int_equal(f->told, 1); /* the first silence is news, too */
    advance_ms(f, PING_BACKOFF_MIN_MS - 1);
    assert_int_equal(f->asked, 1);
    advance_ms(f, 1);
    answer(f, 2, -OSB_E_TIMEOUT);
    advance_ms(f, PING_BACKOFF_MIN_MS);
    assert_int_equal(f->asked, 2);
    for (int i = 3; i < 12; i++) {
        advance_ms(f, PING_BACKOFF_MAX_MS);
        answer(f, i, -OSB_E_TIMEOUT);
    }
    assert_int_equal(f->told, 1);

    s.container.state = CONTAINER_RUNNING; /* now it may be there: no waiting for the second */
    ping_observe(f->ping, look(&s));
    assert_int_equal(f->asked, 12);
    answer(f, 12, 0);
    assert_int_equal(f->told, 2);
}

static void test_a_restart_and_an_end_make_the_answer_void(void **state)
{
    struct fixture *f = *state;
    struct sample s = sample("u");
    s.container.state = CONTAINER_RUNNING;
    ping_observe(f->ping, look(&s));
    answer(f, 1, 0);
    s.container.restart_count = 1;
    assert_false(ping_has_answered(f->ping, look(&s)));
    ping_observe(f->ping, look(&s));
    answer(f, 2, 0);
    assert_true(ping_has_answered(f->ping, look(&s)));
    s.container.state = CONTAINER_TERMINATED;
    assert_false(ping_has_answered(f->ping, look(&s)));
    ping_observe(f->ping, look(&s));
    assert_int_equal(f->asked, 2);
    s.container.state = CONTAINER_WAITING;
    s.container.has_ended_before = true;
    ping_observe(f->ping, look(&s));
    assert_int_equal(f->asked, 2);
}

static void test_unmarked_ended_and_leaving_pods_are_not_asked(void **state)
{
    struct fixture *f = *state;
    struct sample s = sample("u");
    s.pod.has_execd = false;
    ping_observe(f->ping, look(&s));
    s = sample("u");
    s.pod.is_deleting = true;
    ping_observe(f->ping, look(&s));
    s = sample("u");
    s.pod.phase = POD_FAILED;
    ping_observe(f->ping, look(&s));
    s = sample("u");
    s.pod.owner_name = NULL;
    ping_observe(f->ping, look(&s));
    assert_int_equal(f->asked, 0);
}

static void test_a_pod_that_goes_takes_its_question_along(void **state)
{
    struct fixture *f = *state;
    struct sample s = sample("u");
    ping_observe(f->ping, look(&s));
    ping_forget(f->ping, "u");
    assert_false(f->questions[0].is_open);
    ping_observe(f->ping, look(&s));
    answer(f, 2, -OSB_E_UNAVAILABLE);
    ping_forget(f->ping, "u"); /* while it backs off */
    advance_ms(f, 10000);
    assert_int_equal(f->asked, 2);
    ping_forget(f->ping, "unknown");
}

static void test_only_so_many_questions_are_out_at_a_time(void **state)
{
    struct fixture *f = *state;
    static char uids[PING_CONCURRENCY + 10][16];
    for (int i = 0; i < PING_CONCURRENCY + 10; i++) {
        snprintf(uids[i], sizeof(uids[i]), "u%d", i);
        struct sample s = sample(uids[i]);
        ping_observe(f->ping, look(&s));
    }
    assert_int_equal(f->asked, PING_CONCURRENCY);
    f->questions[0].is_open = false;
    f->questions[0].done(0, f->questions[0].arg);
    assert_int_equal(f->asked, PING_CONCURRENCY + 1);
}

static void test_a_question_that_cannot_begin_is_tried_later(void **state)
{
    struct fixture *f = *state;
    struct sample s = sample("u");
    f->cannot_ask = true;
    ping_observe(f->ping, look(&s));
    assert_int_equal(f->asked, 0);
    f->cannot_ask = false;
    advance_ms(f, PING_BACKOFF_MIN_MS);
    answer(f, 1, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_pod_is_asked_as_soon_as_it_has_an_address),
        TEST(test_silence_is_asked_again_further_and_further_apart_up_to_a_second),
        TEST(test_a_restart_and_an_end_make_the_answer_void),
        TEST(test_unmarked_ended_and_leaving_pods_are_not_asked),
        TEST(test_a_pod_that_goes_takes_its_question_along),
        TEST(test_only_so_many_questions_are_out_at_a_time),
        TEST(test_a_question_that_cannot_begin_is_tried_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
