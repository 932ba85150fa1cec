// SPDX-License-Identifier: Apache-2.0
#include <osb/api_schema.h>
#include <osb/yaml.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test_json.h"

static const char SCHEMA[] =
    "type: object\n"
    "required: [spec]\n"
    "properties:\n"
    "  metadata: {type: object}\n"
    "  spec:\n"
    "    type: object\n"
    "    required: [replicas, name]\n"
    "    properties:\n"
    "      replicas: {type: integer, format: int32, minimum: 0, maximum: 100, default: 1}\n"
    "      name: {type: string, minLength: 1, maxLength: 5, pattern: '^[a-z]+$'}\n"
    "      mode: {type: string, enum: [Delete, Restart]}\n"
    "      expireTime: {type: string, format: date-time}\n"
    "      ratio: {type: number, minimum: 0, exclusiveMinimum: true}\n"
    "      note: {type: string, nullable: true}\n"
    "      max:\n"
    "        anyOf: [{type: integer}, {type: string}]\n"
    "        x-kubernetes-int-or-string: true\n"
    "      free: {x-kubernetes-preserve-unknown-fields: true}\n"
    "      labels: {type: object, additionalProperties: {type: string}, maxProperties: 2}\n"
    "      nested:\n"
    "        type: object\n"
    "        properties:\n"
    "          kind: {type: string, default: Delete}\n"
    "      items:\n"
    "        type: array\n"
    "        minItems: 1\n"
    "        maxItems: 3\n"
    "        x-kubernetes-list-type: map\n"
    "        x-kubernetes-list-map-keys: [type]\n"
    "        items:\n"
    "          type: object\n"
    "          required: [type]\n"
    "          properties: {type: {type: string}, on: {type: boolean}}\n"
    "      set: {type: array, x-kubernetes-list-type: set, items: {type: integer}}\n";

static struct osb_json *flow(const char *text)
{
    struct osb_json *value = NULL;
    struct osb_err err = {0};
    if (osb_yaml_parse(osb_slice_str(text), &value, &err) < 0)
        fail_msg("bad YAML in the test: %s: %s", err.message, text);
    return value;
}

/* Every problem as "path|reason|message". */
static char *problems_of(const char *spec)
{
    struct osb_schema_report report = {0};
    struct osb_buf text = {0};
    _cleanup_json_ struct osb_json *schema = flow(SCHEMA);
    _cleanup_json_ struct osb_json *value = flow(spec);
    bool is_valid = osb_schema_validate(schema, value, &report);
    assert_int_equal(is_valid, report.count == 0);
    for (int i = 0; i < report.count; i++)
        osb_buf_appendf(&text, "%s%s|%s|%s", i ? "\n" : "", report.problems[i].path,
                        report.problems[i].reason, report.problems[i].message);
    osb_schema_report_done(&report);
    return osb_buf_take(&text);
}

static void test_what_fits_has_no_problem(void **state)
{
    (void)state;
    char *problems = problems_of(
        "{metadata: {any: thing}, spec: {replicas: 3, name: abc, mode: Delete, ratio: 2, note: "
        "null, expireTime: '2026-01-01T00:00:00Z', max: 25%, free: {x: [1, {}]}, labels: {a: b}, "
        "items: [{type: A}, {type: B, on: true}], set: [1, 2]}}");
    assert_string_equal(problems, "");
    free(problems);
}

static void test_problems_are_worded_as_by_a_real_server(void **state)
{
    static const struct {
        const char *spec;
        const char *problem;
    } CASES[] = {
        {"{replicas: -1, name: a}",
         "spec.replicas|FieldValueInvalid|Invalid value: -1: spec.replicas in body should be "
         "greater than or equal to 0"},
        {"{replicas: 101, name: a}",
         "spec.replicas|FieldValueInvalid|Invalid value: 101: spec.replicas in body should be less "
         "than or equal to 100"},
        {"{replicas: x, name: a}",
         "spec.replicas|FieldValueTypeInvalid|Invalid value: \"string\": spec.replicas in body "
         "must be of type integer: \"string\""},
        {"{replicas: 1.5, name: a}",
         "spec.replicas|FieldValueTypeInvalid|Invalid value: \"number\": spec.replicas in body "
         "must be of type integer: \"number\""},
        {"{replicas: 1}", "spec.name|FieldValueRequired|Required value"},
        {"{replicas: 1, name: null}",
         "spec.name|FieldValueTypeInvalid|Invalid value: \"null\": spec.name in body must be of "
         "type string: \"null\""},
        {"{replicas: 1, name: A}",
         "spec.name|FieldValueInvalid|Invalid value: \"A\": spec.name in body should match "
         "'^[a-z]+$'"},
        {"{replicas: 1, name: abcdef}",
         "spec.name|FieldValueTooLong|Too long: may not be more than 5 bytes"},
        {"{replicas: 1, name: a, mode: X}",
         "spec.mode|FieldValueNotSupported|Unsupported value: \"X\": supported values: \"Delete\", "
         "\"Restart\""},
        {"{replicas: 1, name: a, expireTime: soon}",
         "spec.expireTime|FieldValueTypeInvalid|Invalid value: \"soon\": spec.expireTime in body "
         "must be of type date-time: \"soon\""},
        {"{replicas: 1, name: a, ratio: 0}",
         "spec.ratio|FieldValueInvalid|Invalid value: 0: spec.ratio in body should be greater than "
         "0"},
        {"{replicas: 1, name: a, max: true}",
         "spec.max|FieldValueTypeInvalid|Invalid value: \"boolean\": spec.max in body must be of "
         "type integer,string: \"boolean\""},
        {"{replicas: 1, name: a, labels: {a: 1}}",
         "spec.labels.a|FieldValueTypeInvalid|Invalid value: \"integer\": spec.labels.a in body "
         "must be of type string: \"integer\""},
        {"{replicas: 1, name: a, labels: {a: x, b: x, c: x}}",
         "spec.labels|FieldValueTooMany|Too many: 3: must have at most 2 items"},
        {"{replicas: 1, name: a, items: []}",
         "spec.items|FieldValueInvalid|Invalid value: 0: spec.items in body should have at least 1 "
         "items"},
        {"{replicas: 1, name: a, items: [{type: A}, {type: A}]}",
         "spec.items[1]|FieldValueDuplicate|Duplicate value: {\"type\":\"A\"}"},
        {"{replicas: 1, name: a, items: [{on: 1, type: A}]}",
         "spec.items[0].on|FieldValueTypeInvalid|Invalid value: \"integer\": spec.items[0].on in "
         "body must be of type boolean: \"integer\""},
        {"{replicas: 1, name: a, set: [1, 2, 1]}",
         "spec.set[2]|FieldValueDuplicate|Duplicate value: 1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct osb_buf object = {0};
        osb_buf_appendf(&object, "{spec: %s}", CASES[i].spec);
        char *problems = problems_of(osb_buf_cstr(&object));
        assert_string_equal(problems, CASES[i].problem);
        free(problems);
        osb_buf_done(&object);
    }
}

static void test_an_int32_has_32_bits(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *schema = flow("{type: integer, format: int32}");
    _cleanup_json_ struct osb_json *fits = flow("2147483647");
    _cleanup_json_ struct osb_json *too_big = flow("2147483648");
    _cleanup_json_ struct osb_json *whole = flow("3.0");
    assert_true(osb_schema_validate(schema, fits, NULL));
    assert_true(osb_schema_validate(schema, whole, NULL));
    assert_false(osb_schema_validate(schema, too_big, NULL));
}

static void test_combinations_of_schemas(void **state)
{
    static const struct {
        const char *schema;
        const char *value;
        bool is_valid;
    } CASES[] = {
        {"{anyOf: [{type: integer}, {type: string}]}", "x", true},
        {"{anyOf: [{type: integer}, {type: string}]}", "[]", false},
        {"{oneOf: [{type: integer}, {minimum: 5}]}", "3", true},
        {"{oneOf: [{type: integer}, {minimum: 5}]}", "7", false},
        {"{allOf: [{minimum: 1}, {maximum: 3}]}", "2", true},
        {"{allOf: [{minimum: 1}, {maximum: 3}]}", "4", false},
        {"{not: {type: string}}", "1", true},
        {"{not: {type: string}}", "x", false},
        {"{multipleOf: 3}", "9", true},
        {"{multipleOf: 3}", "10", false},
        {"{pattern: '^a'}", "\"a\\0\"", false},
        {"{minLength: 2}", "\"\xc3\xa9\"", false},
        {"{maxLength: 1}", "\"\xc3\xa9\"", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        _cleanup_json_ struct osb_json *schema = flow(CASES[i].schema);
        _cleanup_json_ struct osb_json *value = flow(CASES[i].value);
        if (osb_schema_validate(schema, value, NULL) != CASES[i].is_valid)
            fail_msg("%s with %s", CASES[i].schema, CASES[i].value);
    }
}

static void test_the_report_is_bounded(void **state)
{
    struct osb_schema_report report = {0};
    (void)state;
    _cleanup_json_ struct osb_json *schema = flow("{items: {type: integer}}");
    _cleanup_json_ struct osb_json *value = osb_json_new_array();
    for (int i = 0; i < 40; i++)
        osb_json_append(value, osb_json_new_str("x"));
    assert_false(osb_schema_validate(schema, value, &report));
    assert_int_equal(report.count, OSB_SCHEMA_MAX_PROBLEMS);
    assert_true(report.is_truncated);
    osb_schema_report_done(&report);
}

static void test_defaults_fill_what_is_absent_or_null(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *schema = flow(SCHEMA);
    _cleanup_json_ struct osb_json *value =
        flow("{spec: {nested: {}, replicas: null, note: null, mode: null}}");
    osb_schema_default(schema, value);
    expect_json(value,
                "{\"spec\":{\"nested\":{\"kind\":\"Delete\"},\"replicas\":1,\"note\":null}}");
    _cleanup_json_ struct osb_json *empty = flow("{}");
    osb_schema_default(schema, empty);
    expect_json(empty, "{}");
}

static void test_defaults_reach_into_lists(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *schema = flow("{items: {properties: {a: {default: {x: 1}}}}}");
    _cleanup_json_ struct osb_json *value = flow("[{}, {a: 2}]");
    osb_schema_default(schema, value);
    expect_json(value, "[{\"a\":{\"x\":1}},{\"a\":2}]");
}

static void test_unknown_fields_are_pruned_and_named(void **state)
{
    struct osb_schema_report report = {0};
    struct osb_buf text = {0};
    (void)state;
    _cleanup_json_ struct osb_json *schema = flow(SCHEMA);
    _cleanup_json_ struct osb_json *value =
        flow("{apiVersion: v, kind: K, metadata: {name: n, odd: 1}, extra: 1, spec: {replicas: 1, "
             "foo: {a: 1}, free: {any: {thing: 1}}, labels: {l: x}, items: [{type: A, bar: 1}]}}");
    osb_schema_prune(schema, value, &report);
    expect_json(value,
                "{\"apiVersion\":\"v\",\"kind\":\"K\",\"metadata\":{\"name\":\"n\",\"odd\":1}"
                ",\"spec\":{\"replicas\":1,\"free\":{\"any\":{\"thing\":1}},\"labels\":"
                "{\"l\":\"x\"},\"items\":[{\"type\":\"A\"}]}}");
    for (int i = 0; i < report.count; i++)
        osb_buf_appendf(&text, "%s;", report.problems[i].message);
    assert_string_equal(osb_buf_cstr(&text), "unknown field \"extra\";unknown field \"spec.foo\";"
                                             "unknown field \"spec.items[0].bar\";");
    osb_buf_done(&text);
    osb_schema_report_done(&report);
}

static void test_an_embedded_resource_keeps_its_header(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *schema = flow(
        "{properties: {o: {type: object, x-kubernetes-embedded-resource: true, properties: {s: {}}}"
        ", p: {type: object, properties: {s: {}}}}}");
    _cleanup_json_ struct osb_json *value =
        flow("{o: {apiVersion: v, kind: k, metadata: {}, s: {}, x: 1}, p: {kind: k, s: {}}}");
    osb_schema_prune(schema, value, NULL);
    expect_json(value,
                "{\"o\":{\"apiVersion\":\"v\",\"kind\":\"k\",\"metadata\":{},\"s\":{}},\"p\":"
                "{\"s\":{}}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_fits_has_no_problem),
        cmocka_unit_test(test_problems_are_worded_as_by_a_real_server),
        cmocka_unit_test(test_an_int32_has_32_bits),
        cmocka_unit_test(test_combinations_of_schemas),
        cmocka_unit_test(test_the_report_is_bounded),
        cmocka_unit_test(test_defaults_fill_what_is_absent_or_null),
        cmocka_unit_test(test_defaults_reach_into_lists),
        cmocka_unit_test(test_unknown_fields_are_pruned_and_named),
        cmocka_unit_test(test_an_embedded_resource_keeps_its_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
