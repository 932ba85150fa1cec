// SPDX-License-Identifier: Apache-2.0
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

#include "pod.h"
#include "pod_build.h"

/* Builds the pod of INDEX from the inside of a spec; NULL with the error in ERR. */
static struct osb_json *build(const char *spec, int index, struct osb_err *err)
{
    struct osb_kube_store *store = osb_kube_store_new(&batchsandbox_projection);
    _cleanup_free_ char *text = osb_asprintf(
        "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":\"u\"},\"spec\":{%s}}", spec);
    assert_int_equal(osb_kube_store_apply(store, osb_slice_str(text), NULL), 0);
    struct osb_json *pod = NULL;
    int r = pod_build(batchsandbox_get(store, "n", "a"), index, &pod, err);
    assert_true((r == 0) == (pod != NULL));
    osb_kube_store_free(store);
    return pod;
}

static const char *text_at(const struct osb_json *tree, const char *path)
{
    const char *text = osb_json_cstr(osb_json_get_path(tree, path));
    return text ? text : "";
}

#define MARKED(container)                                                                          \
    "\"template\":{\"metadata\":{\"annotations\":{\"opensandbox.io/inject\":\"execd\"}},\"spec\":" \
    "{\"containers\":[{\"name\":\"side\"}," container "]}}"

static void test_identity_is_ours_whatever_template_and_patch_say(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *pod = build(
        "\"template\":{\"metadata\":{\"name\":\"x\",\"labels\":{\"l\":\"v\"}},\"spec\":{}},"
        "\"shardPatches\":[null,{\"metadata\":{\"name\":\"evil\",\"namespace\":\"kube-system\","
        "\"uid\":\"z\",\"generateName\":\"g\",\"ownerReferences\":[{\"uid\":\"other\"}],"
        "\"labels\":{\"" LABEL_POD_INDEX "\":\"9\"}},\"status\":{\"phase\":\"Running\"}}]",
        1, NULL);
    assert_string_equal(text_at(pod, "metadata.name"), "a-1");
    assert_string_equal(text_at(pod, "metadata.namespace"), "n");
    assert_string_equal(text_at(pod, "metadata.labels.l"), "v");
    assert_null(osb_json_get_path(pod, "metadata.uid"));
    assert_null(osb_json_get_path(pod, "metadata.generateName"));
    assert_null(osb_json_get(pod, "status"));
    const struct osb_json *labels = osb_json_get_path(pod, "metadata.labels");
    assert_string_equal(osb_json_cstr(osb_json_get(labels, LABEL_POD_INDEX)), "1");
    const struct osb_json *owners = osb_json_get_path(pod, "metadata.ownerReferences");
    assert_int_equal(osb_json_count(owners), 1);
    assert_string_equal(text_at(osb_json_at(owners, 0), "uid"), "u");
    assert_true(osb_json_bool_or(osb_json_get(osb_json_at(owners, 0), "controller"), false));
}

static void test_a_template_without_the_mark_is_taken_as_it_is(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *pod =
        build("\"template\":{\"spec\":{\"containers\":[{\"name\":\"sandbox\",\"image\":\"i\"}]}}",
              0, NULL);
    _cleanup_json_ struct osb_json *expected = NULL;
    assert_int_equal(
        osb_json_parse(OSB_SLICE("{\"containers\":[{\"name\":\"sandbox\",\"image\":\"i\"}]}"),
                       &expected, NULL),
        0);
    assert_true(osb_json_equal(osb_json_get(pod, "spec"), expected));
}

static void test_the_mark_puts_the_launcher_in_front_and_the_token_in(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *pod =
        build(MARKED("{\"name\":\"sandbox\",\"command\":[\"run\",\"it\"],\"env\":[{\"name\":\"A\","
                     "\"value\":\"1\"},{\"name\":\"EXECD_ACCESS_TOKEN\",\"value\":\"mine\"}]}"),
              0, NULL);
    const struct osb_json *containers = osb_json_get_path(pod, "spec.containers");
    const struct osb_json *container = osb_json_at(containers, 1);
    const struct osb_json *command = osb_json_get(container, "command");
    assert_int_equal(osb_json_count(command), 3);
    assert_string_equal(osb_json_cstr(osb_json_at(command, 0)), "/opt/opensandbox/bootstrap.sh");
    const struct osb_json *env = osb_json_get(container, "env");
    assert_int_equal(osb_json_count(env), 2);
    const struct osb_json *token = osb_json_at(env, 1);
    assert_null(osb_json_get(token, "value"));
    assert_string_equal(text_at(token, "valueFrom.secretKeyRef.name"), "a-tokens");
    assert_string_equal(text_at(token, "valueFrom.secretKeyRef.key"), "execd");
    assert_null(osb_json_get(osb_json_at(containers, 0), "env")); /* not the sidecar's */
}

static void test_a_launcher_that_is_there_is_not_put_in_again(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *pod =
        build(MARKED("{\"name\":\"sandbox\",\"command\":[\"/opt/opensandbox/bootstrap.sh\","
                     "\"x\"]}"),
              0, NULL);
    const struct osb_json *command =
        osb_json_get(osb_json_at(osb_json_get_path(pod, "spec.containers"), 1), "command");
    assert_int_equal(osb_json_count(command), 2);
}

static void test_what_gives_no_pod_says_why(void **state)
{
    static const struct {
        const char *spec;
        const char *word;
    } cases[] = {
        {"\"template\":{}", "template.spec"},
        {"\"template\":{\"spec\":7}", "template.spec"},
        {"\"template\":{\"spec\":{}},\"shardPatches\":[7]", "shardPatches[0]"},
        {MARKED("{\"name\":\"sandbox\"}"), "command"},
        {MARKED("{\"name\":\"sandbox\",\"command\":\"x\"}"), "command"},
        {"\"template\":{\"metadata\":{\"annotations\":{\"opensandbox.io/inject\":\"execd\"}},"
         "\"spec\":{}}",
         "no container"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct osb_err err = {0};
        assert_null(build(cases[i].spec, 0, &err));
        assert_int_equal(err.code, -OSB_E_INVALID);
        assert_non_null(strstr(err.message, cases[i].word));
    }
}

static void test_tokens_are_three_different_ones_and_owned(void **state)
{
    (void)state;
    struct batchsandbox bs = {.object = {.namespace_ = "n", .name = "a", .uid = "u"}};
    _cleanup_json_ struct osb_json *secret = tokens_build(&bs);
    assert_string_equal(text_at(secret, "metadata.name"), "a-tokens");
    assert_string_equal(
        text_at(osb_json_at(osb_json_get_path(secret, "metadata.ownerReferences"), 0), "uid"), "u");
    const char *execd = text_at(secret, "data.execd");
    assert_int_equal(strlen(execd), 60); /* 43 characters in base64 */
    assert_string_not_equal(execd, text_at(secret, "data.egress"));
    assert_string_not_equal(text_at(secret, "data.egress"), text_at(secret, "data.gateway"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identity_is_ours_whatever_template_and_patch_say),
        cmocka_unit_test(test_a_template_without_the_mark_is_taken_as_it_is),
        cmocka_unit_test(test_the_mark_puts_the_launcher_in_front_and_the_token_in),
        cmocka_unit_test(test_a_launcher_that_is_there_is_not_put_in_again),
        cmocka_unit_test(test_what_gives_no_pod_says_why),
        cmocka_unit_test(test_tokens_are_three_different_ones_and_owned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
