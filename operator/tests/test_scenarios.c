// SPDX-License-Identifier: Apache-2.0
/* The controller against an API server in memory, on the virtual clock, with faults and crashes. */
#include <osb/alloc.h>
#include <osb/api_meta.h>
#include <osb/cleanup.h>
#include <osb/clock.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka needs the ones above first
#include <cmocka.h>

#include "fake_api.h"
#include "operator_process.h"
#include "sandbox_controller.h"

/* Rounds of the random scenario; raise it to search for trouble. */
#ifndef OSB_TEST_ROUNDS
#define OSB_TEST_ROUNDS 6
#endif

struct fixture {
    struct osb_loop *loop;
    struct fake_api *api;
    struct process *process;
};

static int set_up(void **state)
{
    struct fixture *f = osb_new(struct fixture);
    assert_int_equal(osb_loop_new_sim(&f->loop, NULL), 0);
    f->api = fake_api_new(f->loop);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    if (f->process)
        process_kill(f->process);
    fake_api_free(f->api);
    osb_loop_free(f->loop);
    free(f);
    return 0;
}

/* ---- helpers ---- */

static void start(struct fixture *f)
{
    f->process = process_start(f->api, 5);
}

static void restart(struct fixture *f)
{
    process_kill(f->process);
    start(f);
}

/* Lets time pass, a node doing its work meanwhile; in larger steps once the hurry is over. */
static void run_ms(struct fixture *f, uint64_t ms)
{
    uint64_t step_ms;
    for (uint64_t passed = 0; passed < ms; passed += step_ms) {
        step_ms = passed < 1000 ? 5 : 50;
        osb_loop_sim_advance(f->loop, step_ms * OSB_NS_PER_MS);
        osb_loop_sim_settle(f->loop);
        fake_node_turn(f->api);
        osb_loop_sim_settle(f->loop);
    }
}

static void put_sandbox(struct fixture *f, const char *name, int replicas, const char *more_spec,
                        const char *mark)
{
    _cleanup_free_ char *text = osb_asprintf(
        "{\"apiVersion\":\"sandbox.opensandbox.io/v1alpha1\",\"kind\":\"BatchSandbox\","
        "\"metadata\":{\"name\":\"%s\",\"annotations\":{\"opensandbox.io/request-id\":\"r\"}},"
        "\"spec\":{\"replicas\":%d,%s\"template\":{\"metadata\":{\"annotations\":{%s}},"
        "\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"sandbox\","
        "\"image\":\"i\",\"command\":[\"sleep\"]}]}}}}",
        name, replicas, more_spec, mark);
    fake_api_put(f->api, "batchsandboxes", text);
}

#define MARK "\"opensandbox.io/inject\":\"execd\""

static const char *phase_of(const struct fixture *f, const char *name)
{
    const char *phase = osb_json_cstr(
        osb_json_get_path(fake_api_get(f->api, "batchsandboxes", name), "status.phase"));
    return phase ? phase : "";
}

static int64_t counter_of(const struct fixture *f, const char *name, const char *counter)
{
    _cleanup_free_ char *path = osb_asprintf("status.%s", counter);
    return osb_json_i64_or(osb_json_get_path(fake_api_get(f->api, "batchsandboxes", name), path),
                           -1);
}

/* "Type/Reason" of the conditions that hold, each with a blank behind. */
static char *conditions_of(const struct fixture *f, const char *name)
{
    struct osb_buf text = {0};
    const struct osb_json *conditions =
        osb_json_get_path(fake_api_get(f->api, "batchsandboxes", name), "status.conditions");
    for (size_t i = 0; i < osb_json_count(conditions); i++) {
        const struct osb_json *condition = osb_json_at(conditions, i);
        osb_buf_appendf(&text, "%s/%s ", osb_json_cstr(osb_json_get(condition, "type")),
                        osb_json_cstr(osb_json_get(condition, "reason")));
    }
    return osb_buf_take(&text);
}

#define assert_conditions(f, name, expected)                                                       \
    do {                                                                                           \
        _cleanup_free_ char *conditions_ = conditions_of((f), (name));                             \
        assert_string_equal(conditions_, (expected));                                              \
    } while (0)

static const char *annotation_of(const struct fixture *f, const char *name, const char *key)
{
    const struct osb_json *annotations =
        osb_json_get_path(fake_api_get(f->api, "batchsandboxes", name), "metadata.annotations");
    const char *value = osb_json_cstr(osb_json_get(annotations, key));
    return value ? value : "";
}

static const char *endpoints_of(const struct fixture *f, const char *name)
{
    return annotation_of(f, name, "sandbox.opensandbox.io/endpoints");
}

static bool has_event(const struct fixture *f, const char *reason)
{
    struct fake_object *object;
    osb_list_foreach (object, &f->api->objects, link)
        if (strcmp(object->collection, "events") == 0 &&
            osb_slice_eq_str(osb_json_str(osb_json_get(object->tree, "reason")), reason))
            return true;
    return false;
}

static const char *uid_of(const struct fixture *f, const char *pod)
{
    return osb_json_cstr(osb_json_get_path(fake_api_get(f->api, "pods", pod), "metadata.uid"));
}

/* ---- the straight way ---- */

static void test_a_sandbox_gets_its_pods_endpoints_and_status(void **state)
{
    struct fixture *f = *state;
    start(f);
    put_sandbox(f, "a", 3, "", "");
    run_ms(f, 200);
    assert_int_equal(fake_api_count(f->api, "pods"), 3);
    assert_string_equal(phase_of(f, "a"), "Succeed");
    assert_int_equal(counter_of(f, "a", "ready"), 3);
    assert_int_equal(counter_of(f, "a", "taskPending"), 0);
    assert_conditions(f, "a", "Ready/PodsReady ");
    assert_int_equal(strncmp(endpoints_of(f, "a"), "[\"10.0.0.", 9), 0);
    assert_int_equal(fake_api_count(f->api, "secrets"), 0);
    assert_true(has_event(f, "SuccessfulCreate"));
    const struct osb_json *labels =
        osb_json_get_path(fake_api_get(f->api, "pods", "a-2"), "metadata.labels");
    assert_string_equal(osb_json_cstr(osb_json_get(labels, LABEL_POD_INDEX)), "2");
    assert_string_equal(osb_json_cstr(osb_json_get(labels, LABEL_POD_NAME)), "a");
}

static void test_nothing_is_written_once_all_is_as_it_should_be(void **state)
{
    struct fixture *f = *state;
    start(f);
    put_sandbox(f, "a", 2, "", "");
    put_sandbox(f, "b", 2, "", MARK);
    run_ms(f, 500);
    int writes = f->api->writes;
    run_ms(f, 60000);
    restart(f);
    run_ms(f, 5000);
    fake_api_cut_watches(f->api);
    run_ms(f, 5000);
    assert_int_equal(f->api->writes, writes);
}

static void test_a_marked_sandbox_waits_for_its_execd_and_has_its_secret_first(void **state)
{
    struct fixture *f = *state;
    start(f);
    f->process->is_execd_up = false;
    put_sandbox(f, "a", 1, "", MARK);
    run_ms(f, 3000);
    assert_string_equal(phase_of(f, "a"), "Pending");
    assert_int_equal(counter_of(f, "a", "ready"), 0);
    const struct osb_json *secret = fake_api_get(f->api, "secrets", "a-tokens");
    const struct osb_json *pod = fake_api_get(f->api, "pods", "a-0");
    assert_non_null(secret);
    assert_true(atoll(uid_of(f, "a-0") + 4) >
                atoll(osb_json_cstr(osb_json_get_path(secret, "metadata.uid")) + 4));
    const struct osb_json *container = osb_json_at(osb_json_get_path(pod, "spec.containers"), 0);
    assert_string_equal(osb_json_cstr(osb_json_at(osb_json_get(container, "command"), 0)),
                        LAUNCHER);
    f->process->is_execd_up = true;
    run_ms(f, 1500);
    assert_string_equal(phase_of(f, "a"), "Succeed");
}

/* ---- changes ---- */

static void test_replicas_down_takes_the_highest_indexes(void **state)
{
    struct fixture *f = *state;
    start(f);
    put_sandbox(f, "a", 4, "", "");
    run_ms(f, 300);
    fake_api_patch(f->api, "batchsandboxes", "a", "{\"spec\":{\"replicas\":2}}");
    run_ms(f, 300);
    assert_int_equal(fake_api_count(f->api, "pods"), 2);
    assert_non_null(fake_api_get(f->api, "pods", "a-0"));
    assert_non_null(fake_api_get(f->api, "pods", "a-1"));
    fake_api_patch(f->api, "batchsandboxes", "a", "{\"spec\":{\"replicas\":5}}");
    run_ms(f, 300);
    assert_int_equal(fake_api_count(f->api, "pods"), 5);
    assert_int_equal(counter_of(f, "a", "ready"), 5);
    fake_api_patch(f->api, "batchsandboxes", "a", "{\"spec\":{\"replicas\":0}}");
    run_ms(f, 300);
    assert_int_equal(fake_api_count(f->api, "pods"), 0);
    assert_string_equal(endpoints_of(f, "a"), "[]");
    assert_string_equal(phase_of(f, "a"), "Succeed");
}

static void test_a_shard_patch_changes_its_pod_only(void **state)
{
    struct fixture *f = *state;
    start(f);
    put_sandbox(f, "a", 2,
                "\"shardPatches\":[{},{\"metadata\":{\"labels\":{\"x\":\"y\"},\"name\":\"evil\"},"
                "\"spec\":{\"containers\":[{\"name\":\"sandbox\",\"image\":\"other\"}]}}],",
                "");
    run_ms(f, 300);
    const struct osb_json *pod = fake_api_get(f->api, "pods", "a-1");
    const struct osb_json *container = osb_json_at(osb_json_get_path(pod, "spec.containers"), 0);
    assert_string_equal(osb_json_cstr(osb_json_get(container, "image")), "other");
    assert_int_equal(osb_json_count(osb_json_get_path(pod, "spec.containers")), 1);
    assert_string_equal(osb_json_cstr(osb_json_get_path(pod, "metadata.labels.x")), "y");
    container =
        osb_json_at(osb_json_get_path(fake_api_get(f->api, "pods", "a-0"), "spec.containers"), 0);
    assert_string_equal(osb_json_cstr(osb_json_get(container, "image")), "i");
}

static void test_expiry_deletes_and_can_be_put_off(void **state)
{
    struct fixture *f = *state;
    char text[OSB_RFC3339_MAX];
    start(f);
    osb_rfc3339_format(text, osb_loop_realtime_ns(f->loop) + 10 * (int64_t)OSB_NS_PER_S, 0);
    _cleanup_free_ char *spec = osb_asprintf("\"expireTime\":\"%s\",", text);
    put_sandbox(f, "a", 1, spec, "");
    run_ms(f, 5000);
    assert_non_null(fake_api_get(f->api, "batchsandboxes", "a"));
    osb_rfc3339_format(text, osb_loop_realtime_ns(f->loop) + 10 * (int64_t)OSB_NS_PER_S, 0);
    _cleanup_free_ char *patch = osb_asprintf("{\"spec\":{\"expireTime\":\"%s\"}}", text);
    fake_api_patch(f->api, "batchsandboxes", "a", patch);
    run_ms(f, 8000);
    assert_non_null(fake_api_get(f->api, "batchsandboxes", "a"));
    run_ms(f, 3100);
    assert_null(fake_api_get(f->api, "batchsandboxes", "a"));
    assert_int_equal(fake_api_count(f->api, "pods"), 0);
    assert_true(has_event(f, "Expired"));

    put_sandbox(f, "past", 1, "\"expireTime\":\"2001-01-01T00:00:00Z\",", "");
    run_ms(f, 100);
    assert_null(fake_api_get(f->api, "batchsandboxes", "past"));
    assert_null(fake_api_get(f->api, "pods", "past-0"));
}

static void test_what_is_not_built_or_wrong_is_said_and_nothing_is_made(void **state)
{
    static const struct {
        const char *spec;
        const char *reason;
    } cases[] = {
        {"\"poolRef\":\"p\",", "UnsupportedPool"},
        {"\"taskTemplate\":{\"spec\":{}},", "UnsupportedTaskTemplate"},
        {"\"expireTime\":\"tomorrow\",", "InvalidExpireTime"},
        {"\"shardPatches\":7,", "InvalidSpec"},
    };
    struct fixture *f = *state;
    start(f);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[8];
        _cleanup_free_ char *expected = osb_asprintf("PodFailed/%s ", cases[i].reason);
        snprintf(name, sizeof(name), "c%zu", i);
        put_sandbox(f, name, 1, cases[i].spec, "");
        run_ms(f, 200);
        assert_string_equal(phase_of(f, name), "Failed");
        assert_conditions(f, name, expected);
        assert_true(has_event(f, cases[i].reason));
    }
    assert_int_equal(fake_api_count(f->api, "pods"), 0);

    put_sandbox(f, "paused", 1, "\"pause\":true,", "");
    run_ms(f, 200);
    assert_string_equal(phase_of(f, "paused"), "Succeed");
    assert_conditions(f, "paused", "Ready/PodsReady PauseFailed/UnsupportedPause ");
    fake_api_patch(f->api, "batchsandboxes", "paused", "{\"spec\":{\"pause\":false}}");
    run_ms(f, 200);
    assert_conditions(f, "paused", "Ready/PodsReady ");
}

static void test_a_wrong_expiry_does_not_end_what_runs(void **state)
{
    struct fixture *f = *state;
    start(f);
    put_sandbox(f, "a", 1, "", "");
    run_ms(f, 200);
    fake_api_patch(f->api, "batchsandboxes", "a", "{\"spec\":{\"expireTime\":\"soon\"}}");
    run_ms(f, 200);
    assert_string_equal(phase_of(f, "a"), "Succeed");
    assert_conditions(f, "a", "Ready/PodsReady PodFailed/InvalidExpireTime ");
    assert_int_equal(fake_api_count(f->api, "pods"), 1);
}

/* ---- lost pods ---- */

static void test_a_pod_that_is_deleted_is_made_again_and_the_status_says_so(void **state)
{
    struct fixture *f = *state;
    start(f);
    put_sandbox(f, "a", 2, "", "");
    run_ms(f, 300);
    _cleanup_free_ char *before = osb_strdup(uid_of(f, "a-0"));
    restart(f); /* it must not need to have seen the first one */
    fake_api_remove(f->api, "pods", "a-0");
    run_ms(f, 500);
    assert_string_not_equal(uid_of(f, "a-0"), before);
    assert_string_equal(phase_of(f, "a"), "Succeed");
    assert_conditions(f, "a", "Ready/PodReplaced ");
    assert_string_equal(annotation_of(f, "a", "opensandbox.io/replaced-pods"), "1");
}

static void test_an_ended_pod_of_policy_never_stays_and_its_exit_code_is_shown(void **state)
{
    struct fixture *f = *state;
    start(f);
    put_sandbox(f, "a", 1, "", "");
    run_ms(f, 300);
    fake_api_patch(f->api, "pods", "a-0",
                   "{\"status\":{\"phase\":\"Failed\",\"containerStatuses\":[{\"name\":\"sandbox\","
                   "\"state\":{\"terminated\":{\"exitCode\":3,\"reason\":\"Error\"}}}]}}");
    run_ms(f, 60000);
    assert_int_equal(f->api->pods_created, 1);
    assert_string_equal(phase_of(f, "a"), "Failed");
    assert_conditions(f, "a", "PodFailed/Error ");
    const struct osb_json *condition = osb_json_at(
        osb_json_get_path(fake_api_get(f->api, "batchsandboxes", "a"), "status.conditions"), 0);
    assert_non_null(strstr(osb_json_cstr(osb_json_get(condition, "message")), "exit code=3"));
    assert_string_equal(endpoints_of(f, "a"), "[\"\"]");
}

static void test_an_evicted_pod_of_policy_always_is_made_again_but_not_in_a_hot_loop(void **state)
{
    struct fixture *f = *state;
    start(f);
    put_sandbox(f, "a", 1, "", "");
    fake_api_patch(f->api, "batchsandboxes", "a",
                   "{\"spec\":{\"template\":{\"spec\":{\"restartPolicy\":\"Always\"}}}}");
    run_ms(f, 300);
    for (int i = 0; i < 3; i++) {
        fake_api_patch(f->api, "pods", "a-0",
                       "{\"status\":{\"phase\":\"Failed\",\"reason\":\"Evicted\"}}");
        run_ms(f, 200);
        assert_string_equal(phase_of(f, "a"), "Failed");
        assert_int_equal(f->api->pods_created, i + 1);
        run_ms(f, 11000);
        assert_int_equal(f->api->pods_created, i + 2);
        assert_string_equal(phase_of(f, "a"), "Succeed");
    }
}

static void test_pods_left_by_an_object_of_the_same_name_are_removed(void **state)
{
    struct fixture *f = *state;
    fake_api_put(f->api, "pods",
                 "{\"metadata\":{\"name\":\"a-0\",\"ownerReferences\":[{\"apiVersion\":"
                 "\"sandbox.opensandbox.io/v1alpha1\",\"kind\":\"BatchSandbox\",\"name\":\"a\","
                 "\"uid\":\"old\",\"controller\":true}]},\"spec\":{}}");
    fake_api_put(f->api, "pods",
                 "{\"metadata\":{\"name\":\"b-0\",\"ownerReferences\":[{\"apiVersion\":"
                 "\"sandbox.opensandbox.io/v1alpha1\",\"kind\":\"BatchSandbox\",\"name\":\"b\","
                 "\"uid\":\"old\",\"controller\":true}]},\"spec\":{}}");
    put_sandbox(f, "a", 1, "", "");
    start(f);
    run_ms(f, 3000);
    assert_null(fake_api_get(f->api, "pods", "b-0"));
    assert_string_equal(phase_of(f, "a"), "Succeed");
    assert_int_equal(fake_api_count(f->api, "pods"), 1);
}

static void test_tokens_left_by_an_object_of_the_same_name_are_not_taken_over(void **state)
{
    struct fixture *f = *state;
    fake_api_put(f->api, "secrets",
                 "{\"metadata\":{\"name\":\"a-tokens\",\"ownerReferences\":[{\"apiVersion\":"
                 "\"sandbox.opensandbox.io/v1alpha1\",\"kind\":\"BatchSandbox\",\"name\":\"a\","
                 "\"uid\":\"old\",\"controller\":true}]},\"data\":{}}");
    fake_api_put(f->api, "secrets", "{\"metadata\":{\"name\":\"b-tokens\"},\"data\":{}}");
    start(f);
    put_sandbox(f, "a", 1, "", MARK);
    put_sandbox(f, "b", 1, "", MARK);
    run_ms(f, 500);
    assert_string_equal(phase_of(f, "a"), "Succeed");
    assert_non_null(osb_json_get_path(fake_api_get(f->api, "secrets", "a-tokens"), "data.execd"));
    assert_string_equal(phase_of(f, "b"), "Failed");
    assert_conditions(f, "b", "PodFailed/TokensNameTaken ");
    assert_int_equal(fake_api_count(f->api, "pods"), 1);
}

static void test_a_name_that_somebody_elses_pod_has_is_said(void **state)
{
    struct fixture *f = *state;
    fake_api_put(f->api, "pods", "{\"metadata\":{\"name\":\"a-0\"},\"spec\":{}}");
    start(f);
    put_sandbox(f, "a", 1, "", "");
    run_ms(f, 500);
    assert_string_equal(phase_of(f, "a"), "Failed");
    assert_conditions(f, "a", "PodFailed/PodNameTaken ");
    assert_true(has_event(f, "PodNameTaken"));
    assert_int_equal(f->api->pods_created, 0);
    fake_api_remove(f->api, "pods", "a-0");
    run_ms(f, 61000);
    assert_string_equal(phase_of(f, "a"), "Succeed");
}

/* ---- faults ---- */

struct storm {
    int fault_every; /* of so many writes one goes wrong */
    int count;
    enum fake_fault fault;
};

static enum fake_fault blow(struct fake_api *api, const char *method, const char *path, void *arg)
{
    struct storm *storm = arg;
    (void)api;
    (void)method;
    if (strstr(path, "/events"))
        return FAKE_OK;
    return ++storm->count % storm->fault_every == 0 ? storm->fault : FAKE_OK;
}

static void test_every_kind_of_fault_is_got_over_and_no_pod_is_made_twice(void **state)
{
    static const enum fake_fault faults[] = {FAKE_UNAVAILABLE, FAKE_CONFLICT, FAKE_SLOW_DOWN,
                                             FAKE_DROP,        FAKE_LOSE,     FAKE_INVALID};
    struct fixture *f = *state;
    start(f);
    int pods = 0;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        struct storm storm = {.fault_every = 3, .fault = faults[i]};
        char name[8];
        snprintf(name, sizeof(name), "f%zu", i);
        f->api->fault = blow;
        f->api->fault_arg = &storm;
        put_sandbox(f, name, 5, "", MARK);
        run_ms(f, 60000);
        f->api->fault = NULL;
        assert_string_equal(phase_of(f, name), "Succeed");
        pods += 5;
        assert_int_equal(f->api->pods_created, pods);
    }
    assert_int_equal(fake_api_count(f->api, "pods"), pods);
}

static void test_a_slow_watch_makes_no_pod_twice(void **state)
{
    struct fixture *f = *state;
    f->api->watch_lag_ms = 700;
    start(f);
    put_sandbox(f, "a", 6, "", "");
    run_ms(f, 10000);
    assert_string_equal(phase_of(f, "a"), "Succeed");
    assert_int_equal(f->api->pods_created, 6);
    assert_int_equal(f->api->pods_refused, 0); /* expectations spared even the asking */
}

static void test_a_watch_that_expired_is_got_over(void **state)
{
    struct fixture *f = *state;
    start(f);
    put_sandbox(f, "a", 2, "", "");
    run_ms(f, 500);
    fake_api_cut_watches(f->api);
    fake_api_patch(f->api, "batchsandboxes", "a", "{\"spec\":{\"replicas\":3}}");
    fake_api_remove(f->api, "pods", "a-0");
    f->api->forgotten = f->api->version;
    run_ms(f, 5000);
    assert_string_equal(phase_of(f, "a"), "Succeed");
    assert_int_equal(fake_api_count(f->api, "pods"), 3);
}

static enum fake_fault refuse_pods(struct fake_api *api, const char *method, const char *path,
                                   void *arg)
{
    (void)api;
    (void)arg;
    bool is_pod = strcmp(method, "POST") == 0 && strstr(path, "/pods");
    return is_pod ? FAKE_INVALID : FAKE_OK;
}

static void test_pods_that_the_api_server_refuses_are_a_failure_that_can_pass(void **state)
{
    struct fixture *f = *state;
    f->api->fault = refuse_pods;
    start(f);
    put_sandbox(f, "a", 1, "", "");
    run_ms(f, 1000);
    assert_string_equal(phase_of(f, "a"), "Failed");
    assert_conditions(f, "a", "PodFailed/FailedCreate ");
    assert_true(has_event(f, "FailedCreate"));
    f->api->fault = NULL;
    run_ms(f, 61000);
    assert_string_equal(phase_of(f, "a"), "Succeed");
}

/* ---- crashes ---- */

struct crash {
    int after; /* writes that are still carried out */
};

/* The last write that is done loses its answer, and then nothing is reached any more. */
static enum fake_fault crash_soon(struct fake_api *api, const char *method, const char *path,
                                  void *arg)
{
    struct crash *crash = arg;
    (void)api;
    (void)method;
    (void)path;
    if (--crash->after > 0)
        return FAKE_OK;
    return crash->after == 0 ? FAKE_LOSE : FAKE_DROP;
}

static enum fake_fault refuse_pod_patches(struct fake_api *api, const char *method,
                                          const char *path, void *arg)
{
    (void)api;
    const bool *is_on = arg;
    return *is_on && strcmp(method, "PATCH") == 0 && strstr(path, "/pods/") ? FAKE_INVALID
                                                                            : FAKE_OK;
}

static void test_labels_that_could_not_be_put_back_are_soon_after(void **state)
{
    struct fixture *f = *state;
    bool is_on = true;
    f->api->pod_label = LABEL_POD_NAME;
    put_sandbox(f, "a", 1, "", "");
    start(f);
    run_ms(f, 5000);
    f->api->fault = refuse_pod_patches;
    f->api->fault_arg = &is_on;
    fake_api_patch(f->api, "pods", "a-0",
                   "{\"metadata\":{\"labels\":{\"" LABEL_POD_NAME "\":null}}}");
    run_ms(f, 3000);
    const struct osb_json *pod = fake_api_get(f->api, "pods", "a-0");
    assert_null(osb_api_label(pod, LABEL_POD_NAME));
    is_on = false;
    run_ms(f, 15000); /* a back-off, and not the time that an answer is waited for */
    pod = fake_api_get(f->api, "pods", "a-0");
    assert_string_equal(osb_api_label(pod, LABEL_POD_NAME), "a");
    assert_int_equal(f->api->pods_created, 1);
}

static void test_killed_at_any_action_it_converges_and_no_pod_is_doubled(void **state)
{
    struct fixture *f = *state;
    int crashes = 0;
    for (int after = 1; after < 60; after++) {
        struct crash crash = {.after = after};
        char name[16];
        snprintf(name, sizeof(name), "k%d", after);
        int created = f->api->pods_created;
        start(f);
        f->api->fault = crash_soon;
        f->api->fault_arg = &crash;
        put_sandbox(f, name, 4, "", MARK);
        run_ms(f, 60);
        fake_api_patch(f->api, "batchsandboxes", name, "{\"spec\":{\"replicas\":3}}");
        run_ms(f, 60);
        crashes += crash.after <= 0;
        f->api->fault = NULL;
        restart(f);
        run_ms(f, 3000);
        assert_string_equal(phase_of(f, name), "Succeed");
        assert_int_equal(counter_of(f, name, "ready"), 3);
        assert_int_equal(fake_api_count(f->api, "pods"), 3);
        assert_int_equal(fake_api_count(f->api, "secrets"), 1);
        assert_true(f->api->pods_created - created <= 4);
        fake_api_remove(f->api, "batchsandboxes", name);
        run_ms(f, 200);
        assert_int_equal(fake_api_count(f->api, "pods"), 0);
        process_kill(f->process);
        f->process = NULL;
    }
    assert_true(crashes > 10);
}

static void test_who_leads_no_more_writes_nothing_and_goes_on_when_it_leads_again(void **state)
{
    struct fixture *f = *state;
    start(f);
    run_ms(f, 50);
    for (int after_ms = 0; after_ms < 100; after_ms += 5) {
        char name[16];
        snprintf(name, sizeof(name), "l%d", after_ms);
        put_sandbox(f, name, 3, "", MARK);
        run_ms(f, (uint64_t)after_ms);
        sandbox_controller_lead(f->process->op.sandboxes, false);
        int writes = f->api->writes;
        int asked = f->process->asked;
        put_sandbox(f, "meanwhile", 1, "", MARK);
        run_ms(f, 500);
        assert_int_equal(f->api->writes, writes);
        assert_int_equal(f->process->asked, asked);
        sandbox_controller_lead(f->process->op.sandboxes, true);
        run_ms(f, 3000);
        assert_string_equal(phase_of(f, name), "Succeed");
        assert_string_equal(phase_of(f, "meanwhile"), "Succeed");
        assert_int_equal(fake_api_count(f->api, "pods"), 4);
        fake_api_remove(f->api, "batchsandboxes", name);
        fake_api_remove(f->api, "batchsandboxes", "meanwhile");
        run_ms(f, 500);
        assert_int_equal(fake_api_count(f->api, "pods"), 0);
    }
}

/* A small generator, so that a failing run can be had again by its seed. */
static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1103515245U + 12345U;
    return *seed >> 16;
}

static enum fake_fault random_fault(struct fake_api *api, const char *method, const char *path,
                                    void *arg)
{
    unsigned *seed = arg;
    (void)api;
    (void)method;
    (void)path;
    switch (next_random(seed) % 16) {
    case 0:
        return FAKE_UNAVAILABLE;
    case 1:
        return FAKE_LOSE;
    case 2:
        return FAKE_DROP;
    case 3:
        return FAKE_CONFLICT;
    default:
        return FAKE_OK;
    }
}

/* Leads no more for a while, if it does. */
static void pause_leading(struct fixture *f, uint64_t ms)
{
    struct sandbox_controller *controller = f->process->op.sandboxes;
    if (!controller->leads)
        return;
    sandbox_controller_lead(controller, false);
    int writes = f->api->writes;
    run_ms(f, ms);
    assert_int_equal(f->api->writes, writes);
    sandbox_controller_lead(controller, true);
}

static void churn(struct fixture *f, unsigned *seed, int *wanted)
{
    for (int step = 0; step < 40; step++) {
        int i = (int)(next_random(seed) % 5);
        char name[8];
        snprintf(name, sizeof(name), "s%d", i);
        int replicas = (int)(next_random(seed) % 4);
        if (wanted[i] < 0) {
            put_sandbox(f, name, replicas, "", next_random(seed) % 2 ? MARK : "");
            wanted[i] = replicas;
        } else if (next_random(seed) % 3 == 0) {
            fake_api_remove(f->api, "batchsandboxes", name);
            wanted[i] = -1;
        } else {
            _cleanup_free_ char *patch = osb_asprintf("{\"spec\":{\"replicas\":%d}}", replicas);
            fake_api_patch(f->api, "batchsandboxes", name, patch);
            wanted[i] = replicas;
        }
        run_ms(f, next_random(seed) % 50);
        if (next_random(seed) % 8 == 0)
            restart(f);
        if (next_random(seed) % 8 == 0)
            pause_leading(f, next_random(seed) % 100);
        if (next_random(seed) % 8 == 0)
            fake_api_cut_watches(f->api);
    }
}

static void test_random_churn_faults_and_crashes_end_where_they_should(void **state)
{
    struct fixture *f = *state;
    start(f);
    for (unsigned first = 1; first <= OSB_TEST_ROUNDS; first++) {
        unsigned seed = first * 7919;
        int wanted[5] = {-1, -1, -1, -1, -1};
        int total = 0;
        f->api->watch_lag_ms = first % 3 * 10;
        f->api->fault = random_fault;
        f->api->fault_arg = &seed;
        churn(f, &seed, wanted);
        f->api->fault = NULL;
        run_ms(f, 65000);
        int pods = fake_api_count(f->api, "pods");
        for (int i = 0; i < 5; i++) {
            char name[8];
            snprintf(name, sizeof(name), "s%d", i);
            if (wanted[i] < 0)
                continue;
            total += wanted[i];
            if (counter_of(f, name, "ready") != wanted[i])
                print_error("seed %u\n", first);
            assert_int_equal(counter_of(f, name, "ready"), wanted[i]);
            assert_string_equal(phase_of(f, name), "Succeed");
            fake_api_remove(f->api, "batchsandboxes", name);
        }
        assert_int_equal(pods, total);
        run_ms(f, 3000);
        fake_collect_secrets(f->api);
        assert_int_equal(fake_api_count(f->api, "pods"), 0);
        assert_int_equal(fake_api_count(f->api, "secrets"), 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    osb_log_setup("test", OSB_LOG_ERROR, 2); /* the faults are on purpose */
    const struct CMUnitTest tests[] = {
        TEST(test_a_sandbox_gets_its_pods_endpoints_and_status),
        TEST(test_nothing_is_written_once_all_is_as_it_should_be),
        TEST(test_a_marked_sandbox_waits_for_its_execd_and_has_its_secret_first),
        TEST(test_replicas_down_takes_the_highest_indexes),
        TEST(test_a_shard_patch_changes_its_pod_only),
        TEST(test_expiry_deletes_and_can_be_put_off),
        TEST(test_what_is_not_built_or_wrong_is_said_and_nothing_is_made),
        TEST(test_a_wrong_expiry_does_not_end_what_runs),
        TEST(test_a_pod_that_is_deleted_is_made_again_and_the_status_says_so),
        TEST(test_an_ended_pod_of_policy_never_stays_and_its_exit_code_is_shown),
        TEST(test_an_evicted_pod_of_policy_always_is_made_again_but_not_in_a_hot_loop),
        TEST(test_pods_left_by_an_object_of_the_same_name_are_removed),
        TEST(test_tokens_left_by_an_object_of_the_same_name_are_not_taken_over),
        TEST(test_a_name_that_somebody_elses_pod_has_is_said),
        TEST(test_every_kind_of_fault_is_got_over_and_no_pod_is_made_twice),
        TEST(test_a_slow_watch_makes_no_pod_twice),
        TEST(test_a_watch_that_expired_is_got_over),
        TEST(test_pods_that_the_api_server_refuses_are_a_failure_that_can_pass),
        TEST(test_labels_that_could_not_be_put_back_are_soon_after),
        TEST(test_killed_at_any_action_it_converges_and_no_pod_is_doubled),
        TEST(test_who_leads_no_more_writes_nothing_and_goes_on_when_it_leads_again),
        TEST(test_random_churn_faults_and_crashes_end_where_they_should),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
