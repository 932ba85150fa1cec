// SPDX-License-Identifier: Apache-2.0
/* What a pod is taken for after a restart. CRI is never asked: calls start and are cancelled. */
#include "pod_adopt.h"

#include "pod_refresh.h"

#include <osb/alloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pod_fixture.h"

#define POD_TEXT(status)                                                                           \
    "{\"metadata\":{\"uid\":\"u-1\",\"name\":\"web\",\"namespace\":\"default\"},"                  \
    "\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]},"    \
    "\"status\":{" status "}}"
#define STARTED "\"startTime\":\"2026-01-01T00:00:00Z\""
#define RAN(id) "\"name\":\"c\",\"containerID\":\"containerd://" id "\",\"restartCount\":1"
#define RUNNING                                                                                    \
    STARTED ",\"podIP\":\"10.1.2.3\",\"containerStatuses\":[{" RAN(                                \
        "c1") ",\"state\":{\"running\":{\"startedAt\":\"2026-01-01T00:00:01Z\"}}}]"
#define ENDED                                                                                      \
    STARTED ",\"containerStatuses\":[{" RAN(                                                       \
        "c1") ",\"state\":{\"terminated\":{"                                                       \
              "\"containerID\":\"containerd://c1\",\"exitCode\":3,\"reason\":\"Error\"}}}]"

struct fixture {
    struct node node;
    struct pod *pod;
    struct found_sandbox sandboxes[2];
    struct found_container containers[2];
    struct cri_inventory inventory;
};

static int set_up(void **state)
{
    struct fixture *f = osb_new(struct fixture);
    assert_int_equal(osb_loop_new_epoll(&f->node.loop, NULL), 0);
    assert_int_equal(
        osb_cri_client_new(f->node.loop, "unix:///nowhere/none.sock", &f->node.cri, NULL), 0);
    f->inventory.sandboxes = f->sandboxes;
    f->inventory.containers = f->containers;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    pod_free(f->pod);
    osb_cri_client_free(f->node.cri);
    osb_loop_free(f->node.loop);
    free(f);
    return 0;
}

static char *text(const char *literal)
{
    return (char *)(uintptr_t)literal; /* nobody writes to it here */
}

static void sandbox_is_found(struct fixture *f, const char *id, uint32_t attempt, bool is_ready)
{
    f->sandboxes[f->inventory.sandbox_count++] = (struct found_sandbox){
        .id = text(id), .pod_uid = text("u-1"), .attempt = attempt, .is_ready = is_ready};
}

static void container_is_found(struct fixture *f, const char *id, uint32_t attempt)
{
    f->containers[f->inventory.container_count++] = (struct found_container){
        .id = text(id), .sandbox_id = text("s1"), .name = text("c"), .attempt = attempt};
}

/* The pod as it is after its adoption; its only container. */
static const struct container_state *adopt(struct fixture *f, const char *object_text)
{
    struct osb_json *object = NULL;
    struct pod_spec *spec = NULL;
    assert_int_equal(osb_json_parse(osb_slice_str(object_text), &object, NULL), 0);
    assert_int_equal(pod_spec_parse(object, &spec, NULL), 0);
    f->pod = pod_new(&f->node, spec);
    pod_adopt(f->pod, &f->inventory);
    return &f->pod->state.containers[0];
}

static enum pod_action next(const struct fixture *f)
{
    size_t container;
    uint64_t wake;
    return pod_next_action(f->pod->spec, &f->pod->state, 0, &container, &wake);
}

static void a_new_pod_starts_from_nothing(void **state)
{
    struct fixture *f = *state;
    adopt(f, POD_TEXT("\"phase\":\"Pending\""));
    assert_int_equal(f->pod->state.sandbox, SANDBOX_PHASE_NONE);
    assert_false(f->pod->is_adopting);
    assert_int_equal(next(f), POD_PREPARE_VOLUMES);
}

static void a_running_pod_is_taken_over_as_it_is(void **state)
{
    struct fixture *f = *state;
    sandbox_is_found(f, "s1", 0, true);
    container_is_found(f, "c1", 1);
    const struct container_state *container = adopt(f, POD_TEXT(RUNNING));
    assert_true(f->sandboxes[0].is_claimed);
    assert_int_equal(f->pod->state.sandbox, SANDBOX_PHASE_READY);
    assert_string_equal(f->pod->state.ip, "10.1.2.3");
    assert_int_equal(container->phase, CONTAINER_PHASE_RUNNING);
    assert_int_equal(container->restart_count, 1);
    assert_int_equal(f->pod->times.start_ns, INT64_C(1767225600) * 1000000000);
    assert_int_equal(next(f), POD_WAIT);
}

static void nothing_is_done_before_cri_has_told_what_became_of_the_containers(void **state)
{
    struct fixture *f = *state;
    sandbox_is_found(f, "s1", 0, true);
    container_is_found(f, "c2", 0); /* made after the last status write: it may run by now */
    const struct container_state *container = adopt(f, POD_TEXT(STARTED));
    assert_string_equal(container->id, "c2");
    assert_int_equal(container->phase, CONTAINER_PHASE_CREATED);
    assert_true(f->pod->is_adopting);
}

static void a_container_that_is_gone_counts_as_killed(void **state)
{
    struct fixture *f = *state;
    sandbox_is_found(f, "s1", 0, true);
    const struct container_state *container = adopt(f, POD_TEXT(RUNNING));
    assert_int_equal(container->phase, CONTAINER_PHASE_EXITED);
    assert_int_equal(container->end.exit_code, 137);
    assert_string_equal(container->end.reason, "ContainerStatusUnknown");
}

static void an_end_that_was_told_stays_as_it_was_told(void **state)
{
    struct fixture *f = *state;
    const struct container_state *container = adopt(f, POD_TEXT(ENDED));
    assert_int_equal(container->phase, CONTAINER_PHASE_EXITED);
    assert_int_equal(container->end.exit_code, 3);
    assert_string_equal(pod_phase(f->pod->spec, &f->pod->state), "Failed");
    assert_true(f->pod->state.has_volumes); /* so that its folders go with it */
}

static void of_two_sandboxes_the_newer_one_is_the_pods(void **state)
{
    struct fixture *f = *state;
    sandbox_is_found(f, "s0", 0, true);
    sandbox_is_found(f, "s1", 1, true);
    adopt(f, POD_TEXT(STARTED));
    assert_string_equal(f->pod->state.sandbox_id, "s1");
    assert_int_equal(f->pod->state.sandbox, SANDBOX_PHASE_UNKNOWN); /* its address is not known */
    assert_false(f->sandboxes[0].is_claimed);
}

static void a_sandbox_that_has_ended_is_removed_first(void **state)
{
    struct fixture *f = *state;
    sandbox_is_found(f, "s1", 0, false);
    adopt(f, POD_TEXT(STARTED));
    assert_int_equal(next(f), POD_REMOVE_SANDBOX);
}

static void a_pod_that_failed_by_its_deadline_stays_failed(void **state)
{
    struct fixture *f = *state;
    adopt(f, POD_TEXT(STARTED ",\"phase\":\"Failed\",\"reason\":\"" POD_DEADLINE_REASON "\""));
    assert_string_equal(pod_phase(f->pod->spec, &f->pod->state), "Failed");
    assert_int_equal(next(f), POD_WAIT);
}

static Runtime__V1__ContainerStatus ended_status(const char *reason, const char *message)
{
    Runtime__V1__ContainerStatus status = RUNTIME__V1__CONTAINER_STATUS__INIT;
    status.id = text("c2");
    status.state = RUNTIME__V1__CONTAINER_STATE__CONTAINER_EXITED;
    status.exit_code = 128;
    status.reason = text(reason);
    status.message = text(message);
    return status;
}

static void a_start_cut_short_by_our_own_end_is_made_again(void **state)
{
    struct fixture *f = *state;
    sandbox_is_found(f, "s1", 0, true);
    container_is_found(f, "c2", 0);
    const struct container_state *container = adopt(f, POD_TEXT(STARTED ",\"podIP\":\"10.1.2.3\""));
    Runtime__V1__ContainerStatus status =
        ended_status("StartError", "failed to start containerd task: context canceled: unknown");
    assert_true(pod_apply_container(f->pod, 0, &status));
    assert_int_equal(container->phase, CONTAINER_PHASE_CUT);
    assert_string_equal(pod_phase(f->pod->spec, &f->pod->state), "Pending");
    assert_int_equal(next(f), POD_REMOVE_CONTAINER);
    assert_false(pod_apply_container(f->pod, 0, &status));
}

static void a_start_that_failed_is_the_end_of_the_run(void **state)
{
    struct fixture *f = *state;
    sandbox_is_found(f, "s1", 0, true);
    container_is_found(f, "c2", 0);
    const struct container_state *container = adopt(f, POD_TEXT(STARTED ",\"podIP\":\"10.1.2.3\""));
    Runtime__V1__ContainerStatus status =
        ended_status("StartError", "exec: \"none\": executable file not found");
    assert_true(pod_apply_container(f->pod, 0, &status));
    assert_int_equal(container->phase, CONTAINER_PHASE_EXITED);
    assert_string_equal(pod_phase(f->pod->spec, &f->pod->state), "Failed");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(a_new_pod_starts_from_nothing),
        T(a_running_pod_is_taken_over_as_it_is),
        T(nothing_is_done_before_cri_has_told_what_became_of_the_containers),
        T(a_container_that_is_gone_counts_as_killed),
        T(an_end_that_was_told_stays_as_it_was_told),
        T(of_two_sandboxes_the_newer_one_is_the_pods),
        T(a_sandbox_that_has_ended_is_removed_first),
        T(a_pod_that_failed_by_its_deadline_stays_failed),
        T(a_start_cut_short_by_our_own_end_is_made_again),
        T(a_start_that_failed_is_the_end_of_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
