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
static struct osb_json *build_with(const struct config *config, const char *spec, int index,
                                   struct osb_err *err)
{
    struct osb_kube_store *store = osb_kube_store_new(&batchsandbox_projection);
    _cleanup_free_ char *text = osb_asprintf(
        "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":\"u\"},\"spec\":{%s}}", spec);
    assert_int_equal(osb_kube_store_apply(store, osb_slice_str(text), NULL), 0);
    struct osb_json *pod = NULL;
    int r = pod_build(batchsandbox_get(store, "n", "a"), index, config, &pod, err);
    assert_true((r == 0) == (pod != NULL));
    osb_kube_store_free(store);
    return pod;
}

static const struct config by_node = {.kubernetes = {.is_injected_by_node = true}};
static const struct config by_init = {.runtime = {.execd_image = "execd:1"},
                                      .kubernetes = {.image_pull_policy = "IfNotPresent"}};

static struct osb_json *build(const char *spec, int index, struct osb_err *err)
{
    return build_with(&by_node, spec, index, err);
}

#define C(more) "\"containers\":[{\"name\":\"sandbox\",\"command\":[\"x\"]" more "}]"

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

static const struct osb_json *find(const struct osb_json *list, const char *key, const char *value)
{
    for (size_t i = 0; i < osb_json_count(list); i++)
        if (osb_slice_eq_str(osb_json_str(osb_json_get(osb_json_at(list, i), key)), value))
            return osb_json_at(list, i);
    return NULL;
}

static const struct osb_json *annotation(const struct osb_json *pod, const char *key)
{
    return osb_json_get(osb_json_get_path(pod, "metadata.annotations"), key);
}

static void test_a_node_is_asked_by_version_and_container_and_nothing_else_is_added(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *pod =
        build(MARKED("{\"name\":\"sandbox\",\"command\":[\"x\"]}"), 0, NULL);
    _cleanup_json_ struct osb_json *first =
        build("\"template\":{\"metadata\":{\"annotations\":{\"opensandbox.io/inject\":\"execd\","
              "\"opensandbox.io/inject-version\":\"9\"}},\"spec\":{\"containers\":[{\"name\":\"a\","
              "\"command\":[\"x\"]},{\"name\":\"b\"}]}}",
              0, NULL);
    assert_string_equal(osb_json_cstr(annotation(pod, "opensandbox.io/inject-version")), "1");
    assert_string_equal(osb_json_cstr(annotation(pod, "opensandbox.io/inject-container")),
                        "sandbox");
    assert_string_equal(osb_json_cstr(annotation(first, "opensandbox.io/inject-version")), "1");
    assert_string_equal(osb_json_cstr(annotation(first, "opensandbox.io/inject-container")), "a");
    assert_null(osb_json_get_path(pod, "spec.initContainers"));
    assert_null(osb_json_get_path(pod, "spec.volumes"));
}

static void test_the_container_that_a_template_names_is_the_main_one(void **state)
{
    static const struct config *const configs[] = {&by_node, &by_init};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        _cleanup_json_ struct osb_json *pod = build_with(
            configs[i],
            "\"template\":{\"metadata\":{\"annotations\":{\"opensandbox.io/inject\":\"execd\","
            "\"opensandbox.io/inject-container\":\"b\"}},\"spec\":{\"containers\":["
            "{\"name\":\"sandbox\",\"command\":[\"x\"]},{\"name\":\"b\",\"command\":[\"y\"]}]}}",
            0, NULL);
        const struct osb_json *containers = osb_json_get_path(pod, "spec.containers");
        assert_int_equal(
            osb_json_count(osb_json_get(find(containers, "name", "sandbox"), "command")), 1);
        assert_int_equal(osb_json_count(osb_json_get(find(containers, "name", "b"), "command")), 2);
    }
}

static struct osb_json *build_by_init(const char *container)
{
    _cleanup_free_ char *spec = osb_asprintf(
        "\"template\":{\"metadata\":{\"annotations\":{\"opensandbox.io/inject\":\"execd\"}},"
        "\"spec\":{\"initContainers\":[{\"name\":\"theirs\"}],\"volumes\":[{\"name\":\"v\"}],"
        "\"containers\":[{\"name\":\"side\"},%s]}}",
        container);
    return build_with(&by_init, spec, 0, NULL);
}

static void test_the_init_container_comes_first_and_the_main_container_sees_its_files(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *pod =
        build_by_init("{\"name\":\"sandbox\",\"command\":[\"x\"],\"volumeMounts\":[{\"name\":\"v\","
                      "\"mountPath\":\"/v\"}]}");
    const struct osb_json *init = osb_json_at(osb_json_get_path(pod, "spec.initContainers"), 0);
    const struct osb_json *containers = osb_json_get_path(pod, "spec.containers");
    const struct osb_json *mounts =
        osb_json_get(find(containers, "name", "sandbox"), "volumeMounts");
    _cleanup_buf_ struct osb_buf command = {0};
    assert_string_equal(text_at(init, "name"), "execd-installer");
    assert_string_equal(text_at(init, "image"), "execd:1");
    assert_string_equal(text_at(init, "imagePullPolicy"), "IfNotPresent");
    osb_json_print(osb_json_get(init, "command"), &command);
    assert_string_equal(osb_buf_cstr(&command),
                        "[\"/opt/opensandbox/bootstrap.sh\",\"--install\",\"/mnt/opensandbox\"]");
    assert_non_null(find(osb_json_get(init, "volumeMounts"), "mountPath", "/mnt/opensandbox"));
    assert_non_null(osb_json_get(
        find(osb_json_get_path(pod, "spec.volumes"), "name", "opensandbox-bin"), "emptyDir"));
    assert_int_equal(osb_json_count(mounts), 4);
    assert_null(osb_json_get(find(mounts, "mountPath", "/opt/opensandbox"), "readOnly"));
    const struct osb_json *execd = find(mounts, "mountPath", "/opt/opensandbox/execd");
    assert_string_equal(text_at(execd, "subPath"), "execd");
    assert_true(osb_json_bool_or(osb_json_get(execd, "readOnly"), false));
    const struct osb_json *launcher = find(mounts, "mountPath", "/opt/opensandbox/bootstrap.sh");
    assert_string_equal(text_at(launcher, "subPath"), "bootstrap.sh");
    assert_true(osb_json_bool_or(osb_json_get(launcher, "readOnly"), false));
    assert_null(osb_json_get(find(containers, "name", "side"), "volumeMounts"));
    /* A shim on that node is not asked as well. */
    assert_null(annotation(pod, "opensandbox.io/inject-version"));
}

static void test_the_init_container_has_no_rights_and_the_main_containers_resources(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *pod = build_by_init(
        "{\"name\":\"sandbox\",\"command\":[\"x\"],\"resources\":{\"limits\":{\"cpu\":\"2\","
        "\"memory\":\"1Gi\",\"example.com/gpu\":\"1\"},\"requests\":{\"cpu\":\"1\"}}}");
    const struct osb_json *init = osb_json_at(osb_json_get_path(pod, "spec.initContainers"), 0);
    const struct osb_json *security = osb_json_get(init, "securityContext");
    _cleanup_buf_ struct osb_buf resources = {0};
    assert_false(osb_json_bool_or(osb_json_get(security, "allowPrivilegeEscalation"), true));
    assert_true(osb_json_bool_or(osb_json_get(security, "runAsNonRoot"), false));
    assert_true(osb_json_bool_or(osb_json_get(security, "readOnlyRootFilesystem"), false));
    assert_true(osb_json_i64_or(osb_json_get(security, "runAsUser"), 0) > 0);
    assert_string_equal(
        osb_json_cstr(osb_json_at(osb_json_get_path(security, "capabilities.drop"), 0)), "ALL");
    assert_string_equal(text_at(security, "seccompProfile.type"), "RuntimeDefault");
    osb_json_print(osb_json_get(init, "resources"), &resources);
    assert_string_equal(
        osb_buf_cstr(&resources),
        "{\"limits\":{\"cpu\":\"2\",\"memory\":\"1Gi\"},\"requests\":{\"cpu\":\"1\"}}");
}

static void test_configured_resources_of_the_init_container_win(void **state)
{
    _cleanup_json_ struct osb_json *resources = NULL;
    (void)state;
    assert_int_equal(osb_json_parse(OSB_SLICE("{\"limits\":{\"cpu\":\"3\"}}"), &resources, NULL),
                     0);
    struct config config = by_init;
    config.kubernetes.execd_init_resources = resources;
    _cleanup_json_ struct osb_json *pod = build_with(
        &config,
        MARKED("{\"name\":\"sandbox\",\"command\":[\"x\"],\"resources\":{\"limits\":{\"cpu\":"
               "\"2\"}}}"),
        0, NULL);
    assert_string_equal(text_at(osb_json_at(osb_json_get_path(pod, "spec.initContainers"), 0),
                                "resources.limits.cpu"),
                        "3");
}

static void test_what_is_in_the_way_of_the_init_container_is_named(void **state)
{
    static const struct {
        const char *spec;
        const char *word;
    } cases[] = {
        {"\"volumes\":[{\"name\":\"opensandbox-bin\"}]," C(""), "volume opensandbox-bin"},
        {"\"initContainers\":[{\"name\":\"execd-installer\"}]," C(""), "execd-installer"},
        {C(",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/opt/opensandbox\"}]"),
         "/opt/opensandbox"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct osb_err err = {0};
        _cleanup_free_ char *spec = osb_asprintf(
            "\"template\":{\"metadata\":{\"annotations\":{\"opensandbox.io/inject\":\"execd\"}},"
            "\"spec\":{%s}}",
            cases[i].spec);
        assert_null(build_with(&by_init, spec, 0, &err));
        assert_int_equal(err.code, -OSB_E_INVALID);
        assert_non_null(strstr(err.message, cases[i].word));
    }
}

static void test_without_an_image_only_unmarked_pods_can_be_made(void **state)
{
    static const struct config none;
    struct osb_err err = {0};
    (void)state;
    assert_null(build_with(&none, MARKED("{\"name\":\"sandbox\",\"command\":[\"x\"]}"), 0, &err));
    assert_int_equal(err.code, -OSB_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "runtime.execd_image"));
    _cleanup_json_ struct osb_json *pod =
        build_with(&none, "\"template\":{\"spec\":{\"containers\":[{\"name\":\"a\"}]}}", 0, NULL);
    assert_non_null(pod);
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
        {"\"template\":{\"metadata\":{\"annotations\":{\"opensandbox.io/inject\":\"execd\","
         "\"opensandbox.io/inject-container\":\"b\"}},\"spec\":{" C("") "}}",
         "inject-container"},
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
        cmocka_unit_test(test_a_node_is_asked_by_version_and_container_and_nothing_else_is_added),
        cmocka_unit_test(test_the_container_that_a_template_names_is_the_main_one),
        cmocka_unit_test(test_the_init_container_comes_first_and_the_main_container_sees_its_files),
        cmocka_unit_test(test_the_init_container_has_no_rights_and_the_main_containers_resources),
        cmocka_unit_test(test_configured_resources_of_the_init_container_win),
        cmocka_unit_test(test_what_is_in_the_way_of_the_init_container_is_named),
        cmocka_unit_test(test_without_an_image_only_unmarked_pods_can_be_made),
        cmocka_unit_test(test_what_gives_no_pod_says_why),
        cmocka_unit_test(test_tokens_are_three_different_ones_and_owned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
