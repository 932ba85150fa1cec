// SPDX-License-Identifier: Apache-2.0
/* Objects that anybody may have written: what is odd in one is noted there and disturbs nobody. */
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/kube_store.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// cmocka needs the ones above first
#include <cmocka.h>

#include "batchsandbox.h"
#include "pod.h"

#define HEAD "\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"}"

static const struct batchsandbox *read_sandbox(struct osb_kube_store **ret_store, const char *text)
{
    *ret_store = osb_kube_store_new(&batchsandbox_projection);
    assert_int_equal(osb_kube_store_apply(*ret_store, osb_slice_str(text), NULL), 0);
    return batchsandbox_get(*ret_store, "n", "a");
}

static void test_a_whole_object_is_read(void **state)
{
    (void)state;
    struct osb_kube_store *store;
    const struct batchsandbox *bs = read_sandbox(
        &store,
        "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"generation\":4,\"labels\":{\"l\":"
        "\"v\"},"
        "\"annotations\":{\"k\\u0031\":\"v\\n\"},\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"},"
        "\"spec\":{\"replicas\":2,\"expireTime\":\"2026-01-01T00:00:00+00:00\",\"pause\":false,"
        "\"template\":{\"metadata\":{\"annotations\":{\"opensandbox.io/inject\":\"execd\"}},"
        "\"spec\":{\"restartPolicy\":\"OnFailure\"}}},"
        "\"status\":{\"replicas\":1,\"ready\":1,\"phase\":\"Succeed\",\"conditions\":["
        "{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"r\",\"message\":\"m\"},"
        "{\"type\":\"Paused\",\"status\":\"False\"}]}}");
    assert_int_equal(bs->generation, 4);
    assert_true(bs->is_deleting);
    assert_string_equal(pairs_get(&bs->labels, "l"), "v");
    assert_string_equal(batchsandbox_annotation(bs, "k1"), "v\n");
    assert_int_equal(bs->replicas, 2);
    assert_true(bs->has_expiry);
    assert_int_equal(bs->expire_ns, 1767225600LL * 1000000000LL);
    assert_int_equal(bs->pause, TRISTATE_FALSE);
    assert_true(bs->has_execd);
    assert_int_equal(bs->restart_policy, RESTART_ON_FAILURE);
    assert_int_equal(bs->status.phase, PHASE_SUCCEED);
    assert_string_equal(batchsandbox_condition(bs, "Ready")->reason, "r");
    assert_null(batchsandbox_condition(bs, "Paused"));
    assert_null(bs->spec_error);
    osb_kube_store_free(store);
}

/* There are tens of thousands of them. */
static void test_what_is_kept_of_an_object_has_nothing_to_spare(void **state)
{
    (void)state;
    struct osb_kube_store *store;
    const struct batchsandbox *bs =
        read_sandbox(&store, "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\","
                             "\"labels\":{\"l\":\"v\"},\"annotations\":{\"a\":\"1\",\"b\":\"2\"}},"
                             "\"status\":{\"conditions\":[{\"type\":\"Ready\"}]}}");
    assert_int_equal(bs->labels.cap, 1);
    assert_int_equal(bs->annotations.cap, 2);
    assert_int_equal(bs->status.condition_cap, 1);
    osb_kube_store_free(store);

    store = osb_kube_store_new(&pod_projection);
    const char *text = "{" HEAD ",\"status\":{\"containerStatuses\":[{\"name\":\"c\"}],"
                       "\"initContainerStatuses\":[{\"name\":\"i\"},{\"name\":\"j\"}]}}";
    assert_int_equal(osb_kube_store_apply(store, osb_slice_str(text), NULL), 0);
    const struct pod *pod = pod_of(osb_kube_store_get(store, "n", "a"));
    assert_int_equal(pod->container_count, 3);
    assert_int_equal(pod->container_cap, 3);
    osb_kube_store_free(store);
}

static void test_fields_of_a_wrong_type_are_named(void **state)
{
    static const struct {
        const char *spec;
        const char *word;
    } cases[] = {
        {"\"x\"", "spec must"},
        {"{\"replicas\":\"2\"}", "replicas"},
        {"{\"replicas\":1.5}", "replicas"},
        {"{\"replicas\":-1}", "replicas"},
        {"{\"replicas\":1e99}", "replicas"},
        {"{\"replicas\":4001}", "replicas"},
        {"{\"poolRef\":{}}", "poolRef"},
        {"{\"template\":[]}", "template"},
        {"{\"shardPatches\":{}}", "shardPatches"},
        {"{\"expireTime\":17}", "expireTime"},
        {"{\"expireTime\":\"2026-13-01T00:00:00Z\"}", "expireTime"},
        {"{\"pause\":\"yes\"}", "pause"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct osb_kube_store *store;
        _cleanup_free_ char *text = osb_asprintf("{" HEAD ",\"spec\":%s}", cases[i].spec);
        const struct batchsandbox *bs = read_sandbox(&store, text);
        assert_non_null(bs->spec_error);
        assert_non_null(strstr(bs->spec_error, cases[i].word));
        osb_kube_store_free(store);
    }
}

static void test_null_and_absent_are_the_same(void **state)
{
    (void)state;
    struct osb_kube_store *store;
    const struct batchsandbox *bs = read_sandbox(
        &store, "{" HEAD ",\"spec\":{\"replicas\":null,\"poolRef\":null,\"template\":null,"
                "\"shardPatches\":null,\"expireTime\":null,\"pause\":null,\"taskTemplate\":null}}");
    assert_null(bs->spec_error);
    assert_int_equal(bs->replicas, 1);
    assert_false(bs->has_task_template);
    assert_null(bs->template_);
    osb_kube_store_free(store);
}

static void test_odd_metadata_and_status_are_passed_over(void **state)
{
    static const char *const odd[] = {
        "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"labels\":7,\"annotations\":[1]},"
        "\"spec\":{},\"status\":\"x\"}",
        "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"labels\":{\"a\":1},\"generation\":"
        "\"x\"},"
        "\"spec\":{},\"status\":{\"conditions\":7,\"phase\":3,\"ready\":\"1\"}}",
        "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"},\"spec\":{\"template\":"
        "{\"metadata\":3,\"spec\":[]}},\"status\":{\"conditions\":[1,{},{\"type\":2}],"
        "\"phase\":\"Shouting\"}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        struct osb_kube_store *store;
        const struct batchsandbox *bs = read_sandbox(&store, odd[i]);
        assert_int_equal(bs->status.phase, PHASE_NONE);
        assert_int_equal(bs->status.condition_count, 0);
        osb_kube_store_free(store);
    }
}

static void test_conditions_are_bounded(void **state)
{
    (void)state;
    struct osb_kube_store *store;
    struct osb_buf text = {0};
    osb_buf_append_str(&text, "{" HEAD ",\"spec\":{},\"status\":{\"conditions\":[");
    for (int i = 0; i < 100; i++)
        osb_buf_appendf(&text, "%s{\"type\":\"t%d\",\"status\":\"True\"}", i ? "," : "", i);
    osb_buf_append_str(&text, "]}}");
    const struct batchsandbox *bs = read_sandbox(&store, osb_buf_cstr(&text));
    assert_int_equal(bs->status.condition_count, BATCHSANDBOX_MAX_CONDITIONS);
    osb_kube_store_free(store);
    osb_buf_done(&text);
}

#define OWNED(name, label)                                                                         \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"n\",\"labels\":{\"" LABEL_POD_INDEX      \
    "\":\"" label "\"},\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Other\",\"name\":"   \
    "\"x\",\"uid\":\"y\",\"controller\":true},{\"apiVersion\":\"sandbox.opensandbox.io/v1alpha1\"" \
    ",\"kind\":\"BatchSandbox\",\"name\":\"a\",\"uid\":\"u\",\"controller\":true}]}}"

static void test_the_name_tells_the_index_before_the_label_does(void **state)
{
    static const struct {
        const char *text;
        const char *name;
        int index;
    } cases[] = {
        {OWNED("a-3", "7"), "a-3", 3},          {OWNED("other", "7"), "other", 7},
        {OWNED("other-2", "x"), "other-2", -1}, {OWNED("a-", "-1"), "a-", -1},
        {OWNED("a-1x", "5"), "a-1x", 5},        {OWNED("a-99999999999", ""), "a-99999999999", -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct osb_kube_store *store = osb_kube_store_new(&pod_projection);
        assert_int_equal(osb_kube_store_apply(store, osb_slice_str(cases[i].text), NULL), 0);
        const struct pod *pod = pod_next_of(store, "n/a", NULL);
        assert_non_null(pod);
        assert_string_equal(pod->object.name, cases[i].name);
        assert_int_equal(pod->index, cases[i].index);
        assert_string_equal(pod->owner_uid, "u");
        assert_null(pod_next_of(store, "n/a", pod));
        osb_kube_store_free(store);
    }
}

static void test_phases_move_as_the_table_says(void **state)
{
    (void)state;
    for (enum phase from = PHASE_NONE; from < PHASE_COUNT; from++) {
        assert_true(phase_may_move(from, from));
        assert_int_equal(phase_parse(osb_slice_str(phase_name(from))), from);
        if (from != PHASE_NONE)
            assert_false(phase_may_move(from, PHASE_NONE));
        for (enum phase to = PHASE_NONE; to < PHASE_COUNT; to++)
            if (from != to && (phase_is_pause(from) || phase_is_pause(to)))
                assert_false(phase_may_move(from, to));
    }
    assert_true(phase_may_move(PHASE_FAILED, PHASE_SUCCEED));
    assert_true(phase_may_move(PHASE_SUCCEED, PHASE_PENDING));
}

static void test_an_address_that_a_late_kubelet_does_not_know_yet_is_kept(void **state)
{
    char address[] = "10.0.0.1";
    char uid[] = "u";
    struct pod before = {.object = {.uid = uid}, .address = address, .is_injected_by_node = true};
    struct pod late = {.object = {.uid = uid}, .is_injected_by_node = true};
    (void)state;
    assert_true(pod_keep_address(&late, &before));
    assert_string_equal(late.address, "10.0.0.1");
    free(late.address);

    struct pod others[] = {
        {.object = {.uid = uid}},
        {.object = {.uid = uid}, .is_injected_by_node = true, .phase = POD_FAILED},
        {.object = {.uid = uid}, .is_injected_by_node = true, .phase = POD_RUNNING},
        {.object = {.uid = uid}, .is_injected_by_node = true, .is_deleting = true},
        {.object = {.uid = address}, .is_injected_by_node = true},
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_false(pod_keep_address(&others[i], &before));
        assert_null(others[i].address);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_address_that_a_late_kubelet_does_not_know_yet_is_kept),
        cmocka_unit_test(test_a_whole_object_is_read),
        cmocka_unit_test(test_what_is_kept_of_an_object_has_nothing_to_spare),
        cmocka_unit_test(test_fields_of_a_wrong_type_are_named),
        cmocka_unit_test(test_null_and_absent_are_the_same),
        cmocka_unit_test(test_odd_metadata_and_status_are_passed_over),
        cmocka_unit_test(test_conditions_are_bounded),
        cmocka_unit_test(test_the_name_tells_the_index_before_the_label_does),
        cmocka_unit_test(test_phases_move_as_the_table_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
