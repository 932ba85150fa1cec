// SPDX-License-Identifier: Apache-2.0
/* The core alone: what is observed in, a plan out. */
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/clock.h>
#include <osb/kube_store.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka needs the ones above first
#include <cmocka.h>

#include "sandbox_reconcile.h"

#define NOW_NS (1767225600LL * 1000000000LL) /* 2026-01-01T00:00:00Z */

struct world {
    struct osb_kube_store *sandboxes;
    struct osb_kube_store *pods;
    const struct pod *listed[16];
    struct observation observed[16];
    struct reconcile_input in;
    struct plan plan;
};

static int set_up(void **state)
{
    struct world *w = osb_new(struct world);
    w->sandboxes = osb_kube_store_new(&batchsandbox_projection);
    w->pods = osb_kube_store_new(&pod_projection);
    w->in = (struct reconcile_input){.may_scale = true, .now_ns = NOW_NS};
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    plan_done(&w->plan);
    osb_kube_store_free(w->sandboxes);
    osb_kube_store_free(w->pods);
    free(w);
    return 0;
}

/* SPEC and STATUS are the insides of the objects; ANNOTATIONS those of metadata.annotations. */
static void put_sandbox(struct world *w, const char *annotations, const char *spec,
                        const char *status)
{
    _cleanup_free_ char *text = osb_asprintf(
        "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":\"u\",\"generation\":1,"
        "\"annotations\":{%s}},\"spec\":{%s},\"status\":{%s}}",
        annotations, spec, status);
    assert_int_equal(osb_kube_store_apply(w->sandboxes, osb_slice_str(text), NULL), 0);
}

#define TEMPLATE                                                                                   \
    "\"template\":{\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"sandbox\"}]}" \
    "}"

static void put_pod(struct world *w, int index, const char *status)
{
    _cleanup_free_ char *text = osb_asprintf(
        "{\"metadata\":{\"name\":\"a-%d\",\"namespace\":\"n\",\"uid\":\"p%d\","
        "\"creationTimestamp\":\"2025-12-31T23:59:58Z\",\"ownerReferences\":[{\"apiVersion\":"
        "\"sandbox.opensandbox.io/v1alpha1\",\"kind\":\"BatchSandbox\",\"name\":\"a\","
        "\"uid\":\"u\",\"controller\":true}]},\"spec\":{\"nodeName\":\"x\"},\"status\":{%s}}",
        index, index, status);
    assert_int_equal(osb_kube_store_apply(w->pods, osb_slice_str(text), NULL), 0);
}

static void put_marked_pod(struct world *w, const char *status)
{
    _cleanup_free_ char *text = osb_asprintf(
        "{\"metadata\":{\"name\":\"a-0\",\"namespace\":\"n\",\"uid\":\"p0\",\"annotations\":{"
        "\"opensandbox.io/inject\":\"execd\"},\"ownerReferences\":[{\"apiVersion\":"
        "\"sandbox.opensandbox.io/v1alpha1\",\"kind\":\"BatchSandbox\",\"name\":\"a\","
        "\"uid\":\"u\",\"controller\":true}]},\"spec\":{\"nodeName\":\"x\",\"restartPolicy\":"
        "\"Never\"},\"status\":{%s}}",
        status);
    assert_int_equal(osb_kube_store_apply(w->pods, osb_slice_str(text), NULL), 0);
}

#define POD_IS_READY                                                                               \
    "\"phase\":\"Running\",\"podIP\":\"10.0.0.1\",\"conditions\":[{\"type\":\"Ready\",\"status\":" \
    "\"True\"}]"

/* Plans and prints the plan: actions with their names, each with a blank behind. */
static char *plan_text(struct world *w)
{
    struct osb_buf text = {0};
    const struct pod *pod = NULL;
    w->in.bs = batchsandbox_get(w->sandboxes, "n", "a");
    w->in.pods = w->listed;
    w->in.observed = w->observed;
    w->in.pod_count = 0;
    while ((pod = pod_next_of(w->pods, "n/a", pod)))
        w->listed[w->in.pod_count++] = pod;
    plan_done(&w->plan);
    sandbox_reconcile(&w->in, &w->plan);
    for (size_t i = 0; i < w->plan.count; i++) {
        const struct action *action = &w->plan.actions[i];
        const char *detail = action->name ? action->name : action->reason;
        osb_buf_appendf(&text, "%s%s%s ", action_name(action->type), detail ? ":" : "",
                        detail ? detail : "");
    }
    return osb_buf_take(&text);
}

static void make_plan(struct world *w)
{
    free(plan_text(w));
}

#define assert_plan(w, expected)                                                                   \
    do {                                                                                           \
        _cleanup_free_ char *plan_ = plan_text(w);                                                 \
        assert_string_equal(plan_, (expected));                                                    \
    } while (0)

/* The status patch of the plan; "" without one. */
static const char *status_patch(const struct world *w)
{
    for (size_t i = 0; i < w->plan.count; i++)
        if (w->plan.actions[i].type == ACTION_PATCH_STATUS)
            return w->plan.actions[i].text;
    return "";
}

static void test_missing_pods_are_made_in_order_then_the_status_is_written(void **state)
{
    struct world *w = *state;
    put_sandbox(w, "", "\"replicas\":3," TEMPLATE, "");
    put_pod(w, 1, "");
    assert_plan(w, "create-pod:a-0 create-pod:a-2 patch-status ");
    assert_non_null(strstr(status_patch(w), "\"phase\":\"Pending\""));
    assert_non_null(strstr(status_patch(w), "\"taskUnknown\":0"));
    assert_int_equal(w->plan.requeue_after_ms, 0);
}

static void test_tokens_come_before_the_pods_of_a_marked_template(void **state)
{
    struct world *w = *state;
    put_sandbox(w, "",
                "\"replicas\":1,\"template\":{\"metadata\":{\"annotations\":{"
                "\"opensandbox.io/inject\":\"execd\"}},\"spec\":{}}",
                "");
    assert_plan(w, "ensure-tokens create-pod:a-0 patch-status ");
    assert_true(w->plan.actions[0].stage < w->plan.actions[1].stage);
}

static void test_the_highest_indexes_go_first(void **state)
{
    struct world *w = *state;
    put_sandbox(w, "", "\"replicas\":1," TEMPLATE, "");
    for (int i = 0; i < 4; i++)
        put_pod(w, i, "");
    assert_plan(w, "delete-pod:a-3 delete-pod:a-2 delete-pod:a-1 patch-status ");
    assert_string_equal(w->plan.actions[0].uid, "p3");
}

static void test_nothing_is_made_while_what_was_asked_for_is_not_seen(void **state)
{
    struct world *w = *state;
    put_sandbox(w, "", "\"replicas\":3," TEMPLATE, "");
    w->in.may_scale = false;
    assert_plan(w, "patch-status ");
}

static void test_an_object_that_goes_gets_nothing_more(void **state)
{
    struct world *w = *state;
    const char *text = "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":\"u\","
                       "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"},\"spec\":{\"replicas\":2,"
                       "\"expireTime\":\"2001-01-01T00:00:00Z\"," TEMPLATE "}}";
    assert_int_equal(osb_kube_store_apply(w->sandboxes, osb_slice_str(text), NULL), 0);
    assert_plan(w, "");
}

static void test_expiry_is_a_timer_until_it_is_due(void **state)
{
    struct world *w = *state;
    put_sandbox(w, "", "\"replicas\":0,\"expireTime\":\"2026-01-01T00:00:05Z\"," TEMPLATE, "");
    assert_plan(w, "patch-status event:PodsReady ");
    assert_in_range(w->plan.requeue_after_ms, 5000, 5001);
    w->in.now_ns += 5 * (int64_t)OSB_NS_PER_S;
    assert_plan(w, "delete-sandbox event:Expired ");
}

static void test_an_unchanged_world_needs_no_write(void **state)
{
    struct world *w = *state;
    put_sandbox(w,
                "\"sandbox.opensandbox.io/endpoints\":\"[\\\"10.0.0.1\\\"]\","
                "\"opensandbox.io/pod-uids\":\"[\\\"p0\\\"]\"",
                "\"replicas\":1," TEMPLATE,
                "\"observedGeneration\":1,\"replicas\":1,\"allocated\":1,\"ready\":1,"
                "\"phase\":\"Succeed\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\","
                "\"reason\":\"PodsReady\",\"message\":\"Sandbox is running\"}]");
    put_pod(w, 0, POD_IS_READY);
    assert_plan(w, "");
}

static void test_only_what_changed_is_written_and_others_conditions_stay(void **state)
{
    struct world *w = *state;
    put_sandbox(w,
                "\"sandbox.opensandbox.io/endpoints\":\"[\\\"10.0.0.1\\\"]\","
                "\"opensandbox.io/pod-uids\":\"[\\\"p0\\\"]\"",
                "\"replicas\":1," TEMPLATE,
                "\"observedGeneration\":1,\"replicas\":1,\"allocated\":1,\"ready\":0,"
                "\"phase\":\"Pending\",\"conditions\":[{\"type\":\"ResumeFailed\",\"status\":"
                "\"True\",\"reason\":\"x\",\"message\":\"y\",\"lastTransitionTime\":"
                "\"2020-01-01T00:00:00Z\"},{\"type\":\"Progressing\",\"status\":\"True\","
                "\"reason\":\"Creating\",\"message\":\"Sandbox is being created\"}]");
    put_pod(w, 0, POD_IS_READY);
    assert_plan(w, "patch-status event:PodsReady ");
    const char *patch = status_patch(w);
    assert_non_null(strstr(patch, "\"type\":\"ResumeFailed\""));
    assert_non_null(strstr(patch, "\"lastTransitionTime\":\"2020-01-01T00:00:00Z\""));
    assert_non_null(strstr(patch, "\"type\":\"Ready\""));
    assert_null(strstr(patch, "\"type\":\"Progressing\""));
    assert_null(strstr(patch, "taskRunning"));
}

static void test_an_address_is_published_before_the_pod_is_ready(void **state)
{
    struct world *w = *state;
    put_sandbox(w, "", "\"replicas\":2," TEMPLATE, "");
    put_pod(w, 0, "\"phase\":\"Pending\"");
    put_pod(w, 1, "\"phase\":\"Pending\",\"podIP\":\"10.0.0.2\"");
    assert_plan(w, "patch-annotations patch-status ");
    assert_non_null(strstr(w->plan.actions[0].text,
                           "\"sandbox.opensandbox.io/endpoints\":\"[\\\"\\\",\\\"10.0.0.2\\\"]\""));
}

static void test_a_failed_batch_names_the_most_frequent_reason(void **state)
{
    static const char waiting[] = "\"phase\":\"Pending\",\"containerStatuses\":[{\"name\":\"c\","
                                  "\"state\":{\"waiting\":{\"reason\":\"%s\"}}}]";
    struct world *w = *state;
    char status[256];
    put_sandbox(w, "", "\"replicas\":4," TEMPLATE, "");
    snprintf(status, sizeof(status), waiting, "InvalidImageName");
    put_pod(w, 0, status);
    snprintf(status, sizeof(status), waiting, "CrashLoopBackOff");
    put_pod(w, 1, status);
    put_pod(w, 2, status);
    put_pod(w, 3, POD_IS_READY);
    assert_plan(w, "patch-annotations patch-status event:CrashLoopBackOff ");
    assert_non_null(strstr(status_patch(w), "\"phase\":\"Failed\""));
    assert_non_null(strstr(status_patch(w), "3/4 observed pods failed; primary "
                                            "reason=CrashLoopBackOff; sample pod=a-1"));
}

static void test_a_node_that_puts_no_execd_in_is_named_with_what_to_do(void **state)
{
    struct world *w = *state;
    put_sandbox(w, "", "\"replicas\":1," TEMPLATE, "");
    put_marked_pod(
        w, "\"phase\":\"Failed\",\"containerStatuses\":[{\"name\":\"sandbox\",\"state\":"
           "{\"terminated\":{\"exitCode\":128,\"reason\":\"StartError\",\"message\":\"exec: "
           "/opt/opensandbox/bootstrap.sh: no such file or directory\"}}}]");
    assert_plan(w, "patch-status event:InjectionUnavailable ");
    assert_non_null(strstr(status_patch(w), "\"type\":\"PodFailed\",\"status\":\"True\","
                                            "\"reason\":\"InjectionUnavailable\""));
    assert_non_null(strstr(status_patch(w), "node=x; nobody on this node"));
}

static void test_failed_is_left_when_the_pod_recovers(void **state)
{
    struct world *w = *state;
    put_sandbox(w, "", "\"replicas\":1," TEMPLATE,
                "\"observedGeneration\":1,\"replicas\":1,\"allocated\":1,\"ready\":0,"
                "\"phase\":\"Failed\",\"conditions\":[{\"type\":\"PodFailed\",\"status\":\"True\","
                "\"reason\":\"ImagePullBackOff\",\"message\":\"m\"}]");
    put_pod(w, 0, POD_IS_READY);
    assert_plan(w, "patch-annotations patch-status event:PodsReady ");
    assert_non_null(strstr(status_patch(w), "\"phase\":\"Succeed\""));
    assert_null(strstr(status_patch(w), "PodFailed"));
}

static void test_the_schedulers_words_are_shown(void **state)
{
    struct world *w = *state;
    put_sandbox(w, "", "\"replicas\":1," TEMPLATE, "");
    put_pod(w, 0,
            "\"phase\":\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":"
            "\"False\",\"reason\":\"Unschedulable\",\"message\":\"no room for 64 CPUs\"}]");
    assert_plan(w, "patch-status event:Unschedulable ");
    assert_non_null(strstr(status_patch(w), "no room for 64 CPUs"));
}

static void test_a_pod_that_does_not_go_is_named_with_its_node(void **state)
{
    struct world *w = *state;
    put_sandbox(w, "", "\"replicas\":1," TEMPLATE, "");
    assert_int_equal(
        osb_kube_store_apply(
            w->pods,
            OSB_SLICE(
                "{\"metadata\":{\"name\":\"a-0\",\"namespace\":\"n\",\"uid\":\"p0\","
                "\"deletionTimestamp\":\"2025-12-31T23:59:58Z\",\"ownerReferences\":[{"
                "\"apiVersion\":\"sandbox.opensandbox.io/v1alpha1\",\"kind\":\"BatchSandbox\","
                "\"name\":\"a\",\"uid\":\"u\",\"controller\":true}]},"
                "\"spec\":{\"nodeName\":\"lost\"},\"status\":{\"phase\":\"Running\"}}"),
            NULL),
        0);
    assert_plan(w, "patch-status event:PodTerminating ");
    assert_non_null(strstr(status_patch(w), "Pod a-0 on node lost is being deleted"));
}

static void test_a_pod_that_no_longer_answers_is_named_and_a_new_one_is_not(void **state)
{
    static const char running[] = "\"phase\":\"Running\",\"podIP\":\"10.0.0.1\"";
    struct world *w = *state;
    put_sandbox(w, "", "\"replicas\":1," TEMPLATE, "\"phase\":\"Pending\"");
    put_marked_pod(w, running);
    make_plan(w);
    assert_non_null(strstr(status_patch(w), "\"reason\":\"Creating\""));

    put_sandbox(w, "", "\"replicas\":1," TEMPLATE, "\"phase\":\"Succeed\"");
    make_plan(w);
    assert_non_null(strstr(status_patch(w), "\"phase\":\"Pending\""));
    assert_non_null(strstr(status_patch(w), "Pod a-0 on node x does not answer"));

    put_sandbox(w, "", "\"replicas\":1," TEMPLATE,
                "\"phase\":\"Pending\",\"conditions\":[{\"type\":\"Progressing\",\"status\":"
                "\"True\",\"reason\":\"ExecdSilent\",\"message\":\"m\"}]");
    make_plan(w);
    assert_non_null(strstr(status_patch(w), "\"reason\":\"ExecdSilent\""));
}

static void test_a_paused_object_is_left_alone(void **state)
{
    static const char *const phases[] = {"Pausing", "Paused", "Resuming"};
    struct world *w = *state;
    for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
        char status[64];
        snprintf(status, sizeof(status), "\"phase\":\"%s\"", phases[i]);
        put_sandbox(w, "", "\"replicas\":1," TEMPLATE, status);
        assert_plan(w, "event:UnsupportedPause ");
    }
}

static void test_a_new_operator_holds_its_judgement_of_an_execd_it_has_not_asked(void **state)
{
    struct world *w = *state;
    put_sandbox(w, "", "\"replicas\":1," TEMPLATE, "\"phase\":\"Succeed\"");
    put_pod(w, 0, POD_IS_READY);
    w->observed[0].is_unknown = true;
    assert_plan(w, "patch-annotations ");
    w->observed[0].is_unknown = false;
    assert_plan(w, "patch-annotations patch-status event:PodsReady ");
}

static void test_annotations_that_somebody_broke_are_written_anew(void **state)
{
    static const char *const broken[] = {"{", "{}", "[1]", "[\\\"x\\\"", "7", ""};
    struct world *w = *state;
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        char annotations[256];
        snprintf(annotations, sizeof(annotations),
                 "\"sandbox.opensandbox.io/endpoints\":\"%s\",\"opensandbox.io/pod-uids\":\"%s\","
                 "\"opensandbox.io/replaced-pods\":\"many\"",
                 broken[i], broken[i]);
        put_sandbox(w, annotations, "\"replicas\":1," TEMPLATE, "");
        put_pod(w, 0, POD_IS_READY);
        assert_plan(w, "patch-annotations patch-status event:PodsReady ");
        assert_non_null(strstr(w->plan.actions[0].text, "[\\\"10.0.0.1\\\"]"));
        assert_non_null(strstr(w->plan.actions[0].text, "[\\\"p0\\\"]"));
    }
}

static void test_a_creation_error_shows_while_pods_are_missing_only(void **state)
{
    struct world *w = *state;
    w->in.create_reason = "FailedCreate";
    w->in.create_error = "quota";
    put_sandbox(w, "", "\"replicas\":1," TEMPLATE, "");
    assert_plan(w, "create-pod:a-0 patch-status event:FailedCreate ");
    assert_non_null(strstr(status_patch(w), "\"phase\":\"Failed\""));
    put_pod(w, 0, POD_IS_READY);
    assert_plan(w, "patch-annotations patch-status event:PodsReady ");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_missing_pods_are_made_in_order_then_the_status_is_written),
        TEST(test_tokens_come_before_the_pods_of_a_marked_template),
        TEST(test_the_highest_indexes_go_first),
        TEST(test_nothing_is_made_while_what_was_asked_for_is_not_seen),
        TEST(test_an_object_that_goes_gets_nothing_more),
        TEST(test_expiry_is_a_timer_until_it_is_due),
        TEST(test_an_unchanged_world_needs_no_write),
        TEST(test_only_what_changed_is_written_and_others_conditions_stay),
        TEST(test_an_address_is_published_before_the_pod_is_ready),
        TEST(test_a_failed_batch_names_the_most_frequent_reason),
        TEST(test_a_node_that_puts_no_execd_in_is_named_with_what_to_do),
        TEST(test_failed_is_left_when_the_pod_recovers),
        TEST(test_the_schedulers_words_are_shown),
        TEST(test_a_pod_that_does_not_go_is_named_with_its_node),
        TEST(test_a_pod_that_no_longer_answers_is_named_and_a_new_one_is_not),
        TEST(test_a_paused_object_is_left_alone),
        TEST(test_a_new_operator_holds_its_judgement_of_an_execd_it_has_not_asked),
        TEST(test_annotations_that_somebody_broke_are_written_anew),
        TEST(test_a_creation_error_shows_while_pods_are_missing_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
