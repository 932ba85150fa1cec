// SPDX-License-Identifier: Apache-2.0
#include <osb/json_patch.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct osb_json *parse(const char *text)
{
    struct osb_json *value = NULL;
    if (osb_json_parse(osb_slice_str(text), &value, NULL) < 0)
        fail_msg("bad JSON in the test: %s", text);
    return value;
}

static void expect_text(const struct osb_json *value, const char *expected)
{
    struct osb_buf out = {0};
    osb_json_print(value, &out);
    assert_string_equal(osb_buf_cstr(&out), expected);
    osb_buf_done(&out);
}

/* The examples of RFC 7386, appendix A, and a few of ours. */
static void test_merge_patches_apply_as_the_rfc_shows(void **state)
{
    static const struct {
        const char *target;
        const char *patch;
        const char *result;
    } CASES[] = {
        {"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
        {"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
        {"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
        {"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"},
        {"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
        {"[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]"},
        {"{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]"},
        {"{\"a\":\"foo\"}", "null", "null"},
        {"{\"a\":\"foo\"}", "\"bar\"", "\"bar\""},
        {"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
        {"[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}"},
        {"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
        {"{\"a\":1}", "{\"a\":{\"b\":null,\"c\":[null]}}", "{\"a\":{\"c\":[null]}}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct osb_json *target = parse(CASES[i].target);
        _cleanup_json_ struct osb_json *patch = parse(CASES[i].patch);
        osb_json_merge_patch(&target, patch);
        expect_text(target, CASES[i].result);
        osb_json_free(target);
    }
}

static void test_a_merge_diff_leads_from_one_to_the_other(void **state)
{
    static const struct {
        const char *from;
        const char *to;
        const char *diff;
    } CASES[] = {
        {"{\"a\":1}", "{\"a\":1}", "{}"},
        {"{\"a\":1,\"b\":2}", "{\"b\":3}", "{\"a\":null,\"b\":3}"},
        {"{\"s\":{\"x\":1,\"y\":2}}", "{\"s\":{\"x\":1,\"y\":3}}", "{\"s\":{\"y\":3}}"},
        {"{\"l\":[1]}", "{\"l\":[1,2]}", "{\"l\":[1,2]}"},
        {"{\"s\":{\"x\":1}}", "{\"s\":{}}", "{\"s\":{\"x\":null}}"},
        {"{\"s\":1}", "{\"s\":{}}", "{\"s\":{}}"},
        {"1", "[2]", "[2]"},
        {"1", "1", "1"},
        {"[1]", "[1]", "[1]"},
        {"\"s\"", "\"s\"", "\"s\""},
        {"{}", "{}", "{}"},
        {"{\"a\":1}", "[]", "[]"},
        {"[]", "{\"a\":1}", "{\"a\":1}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct osb_json *from = parse(CASES[i].from);
        _cleanup_json_ struct osb_json *to = parse(CASES[i].to);
        _cleanup_json_ struct osb_json *diff = osb_json_merge_diff(from, to);
        expect_text(diff, CASES[i].diff);
        osb_json_merge_patch(&from, diff);
        assert_true(osb_json_equal(from, to));
        osb_json_free(from);
    }
}

struct patch_case {
    const char *target;
    const char *operations;
    const char *result; /* NULL: fails with CODE */
    int code;
};

static void check(const struct patch_case *c)
{
    struct osb_json *target = parse(c->target);
    _cleanup_json_ struct osb_json *operations = parse(c->operations);
    struct osb_err err = {0};
    int r = osb_json_patch(&target, operations, &err);
    if (r != c->code)
        fail_msg("%s: got %d (%s)", c->operations, r, err.message);
    expect_text(target, c->result ? c->result : c->target);
    osb_json_free(target);
}

static void test_operations_apply_as_the_rfc_shows(void **state)
{
    static const struct patch_case CASES[] = {
        {"{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\"}]",
         "{\"foo\":\"bar\",\"baz\":\"qux\"}", 0},
        {"{\"foo\":[1,3]}", "[{\"op\":\"add\",\"path\":\"/foo/1\",\"value\":2}]",
         "{\"foo\":[1,2,3]}", 0},
        {"{\"foo\":[1]}", "[{\"op\":\"add\",\"path\":\"/foo/-\",\"value\":[2]}]",
         "{\"foo\":[1,[2]]}", 0},
        {"{\"foo\":[1]}", "[{\"op\":\"add\",\"path\":\"/foo/1\",\"value\":null}]",
         "{\"foo\":[1,null]}", 0},
        {"{\"a\":1,\"b\":2}", "[{\"op\":\"remove\",\"path\":\"/a\"}]", "{\"b\":2}", 0},
        {"{\"a\":[1,2,3]}", "[{\"op\":\"remove\",\"path\":\"/a/1\"}]", "{\"a\":[1,3]}", 0},
        {"{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":2}]", "{\"a\":2}", 0},
        {"[1,2]", "[{\"op\":\"replace\",\"path\":\"/0\",\"value\":9}]", "[9,2]", 0},
        {"{\"a\":{\"x\":1},\"b\":{}}", "[{\"op\":\"move\",\"from\":\"/a/x\",\"path\":\"/b/y\"}]",
         "{\"a\":{},\"b\":{\"y\":1}}", 0},
        {"[1,2,3,4]", "[{\"op\":\"move\",\"from\":\"/1\",\"path\":\"/3\"}]", "[1,3,4,2]", 0},
        {"{\"a\":1}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a\"}]", "{\"a\":1}", 0},
        {"{\"a\":{\"b\":1}}", "[{\"op\":\"move\",\"from\":\"/a/b\",\"path\":\"/a\"}]", "{\"a\":1}",
         0},
        {"{\"a\":[1]}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}]",
         "{\"a\":[1],\"b\":[1]}", 0},
        {"{\"a/b\":1,\"m~n\":2,\"\":3}",
         "[{\"op\":\"test\",\"path\":\"/a~1b\",\"value\":1},{\"op\":\"test\",\"path\":\"/m~0n\","
         "\"value\":2.0},{\"op\":\"test\",\"path\":\"/\",\"value\":3}]",
         "{\"a/b\":1,\"m~n\":2,\"\":3}", 0},
        {"{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"\",\"value\":[]}]", "[]", 0},
        {"null", "[{\"op\":\"test\",\"path\":\"\",\"value\":null}]", "null", 0},
        {"{\"a\":{}}", "[{\"op\":\"add\",\"path\":\"/a\",\"value\":1,\"more\":true}]", "{\"a\":1}",
         0},
        {"{}", "[]", "{}", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        check(&CASES[i]);
}

static void test_a_failed_patch_changes_nothing(void **state)
{
    static const struct patch_case CASES[] = {
        {"{\"a\":1}",
         "[{\"op\":\"remove\",\"path\":\"/a\"},{\"op\":\"test\",\"path\":\"\",\"value\":1}]", NULL,
         -OSB_E_CONFLICT},
        {"{\"a\":1}", "[{\"op\":\"test\",\"path\":\"/b\",\"value\":1}]", NULL, -OSB_E_NOT_FOUND},
        {"{}", "[{\"op\":\"remove\",\"path\":\"/a\"}]", NULL, -OSB_E_NOT_FOUND},
        {"{}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":1}]", NULL, -OSB_E_NOT_FOUND},
        {"{}", "[{\"op\":\"add\",\"path\":\"/a/b\",\"value\":1}]", NULL, -OSB_E_NOT_FOUND},
        {"[1]", "[{\"op\":\"add\",\"path\":\"/2\",\"value\":1}]", NULL, -OSB_E_NOT_FOUND},
        {"[1]", "[{\"op\":\"add\",\"path\":\"/01\",\"value\":1}]", NULL, -OSB_E_NOT_FOUND},
        {"[1]", "[{\"op\":\"remove\",\"path\":\"/-\"}]", NULL, -OSB_E_NOT_FOUND},
        {"{}", "[{\"op\":\"add\",\"path\":\"a\",\"value\":1}]", NULL, -OSB_E_INVALID},
        {"{}", "[{\"op\":\"add\",\"path\":\"/a~2\",\"value\":1}]", NULL, -OSB_E_INVALID},
        {"{}", "[{\"op\":\"add\",\"path\":\"/a~\",\"value\":1}]", NULL, -OSB_E_INVALID},
        {"{}", "[{\"op\":\"add\",\"path\":\"/a\\u0000\",\"value\":1}]", NULL, -OSB_E_INVALID},
        {"{}", "[{\"op\":\"add\",\"path\":\"/a\"}]", NULL, -OSB_E_INVALID},
        {"{}", "[{\"op\":\"add\",\"value\":1}]", NULL, -OSB_E_INVALID},
        {"{}", "[{\"op\":\"merge\",\"path\":\"\",\"value\":1}]", NULL, -OSB_E_INVALID},
        {"{}", "[{\"path\":\"\"}]", NULL, -OSB_E_INVALID},
        {"{}", "[1]", NULL, -OSB_E_INVALID},
        {"{}", "{}", NULL, -OSB_E_INVALID},
        {"{}", "[{\"op\":\"remove\",\"path\":\"\"}]", NULL, -OSB_E_INVALID},
        {"{\"a\":{\"b\":{}}}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b\"}]", NULL,
         -OSB_E_INVALID},
        {"{\"a\":{}}", "[{\"op\":\"move\",\"from\":\"\",\"path\":\"/a/b\"}]", NULL, -OSB_E_INVALID},
        {"{}", "[{\"op\":\"copy\",\"from\":\"/x\",\"path\":\"/y\"}]", NULL, -OSB_E_NOT_FOUND},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        check(&CASES[i]);
}

static void test_the_error_names_the_operation(void **state)
{
    struct osb_err err = {0};
    (void)state;
    struct osb_json *target = parse("{}");
    _cleanup_json_ struct osb_json *operations =
        parse("[{\"op\":\"add\",\"path\":\"/a\",\"value\":1},{\"op\":\"remove\",\"path\":\"/b\"}]");
    assert_int_equal(osb_json_patch(&target, operations, &err), -OSB_E_NOT_FOUND);
    assert_string_equal(err.message, "operation 1: the path does not exist");
    osb_json_free(target);
}

/* Appends the same operation COUNT times. */
static struct osb_json *repeated(const char *operation, int count)
{
    struct osb_json *operations = osb_json_new_array();
    for (int i = 0; i < count; i++)
        osb_json_append(operations, parse(operation));
    return operations;
}

static void test_copies_of_copies_are_bounded(void **state)
{
    (void)state;
    struct osb_json *target = parse("{\"a\":[\"x\"]}");
    _cleanup_json_ struct osb_json *doubling =
        repeated("{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/-\"}", 60);
    assert_int_equal(osb_json_patch(&target, doubling, NULL), -OSB_E_TOO_LARGE);
    expect_text(target, "{\"a\":[\"x\"]}");
    osb_json_free(target);
}

static void test_the_result_stays_as_shallow_as_a_parsed_tree(void **state)
{
    (void)state;
    struct osb_json *target = parse("{}");
    _cleanup_json_ struct osb_json *nesting =
        repeated("{\"op\":\"copy\",\"from\":\"\",\"path\":\"/a\"}", 70);
    assert_int_equal(osb_json_patch(&target, nesting, NULL), -OSB_E_TOO_DEEP);
    osb_json_free(target);
}

static void test_the_number_of_operations_is_bounded(void **state)
{
    (void)state;
    struct osb_json *target = parse("{}");
    _cleanup_json_ struct osb_json *many =
        repeated("{\"op\":\"add\",\"path\":\"/a\",\"value\":1}", OSB_JSON_PATCH_MAX_OPERATIONS + 1);
    assert_int_equal(osb_json_patch(&target, many, NULL), -OSB_E_TOO_LARGE);
    osb_json_remove_at(many, 0);
    assert_int_equal(osb_json_patch(&target, many, NULL), 0);
    osb_json_free(target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merge_patches_apply_as_the_rfc_shows),
        cmocka_unit_test(test_a_merge_diff_leads_from_one_to_the_other),
        cmocka_unit_test(test_operations_apply_as_the_rfc_shows),
        cmocka_unit_test(test_a_failed_patch_changes_nothing),
        cmocka_unit_test(test_the_error_names_the_operation),
        cmocka_unit_test(test_copies_of_copies_are_bounded),
        cmocka_unit_test(test_the_result_stays_as_shallow_as_a_parsed_tree),
        cmocka_unit_test(test_the_number_of_operations_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
