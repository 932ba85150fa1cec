// SPDX-License-Identifier: Apache-2.0
#include <osb/yaml.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect_text(const struct osb_json *value, const char *expected)
{
    struct osb_buf out = {0};
    osb_json_print(value, &out);
    assert_string_equal(osb_buf_cstr(&out), expected);
    osb_buf_done(&out);
}

static void expect(const char *yaml, const char *json)
{
    _cleanup_json_ struct osb_json *value = NULL;
    struct osb_err err = {0};
    if (osb_yaml_parse(osb_slice_str(yaml), &value, &err) < 0)
        fail_msg("%s: %s", yaml, err.message);
    expect_text(value, json);
}

static void expect_error(const char *yaml, int code, const char *message)
{
    struct osb_json *value = NULL;
    struct osb_err err = {0};
    if (osb_yaml_parse(osb_slice_str(yaml), &value, &err) != code)
        fail_msg("%s: code %d, %s", yaml, err.code, err.message);
    assert_null(value);
    if (!strstr(err.message, message))
        fail_msg("%s: %s", yaml, err.message);
}

static void test_a_manifest_becomes_a_tree(void **state)
{
    (void)state;
    expect("apiVersion: v1\nkind: Pod\nmetadata:\n  labels: {app: web, tier: \"1\"}\nspec:\n"
           "  containers:\n  - name: a\n    args: [--x, '2']\n    tty: true\n  - name: b\n"
           "    env: []\n  text: |\n    one\n    two\n",
           "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"labels\":{\"app\":\"web\","
           "\"tier\":\"1\"}},\"spec\":{\"containers\":[{\"name\":\"a\",\"args\":[\"--x\",\"2\"],"
           "\"tty\":true},{\"name\":\"b\",\"env\":[]}],\"text\":\"one\\ntwo\\n\"}}");
}

static void test_plain_scalars_follow_the_core_schema(void **state)
{
    static const struct {
        const char *yaml;
        const char *json;
    } CASES[] = {
        {"~", "null"},
        {"Null", "null"},
        {"TRUE", "true"},
        {"False", "false"},
        {"yes", "\"yes\""},
        {"on", "\"on\""},
        {"0", "0"},
        {"-12", "-12"},
        {"+3", "3"},
        {"0x1F", "31"},
        {"0o17", "15"},
        {"0644", "420"},
        {"0899", "\"0899\""},
        {"9223372036854775807", "9223372036854775807"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"9223372036854775808", "9.223372036854776e+18"},
        {"1.5", "1.5"},
        {".5", "0.5"},
        {"1e3", "1000.0"},
        {"1e", "\"1e\""},
        {"1.2.3", "\"1.2.3\""},
        {"100m", "\"100m\""},
        {"2026-12-01", "\"2026-12-01\""},
        {"\"1\"", "\"1\""},
        {"'true'", "\"true\""},
        {"!!str 1", "\"1\""},
        {"!!int \"7\"", "7"},
        {"1_000", "\"1_000\""},
        {"-", "[null]"},
        {"\"\\0\"", "\"\\u0000\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        expect(CASES[i].yaml, CASES[i].json);
}

static void test_what_json_cannot_say_is_refused(void **state)
{
    (void)state;
    expect_error("a: .inf", -OSB_E_INVALID, "line 1, column 4");
    expect_error("a: .NaN", -OSB_E_INVALID, "not-a-number");
    expect_error("1: x", -OSB_E_INVALID, "quotes");
    expect_error("true: x", -OSB_E_INVALID, "quotes");
    expect_error("{[a]: x}", -OSB_E_INVALID, "a key must be a string");
    expect_error("a: !thing x", -OSB_E_INVALID, "unknown tag");
    expect_error("a: !!int x", -OSB_E_INVALID, "does not fit its tag");
    expect_error("a: !!binary aGk=", -OSB_E_INVALID, "unknown tag");
    expect_error("\"a\\0b\": 1", -OSB_E_INVALID, "U+0000");
}

static void test_references_are_refused(void **state)
{
    (void)state;
    expect_error("a: &x 1\nb: *x\n", -OSB_E_INVALID, "line 1, column 4: anchors");
    expect_error("a: *x\n", -OSB_E_INVALID, "anchors");
    expect_error("a: &x [1]\n", -OSB_E_INVALID, "anchors");
    expect_error("<<: {a: 1}\n", -OSB_E_INVALID, "merge keys");
}

static void test_a_key_given_twice_is_refused(void **state)
{
    (void)state;
    expect_error("a: 1\nb: 2\na: 3\n", -OSB_E_INVALID, "line 3, column 1");
}

static void test_syntax_errors_name_the_line(void **state)
{
    (void)state;
    expect_error("a: [1\nb: 2\n", -OSB_E_SYNTAX, "line 2");
    expect_error("a:\n\t- b\n", -OSB_E_SYNTAX, "line 2");
    expect_error("a: \xff\n", -OSB_E_SYNTAX, "YAML");
}

static void test_depth_is_bounded(void **state)
{
    char deep[200] = {0};
    (void)state;
    memset(deep, '[', 64);
    memset(deep + 64, ']', 64);
    struct osb_json *value = NULL;
    assert_int_equal(osb_yaml_parse(osb_slice_str(deep), &value, NULL), 0);
    osb_json_free(value);
    memset(deep, '[', 65);
    memset(deep + 65, ']', 65);
    expect_error(deep, -OSB_E_TOO_DEEP, "nested too deeply");
}

static void test_one_document_means_one(void **state)
{
    (void)state;
    expect("---\na: 1\n...\n", "{\"a\":1}");
    expect("---\n", "null");
    expect_error("", -OSB_E_INVALID, "0 documents");
    expect_error("a: 1\n---\nb: 2\n", -OSB_E_INVALID, "2 documents");
}

static void test_all_documents_come_without_the_empty_ones(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *all = NULL;
    assert_int_equal(
        osb_yaml_parse_all(OSB_SLICE("---\n# nothing\n---\na: 1\n---\n---\nb: 2\n"), &all, NULL),
        0);
    expect_text(all, "[{\"a\":1},{\"b\":2}]");
    _cleanup_json_ struct osb_json *none = NULL;
    assert_int_equal(osb_yaml_parse_all(OSB_SLICE(""), &none, NULL), 0);
    expect_text(none, "[]");
}

static void test_the_number_of_events_is_bounded(void **state)
{
    enum { SIZE = 2 * OSB_YAML_MAX_EVENTS + 2 };
    char *text = malloc(SIZE);
    struct osb_json *value = NULL;
    (void)state;
    text[0] = '[';
    for (int i = 1; i < SIZE - 1; i += 2) {
        text[i] = '1';
        text[i + 1] = ',';
    }
    text[SIZE - 1] = ']';
    assert_int_equal(osb_yaml_parse(osb_slice(text, SIZE), &value, NULL), -OSB_E_TOO_LARGE);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_manifest_becomes_a_tree),
        cmocka_unit_test(test_plain_scalars_follow_the_core_schema),
        cmocka_unit_test(test_what_json_cannot_say_is_refused),
        cmocka_unit_test(test_references_are_refused),
        cmocka_unit_test(test_a_key_given_twice_is_refused),
        cmocka_unit_test(test_syntax_errors_name_the_line),
        cmocka_unit_test(test_depth_is_bounded),
        cmocka_unit_test(test_one_document_means_one),
        cmocka_unit_test(test_all_documents_come_without_the_empty_ones),
        cmocka_unit_test(test_the_number_of_events_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
