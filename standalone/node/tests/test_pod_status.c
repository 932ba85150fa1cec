// SPDX-License-Identifier: Apache-2.0
#include "pod_status.h"

#include <osb/alloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pod_fixture.h"

enum { SECOND = 1000000000 };
#define NOW (INT64_C(1767225600) * SECOND) /* 2026-01-01T00:00:00Z */

static const char two_containers[] =
    "\"initContainers\":[{\"name\":\"i\",\"image\":\"i:1\"}],"
    "\"containers\":[{\"name\":\"m\",\"image\":\"m:1\"}],\"restartPolicy\":\"Never\"";
enum { INIT, MAIN };

struct fixture {
    struct pod_spec *spec;
    struct pod_state state;
    struct pod_times times;
    struct osb_buf text;
    struct osb_json *object;
};

/* The status as it is printed now; borrowed until the next call. */
static const struct osb_json *status_at(struct fixture *f, int64_t now_ns)
{
    osb_json_free(f->object);
    f->object = NULL;
    osb_buf_clear(&f->text);
    pod_status_print(f->spec, &f->state, &f->times, now_ns, "192.0.2.1", &f->text);
    assert_int_equal(osb_json_parse(osb_buf_slice(&f->text), &f->object, NULL), 0);
    return osb_json_get(f->object, "status");
}

static const char *text_of(const struct osb_json *status, const char *path)
{
    return osb_json_cstr(osb_json_get_path(status, path));
}

static const struct osb_json *container_of(const struct osb_json *status, const char *list)
{
    return osb_json_at(osb_json_get(status, list), 0);
}

static const struct osb_json *condition_of(const struct osb_json *status, const char *type)
{
    const struct osb_json *list = osb_json_get(status, "conditions");
    for (size_t i = 0; i < osb_json_count(list); i++) {
        if (!strcmp(text_of(osb_json_at(list, i), "type"), type))
            return osb_json_at(list, i);
    }
    fail_msg("no condition %s", type);
    return NULL;
}

static int set_up(void **state)
{
    struct fixture *f = osb_new(struct fixture);
    f->spec = fixture_pod(two_containers);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    pod_state_done(&f->state);
    pod_spec_free(f->spec);
    osb_buf_done(&f->text);
    osb_json_free(f->object);
    free(f);
    return 0;
}

static void end_container(struct container_state *container, int exit_code)
{
    container->phase = CONTAINER_PHASE_EXITED;
    container->id = osb_strdup("c1");
    container->end = (struct termination){.container_id = osb_strdup("containerd://c1"),
                                          .exit_code = exit_code,
                                          .started_ns = NOW,
                                          .finished_ns = NOW + SECOND,
                                          .reason = osb_strdup(exit_code ? "Error" : "Completed")};
}

static void a_write_is_for_the_pod_of_that_uid_only(void **state)
{
    struct fixture *f = *state;
    (void)status_at(f, NOW);
    assert_string_equal(text_of(f->object, "metadata.uid"), "u-1");
}

static void a_pod_that_has_nothing_yet_waits_for_its_containers(void **state)
{
    struct fixture *f = *state;
    const struct osb_json *status = status_at(f, NOW);
    assert_string_equal(text_of(status, "phase"), "Pending");
    assert_null(osb_json_get(status, "podIP"));
    assert_string_equal(
        text_of(container_of(status, "initContainerStatuses"), "state.waiting.reason"),
        "ContainerCreating");
    assert_string_equal(text_of(container_of(status, "containerStatuses"), "state.waiting.reason"),
                        "PodInitializing");
    assert_string_equal(text_of(condition_of(status, "Initialized"), "status"), "False");
}

static void why_there_is_no_sandbox_is_told_at_the_containers(void **state)
{
    struct fixture *f = *state;
    f->state.sandbox_message = osb_strdup("FailedMount: no such secret");
    assert_string_equal(
        text_of(container_of(status_at(f, NOW), "containerStatuses"), "state.waiting.message"),
        "FailedMount: no such secret");
}

static void a_running_pod_has_address_and_ready_condition(void **state)
{
    struct fixture *f = *state;
    f->state.ip = osb_strdup("10.1.2.3");
    end_container(&f->state.containers[INIT], 0);
    f->state.containers[MAIN].phase = CONTAINER_PHASE_RUNNING;
    f->state.containers[MAIN].started_ns = NOW;
    const struct osb_json *status = status_at(f, NOW);
    assert_string_equal(text_of(status, "phase"), "Running");
    assert_string_equal(text_of(status, "podIP"), "10.1.2.3");
    assert_string_equal(text_of(osb_json_at(osb_json_get(status, "podIPs"), 0), "ip"), "10.1.2.3");
    assert_string_equal(text_of(condition_of(status, "Ready"), "status"), "True");
    assert_string_equal(
        text_of(container_of(status, "containerStatuses"), "state.running.startedAt"),
        "2026-01-01T00:00:00Z");
}

static void the_same_state_gives_the_same_text_at_any_time(void **state)
{
    struct fixture *f = *state;
    (void)status_at(f, NOW);
    char *before = osb_strdup(osb_buf_cstr(&f->text));
    (void)status_at(f, NOW + 5 * (int64_t)SECOND);
    assert_string_equal(osb_buf_cstr(&f->text), before);
    free(before);
}

static void a_condition_tells_when_it_changed(void **state)
{
    struct fixture *f = *state;
    (void)status_at(f, NOW);
    end_container(&f->state.containers[INIT], 0);
    const struct osb_json *status = status_at(f, NOW + 5 * (int64_t)SECOND);
    assert_string_equal(text_of(condition_of(status, "Initialized"), "lastTransitionTime"),
                        "2026-01-01T00:00:05Z");
    assert_string_equal(text_of(condition_of(status, "Ready"), "lastTransitionTime"),
                        "2026-01-01T00:00:00Z");
}

static void an_end_by_a_signal_is_told_with_the_signal(void **state)
{
    struct fixture *f = *state;
    end_container(&f->state.containers[INIT], 0);
    end_container(&f->state.containers[MAIN], 137);
    const struct osb_json *status = status_at(f, NOW);
    const struct osb_json *container = container_of(status, "containerStatuses");
    assert_string_equal(text_of(status, "phase"), "Failed");
    assert_int_equal(osb_json_i64_or(osb_json_get_path(container, "state.terminated.exitCode"), -1),
                     137);
    assert_int_equal(osb_json_i64_or(osb_json_get_path(container, "state.terminated.signal"), -1),
                     9);
    assert_string_equal(text_of(condition_of(status, "Ready"), "reason"), "PodCompleted");
}

static void a_container_between_two_runs_shows_its_end_as_the_last_state(void **state)
{
    struct fixture *f = *state;
    struct container_state *container = &f->state.containers[MAIN];
    end_container(&f->state.containers[INIT], 0);
    end_container(container, 1);
    container->waiting_reason = osb_strdup("CrashLoopBackOff");
    const struct osb_json *shown = container_of(status_at(f, NOW), "containerStatuses");
    assert_string_equal(text_of(shown, "state.waiting.reason"), "CrashLoopBackOff");
    assert_int_equal(osb_json_i64_or(osb_json_get_path(shown, "lastState.terminated.exitCode"), -1),
                     1);
}

static void a_pod_over_its_deadline_has_failed_with_that_reason(void **state)
{
    struct fixture *f = *state;
    f->state.is_past_deadline = true;
    f->state.failed_reason = osb_strdup("DeadlineExceeded");
    f->state.failed_message = osb_strdup("too long");
    const struct osb_json *status = status_at(f, NOW);
    assert_string_equal(text_of(status, "phase"), "Failed");
    assert_string_equal(text_of(status, "reason"), "DeadlineExceeded");
    assert_string_equal(text_of(status, "message"), "too long");
}

static void a_start_that_was_cut_short_is_told_as_waiting(void **state)
{
    struct fixture *f = *state;
    end_container(&f->state.containers[INIT], 0);
    f->state.containers[MAIN].phase = CONTAINER_PHASE_CUT;
    const struct osb_json *status = status_at(f, NOW);
    assert_string_equal(text_of(status, "phase"), "Pending");
    assert_string_equal(text_of(container_of(status, "containerStatuses"), "state.waiting.reason"),
                        "PodInitializing");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(a_write_is_for_the_pod_of_that_uid_only),
        T(a_pod_that_has_nothing_yet_waits_for_its_containers),
        T(why_there_is_no_sandbox_is_told_at_the_containers),
        T(a_running_pod_has_address_and_ready_condition),
        T(the_same_state_gives_the_same_text_at_any_time),
        T(a_condition_tells_when_it_changed),
        T(an_end_by_a_signal_is_told_with_the_signal),
        T(a_container_between_two_runs_shows_its_end_as_the_last_state),
        T(a_pod_over_its_deadline_has_failed_with_that_reason),
        T(a_start_that_was_cut_short_is_told_as_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
