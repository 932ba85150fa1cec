// SPDX-License-Identifier: Apache-2.0
#include <osb/fd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
// cmocka needs the ones above first
#include <cmocka.h>

#include "rest_template.h"

static struct osb_json *parse(const char *text)
{
    struct osb_json *tree = NULL;
    assert_int_equal(osb_json_parse(osb_slice_str(text), &tree, NULL), 0);
    return tree;
}

static void assert_applied(const char *template_text, const char *object_text, const char *expected)
{
    _cleanup_json_ struct osb_json *template_ = parse(template_text);
    _cleanup_json_ struct osb_json *object = parse(object_text);
    _cleanup_json_ struct osb_json *wanted = parse(expected);
    _cleanup_buf_ struct osb_buf text = {0};
    rest_template_apply(template_, object);
    osb_json_print(object, &text);
    if (!osb_json_equal(object, wanted))
        fail_msg("%s", osb_buf_cstr(&text));
}

static void what_the_request_says_wins_over_the_template(void **state)
{
    (void)state;
    assert_applied("{\"metadata\":{\"name\":\"t\",\"labels\":{\"a\":\"1\",\"b\":\"2\"}},"
                   "\"spec\":{\"replicas\":9,\"expireTime\":\"x\",\"template\":{\"spec\":{"
                   "\"priorityClassName\":\"low\",\"nothing\":null,\"restartPolicy\":\"Always\","
                   "\"tolerations\":[{\"operator\":\"Exists\"}],"
                   "\"containers\":[{\"name\":\"other\",\"env\":[]}]}}}}",
                   "{\"metadata\":{\"name\":\"s\",\"labels\":{\"a\":\"9\"}},\"spec\":{\"replicas\":"
                   "1,\"template\":{\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{"
                   "\"name\":\"sandbox\"}]}}}}",
                   "{\"metadata\":{\"name\":\"s\",\"labels\":{\"a\":\"9\",\"b\":\"2\"}},\"spec\":{"
                   "\"replicas\":1,\"template\":{\"spec\":{\"restartPolicy\":\"Never\","
                   "\"containers\":[{\"name\":\"sandbox\"}],\"priorityClassName\":\"low\","
                   "\"tolerations\":[{\"operator\":\"Exists\"}]}}}}");
}

static void volumes_mounts_and_security_context_are_added(void **state)
{
    (void)state;
    assert_applied(
        "{\"spec\":{\"template\":{\"spec\":{\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}},"
        "{\"name\":\"w\",\"emptyDir\":{}}],\"containers\":[{\"name\":\"first\"},{\"name\":"
        "\"sandbox\",\"volumeMounts\":[{\"name\":\"w\",\"mountPath\":\"/w\"},{\"name\":\"w\","
        "\"mountPath\":\"/w2\"},{\"name\":\"v\",\"mountPath\":\"/x\"}],\"securityContext\":{"
        "\"runAsUser\":1,\"privileged\":true}}]}}}}",
        "{\"spec\":{\"template\":{\"spec\":{\"volumes\":[{\"name\":\"v\"}],\"containers\":[{"
        "\"name\":\"sandbox\",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/v\"}],"
        "\"securityContext\":{\"privileged\":false}}]}}}}",
        "{\"spec\":{\"template\":{\"spec\":{\"volumes\":[{\"name\":\"v\"},{\"name\":\"w\","
        "\"emptyDir\":{}}],\"containers\":[{\"name\":\"sandbox\",\"volumeMounts\":[{\"name\":"
        "\"v\",\"mountPath\":\"/v\"},{\"name\":\"w\",\"mountPath\":\"/w\"},{\"name\":\"w\","
        "\"mountPath\":\"/w2\"}],\"securityContext\":{\"privileged\":false,\"runAsUser\":1}}]}}}}");
}

static int load(const char *text, struct osb_json **ret, struct osb_err *err)
{
    char path[] = "/tmp/rest-template-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(osb_write_all(fd, text, strlen(text)), 0);
    close(fd);
    int r = rest_template_load(path, ret, err);
    unlink(path);
    return r;
}

static void a_file_is_read_as_yaml(void **state)
{
    _cleanup_json_ struct osb_json *tree = NULL;
    (void)state;
    assert_int_equal(load("spec:\n  template:\n    spec: {hostNetwork: true}\n", &tree, NULL), 0);
    assert_true(osb_json_bool_or(osb_json_get_path(tree, "spec.template.spec.hostNetwork"), false));
}

static void a_file_that_is_no_mapping_ends_the_start(void **state)
{
    struct osb_json *tree = NULL;
    struct osb_err err = {0};
    (void)state;
    assert_int_equal(load("- a\n", &tree, &err), -OSB_E_INVALID);
    assert_non_null(strstr(err.message, "batchsandbox_template_file"));
    assert_true(load("a: [", &tree, &err) < 0);
    assert_true(rest_template_load("/nonexistent", &tree, &err) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_request_says_wins_over_the_template),
        cmocka_unit_test(volumes_mounts_and_security_context_are_added),
        cmocka_unit_test(a_file_is_read_as_yaml),
        cmocka_unit_test(a_file_that_is_no_mapping_ends_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
