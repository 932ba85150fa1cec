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

enum { MAX_QUESTIONS = 1024 };

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
    uint64_t timeout_ms; /* of the last question */
    bool cannot_ask;
};

static void *ask(const char *address, uint64_t timeout_ms, void (*done)(int r, void *arg),
                 void *arg, void *context)
{
    struct fixture *f = context;
    assert_string_equal(address, "10.0.0.1");
    f->timeout_ms = timeout_ms;
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

/* A marked pod with one container, and the init container that brings execd where it is asked for.
 */
struct sample {
    struct pod pod;
    struct container container;
    struct container both[2];
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

static const struct pod *look_with_installer(struct sample *s, enum container_state state)
{
    s->both[0] = (struct container){.name = "execd-installer", .is_init = true, .state = state};
    s->both[1] = s->container;
    s->pod.containers = s->both;
    s->pod.container_count = 2;
    return &s->pod;
}

/* Lets all questions of MS fail, each after LATENCY_MS; how many there were. */
static int refuse_for(struct fixture *f, uint64_t ms, uint64_t latency_ms)
{
    int before = f->asked;
    for (uint64_t i = 0; i < ms; i++) {
        if (i % (latency_ms + 1) == latency_ms && f->asked > 0 &&
            f->questions[f->asked - 1].is_open)
            answer(f, f->asked, -OSB_E_UNAVAILABLE);
        advance_ms(f, 1);
    }
    return f->asked - before;
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

static void test_a_refusal_is_asked_again_soon_and_then_less_and_less_often(void **state)
{
    struct fixture *f = *state;
    struct sample s = sample("u");
    ping_observe(f->ping, look(&s));
    answer(f, 1, -OSB_E_UNAVAILABLE);
    assert_int_equal(f->told, 1); /* the first silence is news, too */
    advance_ms(f, PING_PAUSE_MIN_MS - 1);
    assert_int_equal(f->asked, 1);
    advance_ms(f, 1);
    assert_int_equal(f->asked, 2);
    assert_in_range(refuse_for(f, 985, 0), 20, 40); /* the rest of the first second */
    assert_in_range(refuse_for(f, 10000, 0), 10, 30);
    assert_in_range(refuse_for(f, 60000, 0), 59, 61); /* once a second */
    assert_int_equal(f->told, 1);

    s.container.state = CONTAINER_RUNNING; /* now it may be there: no waiting for the second */
    int before = f->asked;
    ping_observe(f->ping, look(&s));
    answer(f, before + 1, 0);
    assert_int_equal(f->told, 2);
    advance_ms(f, 100000);
    assert_int_equal(f->asked, before + 1);
}

static void test_an_execd_that_starts_late_is_found_within_an_eighth_of_its_time(void **state)
{
    static const uint64_t starts_ms[] = {30, 120, 300, 900, 3000};
    for (size_t i = 0; i < sizeof(starts_ms) / sizeof(starts_ms[0]); i++) {
        struct fixture *f = *state;
        struct sample s = sample("u");
        ping_observe(f->ping, look(&s));
        refuse_for(f, starts_ms[i], 0);
        uint64_t waited_ms = 0;
        while (!f->questions[f->asked - 1].is_open) {
            advance_ms(f, 1);
            waited_ms++;
        }
        assert_in_range(waited_ms, 0, starts_ms[i] / PING_PAUSE_SHARE + PING_PAUSE_MIN_MS);
        answer(f, f->asked, 0);
        ping_forget(f->ping, "u");
    }
}

static void
test_while_execd_is_being_brought_it_is_asked_seldom_and_at_once_afterwards(void **state)
{
    struct fixture *f = *state;
    struct sample s = sample("u");
    ping_observe(f->ping, look_with_installer(&s, CONTAINER_RUNNING));
    assert_int_equal(f->asked, 1); /* the kubelet's words may be late */
    assert_in_range(refuse_for(f, 1000, 0), 5, 10);
    int before = f->asked;
    ping_observe(f->ping, look_with_installer(&s, CONTAINER_TERMINATED));
    assert_int_equal(f->asked, before + 1);
    answer(f, f->asked, -OSB_E_UNAVAILABLE);
    advance_ms(f, PING_PAUSE_MIN_MS);
    answer(f, before + 2, 0);
    assert_true(ping_has_answered(f->ping, look_with_installer(&s, CONTAINER_TERMINATED)));
}

static void test_a_question_without_any_answer_is_given_up_early_at_first(void **state)
{
    struct fixture *f = *state;
    struct sample s = sample("u");
    ping_observe(f->ping, look(&s));
    assert_int_equal(f->timeout_ms, PING_TIMEOUT_MIN_MS);
    refuse_for(f, 1000, 150);
    assert_in_range(f->timeout_ms, PING_TIMEOUT_MIN_MS + 1, 500);
    refuse_for(f, 10000, 150);
    assert_int_equal(f->timeout_ms, PING_TIMEOUT_MAX_MS);
}

static void
test_a_pod_that_is_no_longer_ready_is_asked_again_and_believed_until_it_is_silent(void **state)
{
    struct fixture *f = *state;
    struct sample s = sample("u");
    s.container.state = CONTAINER_RUNNING;
    s.pod.is_ready = true;
    ping_observe(f->ping, look(&s));
    answer(f, 1, 0);
    s.pod.is_ready = false; /* its node is not heard of any more */
    ping_observe(f->ping, look(&s));
    assert_true(ping_has_answered(f->ping, look(&s)));
    answer(f, 2, 0);
    assert_int_equal(f->told, 1); /* no news */

    s.pod.is_ready = true;
    ping_observe(f->ping, look(&s));
    assert_int_equal(f->asked, 2);
    s.pod.is_ready = false;
    ping_observe(f->ping, look(&s));
    answer(f, 3, -OSB_E_TIMEOUT);
    assert_int_equal(f->told, 2);
    assert_false(ping_has_answered(f->ping, look(&s)));
    advance_ms(f, 200);
    answer(f, 4, 0);
    assert_int_equal(f->told, 3);
    assert_true(ping_has_answered(f->ping, look(&s)));
}

static void test_many_that_wait_share_a_rate(void **state)
{
    enum { PODS = 200 };
    struct fixture *f = *state;
    static char uids[PODS][16];
    int done = 0;
    for (int i = 0; i < PODS; i++) {
        snprintf(uids[i], sizeof(uids[i]), "u%d", i);
        struct sample s = sample(uids[i]);
        ping_observe(f->ping, look(&s));
    }
    for (int ms = 0; ms < 400; ms++) { /* each question is refused at once */
        for (; done < f->asked; done++) {
            f->questions[done].is_open = false;
            f->questions[done].done(-OSB_E_UNAVAILABLE, f->questions[done].arg);
        }
        advance_ms(f, 1);
    }
    assert_in_range(f->asked, PODS, 2 * PODS);
    for (int i = done; i < f->asked; i++)
        f->questions[i].done(0, f->questions[i].arg), f->questions[i].is_open = false;
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
    advance_ms(f, PING_PAUSE_MIN_MS);
    answer(f, 1, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_pod_is_asked_as_soon_as_it_has_an_address),
        TEST(test_a_refusal_is_asked_again_soon_and_then_less_and_less_often),
        TEST(test_an_execd_that_starts_late_is_found_within_an_eighth_of_its_time),
        TEST(test_while_execd_is_being_brought_it_is_asked_seldom_and_at_once_afterwards),
        TEST(test_a_question_without_any_answer_is_given_up_early_at_first),
        TEST(test_a_pod_that_is_no_longer_ready_is_asked_again_and_believed_until_it_is_silent),
        TEST(test_many_that_wait_share_a_rate),
        TEST(test_a_restart_and_an_end_make_the_answer_void),
        TEST(test_unmarked_ended_and_leaving_pods_are_not_asked),
        TEST(test_a_pod_that_goes_takes_its_question_along),
        TEST(test_only_so_many_questions_are_out_at_a_time),
        TEST(test_a_question_that_cannot_begin_is_tried_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
