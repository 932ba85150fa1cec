// SPDX-License-Identifier: Apache-2.0
#include "pod_core.h"

#include <osb/alloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "pod_fixture.h"

#define NONE    CONTAINER_PHASE_NONE
#define CREATED CONTAINER_PHASE_CREATED
#define RUNNING CONTAINER_PHASE_RUNNING
#define EXITED  CONTAINER_PHASE_EXITED

enum { INIT_A, INIT_B, MAIN, SIDE, CONTAINERS };

static struct pod_spec *four_containers(const char *policy)
{
    char spec[512];
    snprintf(
        spec, sizeof(spec),
        "\"restartPolicy\":\"%s\","
        "\"initContainers\":[{\"name\":\"a\",\"image\":\"i\"},{\"name\":\"b\",\"image\":\"i\"}],"
        "\"containers\":[{\"name\":\"m\",\"image\":\"i\"},{\"name\":\"s\",\"image\":\"i\"}]",
        policy);
    return fixture_pod(spec);
}

struct moment {
    enum sandbox_phase sandbox;
    enum container_phase phases[CONTAINERS];
    int codes[CONTAINERS];
    bool has_image; /* all of them */
    enum pod_action action;
    size_t container;
};

static void set_moment(struct pod_state *state, const struct moment *m)
{
    memset(state, 0, sizeof(*state));
    state->sandbox = m->sandbox;
    state->has_volumes = true;
    for (size_t i = 0; i < CONTAINERS; i++) {
        state->containers[i].phase = m->phases[i];
        state->containers[i].end.exit_code = m->codes[i];
        state->containers[i].has_image = m->has_image;
    }
}

static void walk(const char *policy, const struct moment *moments, size_t count)
{
    struct pod_spec *spec = four_containers(policy);
    for (size_t i = 0; i < count; i++) {
        struct pod_state state;
        size_t container;
        uint64_t wake;
        set_moment(&state, &moments[i]);
        assert_int_equal(pod_next_action(spec, &state, 1, &container, &wake), moments[i].action);
        assert_int_equal(container, moments[i].container);
    }
    pod_spec_free(spec);
}

#define WALK(policy, moments) walk(policy, moments, sizeof(moments) / sizeof((moments)[0]))

static void a_pod_comes_up_one_init_container_after_the_other(void **state)
{
    static const struct moment moments[] = {
        {.sandbox = SANDBOX_PHASE_NONE, .action = POD_RUN_SANDBOX},
        {.sandbox = SANDBOX_PHASE_UNKNOWN, .action = POD_ASK_SANDBOX},
        {.sandbox = SANDBOX_PHASE_DEAD, .action = POD_REMOVE_SANDBOX},
        {.sandbox = SANDBOX_PHASE_READY, .action = POD_PULL, .container = INIT_A},
        {SANDBOX_PHASE_READY, {NONE}, {0}, true, POD_CREATE, INIT_A},
        {SANDBOX_PHASE_READY, {CREATED}, {0}, true, POD_START, INIT_A},
        {SANDBOX_PHASE_READY, {RUNNING}, {0}, true, POD_WAIT, 0},
        {SANDBOX_PHASE_READY, {EXITED}, {0}, true, POD_CREATE, INIT_B},
        {SANDBOX_PHASE_READY, {EXITED, RUNNING}, {0}, true, POD_WAIT, 0},
        {SANDBOX_PHASE_READY, {EXITED, EXITED}, {0}, true, POD_CREATE, MAIN},
        {SANDBOX_PHASE_READY, {EXITED, EXITED, CREATED}, {0}, true, POD_START, MAIN},
        {SANDBOX_PHASE_READY, {EXITED, EXITED, RUNNING}, {0}, true, POD_CREATE, SIDE},
        {SANDBOX_PHASE_READY, {EXITED, EXITED, RUNNING, RUNNING}, {0}, true, POD_WAIT, 0},
    };
    (void)state;
    WALK("Always", moments);
    WALK("OnFailure", moments);
    WALK("Never", moments);
}

static void the_restart_policy_says_what_runs_again(void **state)
{
    static const struct moment always[] = {
        {SANDBOX_PHASE_READY, {EXITED}, {1}, true, POD_REMOVE_CONTAINER, INIT_A},
        {SANDBOX_PHASE_READY,
         {EXITED, EXITED, EXITED, RUNNING},
         {0},
         true,
         POD_REMOVE_CONTAINER,
         MAIN},
    };
    static const struct moment on_failure[] = {
        {SANDBOX_PHASE_READY, {EXITED}, {1}, true, POD_REMOVE_CONTAINER, INIT_A},
        {SANDBOX_PHASE_READY, {EXITED, EXITED, EXITED, RUNNING}, {0}, true, POD_WAIT, 0},
        {SANDBOX_PHASE_READY,
         {EXITED, EXITED, EXITED, RUNNING},
         {0, 0, 7},
         true,
         POD_REMOVE_CONTAINER,
         MAIN},
    };
    static const struct moment never[] = {
        {SANDBOX_PHASE_READY, {EXITED}, {1}, true, POD_STOP_SANDBOX, 0},
        {SANDBOX_PHASE_DEAD, {EXITED}, {1}, true, POD_WAIT, 0},
        {SANDBOX_PHASE_READY, {EXITED, EXITED, EXITED, RUNNING}, {0, 0, 7}, true, POD_WAIT, 0},
        {SANDBOX_PHASE_READY,
         {EXITED, EXITED, EXITED, EXITED},
         {0, 0, 7},
         true,
         POD_STOP_SANDBOX,
         0},
        {SANDBOX_PHASE_UNKNOWN, {EXITED, EXITED, EXITED, EXITED}, {0}, true, POD_STOP_SANDBOX, 0},
        {SANDBOX_PHASE_NONE, {EXITED, EXITED, EXITED, EXITED}, {0}, true, POD_WAIT, 0},
    };
    (void)state;
    WALK("Always", always);
    WALK("OnFailure", on_failure);
    WALK("Never", never);
}

static void phases_are_counted_as_the_kubelet_does(void **state)
{
    static const struct {
        const char *policy;
        struct moment moment;
        const char *phase;
    } cases[] = {
        {"Always", {.sandbox = SANDBOX_PHASE_NONE}, "Pending"},
        {"Always", {.phases = {EXITED, RUNNING}}, "Pending"},
        {"Always", {.phases = {EXITED, EXITED, RUNNING}}, "Pending"},
        {"Always", {.phases = {EXITED, EXITED, RUNNING, RUNNING}}, "Running"},
        {"Always", {.phases = {EXITED, EXITED, EXITED, EXITED}, .codes = {0, 0, 1, 1}}, "Running"},
        {"OnFailure", {.phases = {EXITED, EXITED, EXITED, EXITED}}, "Succeeded"},
        {"Never", {.phases = {EXITED, EXITED, EXITED, EXITED}}, "Succeeded"},
        {"Never", {.phases = {EXITED, EXITED, EXITED, EXITED}, .codes = {0, 0, 0, 2}}, "Failed"},
        {"Never", {.phases = {EXITED, EXITED, EXITED, RUNNING}, .codes = {0, 0, 2}}, "Running"},
        {"Never", {.phases = {EXITED, EXITED}, .codes = {0, 1}}, "Failed"},
        {"OnFailure", {.phases = {EXITED, EXITED}, .codes = {0, 1}}, "Pending"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pod_spec *spec = four_containers(cases[i].policy);
        struct pod_state pod;
        set_moment(&pod, &cases[i].moment);
        assert_string_equal(pod_phase(spec, &pod), cases[i].phase);
        pod_spec_free(spec);
    }
}

/* Does what the runner would, as if all went well; the number of steps to POD_FORGET. */
static int take_down(const struct pod_spec *spec, struct pod_state *state)
{
    for (int steps = 1; steps < 20; steps++) {
        size_t i;
        uint64_t wake;
        switch (pod_next_action(spec, state, 1, &i, &wake)) {
        case POD_STOP:
            assert_int_equal(state->containers[i].phase, RUNNING);
            state->containers[i].phase = EXITED;
            break;
        case POD_STOP_SANDBOX:
            assert_int_not_equal(state->sandbox, SANDBOX_PHASE_DEAD);
            state->sandbox = SANDBOX_PHASE_DEAD;
            break;
        case POD_REMOVE_SANDBOX:
            assert_int_equal(state->sandbox, SANDBOX_PHASE_DEAD);
            state->sandbox = SANDBOX_PHASE_NONE;
            break;
        case POD_CLEAN_UP:
            assert_int_equal(state->sandbox, SANDBOX_PHASE_NONE);
            state->has_volumes = false;
            break;
        case POD_DELETE_OBJECT:
            assert_false(state->has_volumes || state->is_object_gone);
            state->is_object_gone = true;
            break;
        case POD_FORGET:
            return steps;
        default:
            fail_msg("a pod that is deleted must not be brought up");
        }
    }
    return -1;
}

static void deletion_ends_from_every_state(void **state)
{
    struct pod_spec *spec = four_containers("Always");
    (void)state;
    for (int sandbox = SANDBOX_PHASE_NONE; sandbox <= SANDBOX_PHASE_DEAD; sandbox++) {
        for (int phases = 0; phases < 256; phases++) {
            for (int flags = 0; flags < 4; flags++) {
                struct moment m = {.sandbox = (enum sandbox_phase)sandbox, .has_image = true};
                for (int i = 0; i < CONTAINERS; i++)
                    m.phases[i] = (enum container_phase)(phases >> (2 * i) & 3);
                struct pod_state pod;
                set_moment(&pod, &m);
                pod.has_volumes = flags & 1;
                pod.is_object_gone = flags & 2;
                pod.is_deleting = true;
                assert_in_range(take_down(spec, &pod), 1, 9);
            }
        }
    }
    pod_spec_free(spec);
}

static void the_back_off_doubles_up_to_its_limit(void **state)
{
    static const uint64_t expected[] = {10000, 10000, 20000, 40000, 80000, 160000, 300000, 300000};
    (void)state;
    for (int i = 0; i < (int)(sizeof(expected) / sizeof(expected[0])); i++)
        assert_int_equal(pod_backoff_ms(i), expected[i]);
    assert_int_equal(pod_backoff_ms(1000000), POD_BACKOFF_MAX_MS);
}

static void a_failed_pull_waits_and_is_told_as_put_off(void **state)
{
    struct pod_spec *spec = fixture_pod("\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]");
    struct pod_state pod = {.sandbox = SANDBOX_PHASE_READY, .has_volumes = true};
    struct container_state *c = &pod.containers[0];
    const uint64_t second = 1000000000;
    size_t i;
    uint64_t wake;
    (void)state;
    container_pull_failed(c, "no such image", second);
    assert_string_equal(c->waiting_reason, "ErrImagePull");
    assert_int_equal(pod_next_action(spec, &pod, second, &i, &wake), POD_WAIT);
    assert_int_equal(wake, 2 * second);
    assert_false(pod_put_off(spec, &pod, second));
    assert_true(pod_put_off(spec, &pod, 2 * second));
    assert_string_equal(c->waiting_reason, "ImagePullBackOff");
    assert_string_equal(c->waiting_message, "no such image");
    assert_int_equal(pod_next_action(spec, &pod, 2 * second, &i, &wake), POD_WAIT);
    assert_int_equal(wake, 11 * second);
    assert_int_equal(pod_next_action(spec, &pod, 11 * second, &i, &wake), POD_PULL);
    pod_state_done(&pod);
    pod_spec_free(spec);
}

static void an_ended_run_becomes_the_last_one(void **state)
{
    struct container_state c = {
        .phase = EXITED,
        .id = osb_strdup("first"),
        .end = {.container_id = osb_strdup("containerd://first"), .exit_code = 3},
    };
    (void)state;
    container_next_run(&c);
    assert_int_equal(c.phase, NONE);
    assert_null(c.id);
    assert_int_equal(c.restart_count, 1);
    assert_int_equal(c.last_end.exit_code, 3);
    assert_null(c.end.container_id);
    termination_done(&c.last_end);
}

static void a_start_that_was_cut_short_is_taken_back_without_counting(void **state)
{
    struct pod_spec *spec = four_containers("Never");
    struct container_state container = {.phase = CONTAINER_PHASE_CUT, .restart_count = 2};
    (void)state;
    container.id = osb_strdup("c");
    assert_false(container_restarts(spec, &spec->containers[MAIN], &container));
    container_unmake(&container);
    assert_int_equal(container.phase, NONE);
    assert_int_equal(container.restart_count, 2);
    assert_null(container.id);
    assert_null(container.last_end.container_id);
    pod_spec_free(spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_comes_up_one_init_container_after_the_other),
        cmocka_unit_test(the_restart_policy_says_what_runs_again),
        cmocka_unit_test(phases_are_counted_as_the_kubelet_does),
        cmocka_unit_test(deletion_ends_from_every_state),
        cmocka_unit_test(the_back_off_doubles_up_to_its_limit),
        cmocka_unit_test(a_failed_pull_waits_and_is_told_as_put_off),
        cmocka_unit_test(a_start_that_was_cut_short_is_taken_back_without_counting),
        cmocka_unit_test(an_ended_run_becomes_the_last_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
