// SPDX-License-Identifier: Apache-2.0
#include <osb/api_kinds.h>
#include <osb/api_meta.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test_json.h"

static const char OBJECT[] =
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"n\",\"namespace\":\"ns\","
    "\"uid\":\"u\",\"resourceVersion\":\"7\",\"generation\":3,\"labels\":{\"a\":\"b\"},"
    "\"annotations\":{\"x/y\":\"z\"},\"finalizers\":[\"f1\",\"f2\"],\"deletionTimestamp\":"
    "\"2026-01-01T00:00:00Z\",\"ownerReferences\":[{\"uid\":\"o1\"},{\"uid\":\"o2\","
    "\"controller\":true}]}}";

static void test_accessors_read_the_metadata(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *object = parse(OBJECT);
    assert_string_equal(osb_api_name(object), "n");
    assert_string_equal(osb_api_namespace(object), "ns");
    assert_string_equal(osb_api_uid(object), "u");
    assert_string_equal(osb_api_resource_version(object), "7");
    assert_string_equal(osb_api_kind(object), "Pod");
    assert_string_equal(osb_api_version(object), "v1");
    assert_int_equal(osb_api_generation(object), 3);
    assert_true(osb_api_is_deleting(object));
    assert_string_equal(osb_api_label(object, "a"), "b");
    assert_string_equal(osb_api_annotation(object, "x/y"), "z");
    assert_null(osb_api_annotation(object, "q"));
    assert_true(osb_api_has_finalizer(object, "f2"));
    assert_false(osb_api_has_finalizer(object, "f"));
    assert_string_equal(osb_api_controller_uid(object), "o2");
}

static void test_accessors_bear_any_shape(void **state)
{
    static const char *const SHAPES[] = {
        "{}",
        "[]",
        "1",
        "{\"metadata\":1}",
        "{\"metadata\":{\"name\":1,\"labels\":[],"
        "\"finalizers\":{},\"ownerReferences\":\"x\",\"annotations\":null}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(SHAPES) / sizeof(SHAPES[0]); i++) {
        _cleanup_json_ struct osb_json *object = parse(SHAPES[i]);
        assert_null(osb_api_name(object));
        assert_null(osb_api_labels(object));
        assert_null(osb_api_label(object, "a"));
        assert_null(osb_api_annotations(object));
        assert_false(osb_api_is_deleting(object));
        assert_false(osb_api_has_finalizer(object, "x"));
        assert_null(osb_api_controller_uid(object));
    }
    assert_null(osb_api_name(NULL));
}

static void test_an_owner_reference_points_to_its_owner(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *object = parse(OBJECT);
    _cleanup_json_ struct osb_json *reference = osb_api_owner_reference(object, true, true);
    expect_json(reference, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"n\",\"uid\":\"u\","
                           "\"controller\":true,\"blockOwnerDeletion\":true}");
}

static struct osb_slice repeated(char c, size_t count)
{
    static char text[300];
    memset(text, c, sizeof(text));
    return osb_slice(text, count);
}

static void test_dns_names_are_checked(void **state)
{
    (void)state;
    assert_true(osb_api_is_dns_label(OSB_SLICE("a-1")));
    assert_true(osb_api_is_dns_label(repeated('a', 63)));
    assert_false(osb_api_is_dns_label(repeated('a', 64)));
    assert_false(osb_api_is_dns_label(OSB_SLICE("")));
    assert_false(osb_api_is_dns_label(OSB_SLICE("-a")));
    assert_false(osb_api_is_dns_label(OSB_SLICE("a-")));
    assert_false(osb_api_is_dns_label(OSB_SLICE("A")));
    assert_false(osb_api_is_dns_label(OSB_SLICE("a.b")));
    assert_true(osb_api_is_dns_subdomain(OSB_SLICE("a.b-c.d")));
    assert_true(osb_api_is_dns_subdomain(repeated('a', 253)));
    assert_false(osb_api_is_dns_subdomain(repeated('a', 254)));
    assert_false(osb_api_is_dns_subdomain(OSB_SLICE("a..b")));
    assert_false(osb_api_is_dns_subdomain(OSB_SLICE(".a")));
    assert_false(osb_api_is_dns_subdomain(OSB_SLICE("a.")));
    assert_false(osb_api_is_dns_subdomain(OSB_SLICE("a.-b")));
}

static void test_label_keys_and_values_are_checked(void **state)
{
    (void)state;
    assert_true(osb_api_is_label_value(OSB_SLICE("")));
    assert_true(osb_api_is_label_value(OSB_SLICE("A_b.c-1")));
    assert_false(osb_api_is_label_value(OSB_SLICE("-a")));
    assert_false(osb_api_is_label_value(OSB_SLICE("a b")));
    assert_false(osb_api_is_label_value(repeated('a', 64)));
    assert_true(osb_api_is_qualified_name(OSB_SLICE("app")));
    assert_true(osb_api_is_qualified_name(OSB_SLICE("sandbox.opensandbox.io/pool-name")));
    assert_false(osb_api_is_qualified_name(OSB_SLICE("")));
    assert_false(osb_api_is_qualified_name(OSB_SLICE("/a")));
    assert_false(osb_api_is_qualified_name(OSB_SLICE("a/")));
    assert_false(osb_api_is_qualified_name(OSB_SLICE("a/b/c")));
    assert_false(osb_api_is_qualified_name(OSB_SLICE("A.b/c")));
    assert_false(osb_api_is_qualified_name(repeated('a', 64)));
}

static void expect_path(const struct osb_api_kind *kind, const char *namespace_, const char *name,
                        const char *subresource, const char *expected)
{
    char *path = osb_api_path(kind, namespace_, name, subresource);
    assert_string_equal(path, expected);
    free(path);
}

static void test_paths_follow_group_scope_and_name(void **state)
{
    char buffer[128];
    (void)state;
    expect_path(&osb_kind_pod, "d", "x", "log", "/api/v1/namespaces/d/pods/x/log");
    expect_path(&osb_kind_pod, NULL, NULL, NULL, "/api/v1/pods");
    expect_path(&osb_kind_node, "ignored", "n", NULL, "/api/v1/nodes/n");
    expect_path(&osb_kind_batchsandbox, "d", "x", "status",
                "/apis/sandbox.opensandbox.io/v1alpha1/namespaces/d/batchsandboxes/x/status");
    expect_path(&osb_kind_pod, "d", "../a b", NULL, "/api/v1/namespaces/d/pods/..%2Fa%20b");
    assert_string_equal(osb_api_kind_version(&osb_kind_pod, buffer), "v1");
    assert_string_equal(osb_api_kind_version(&osb_kind_lease, buffer), "coordination.k8s.io/v1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accessors_read_the_metadata),
        cmocka_unit_test(test_accessors_bear_any_shape),
        cmocka_unit_test(test_an_owner_reference_points_to_its_owner),
        cmocka_unit_test(test_dns_names_are_checked),
        cmocka_unit_test(test_label_keys_and_values_are_checked),
        cmocka_unit_test(test_paths_follow_group_scope_and_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
