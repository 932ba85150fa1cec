// SPDX-License-Identifier: Apache-2.0
#include "cmocka_all.h"
#include "command_request.h"

#include <osb/buf.h>

static int parse(const char *body, struct osb_arena *arena, struct command_request *ret)
{
    struct osb_err err = {0};
    int r = command_request_parse(osb_slice_str(body), arena, ret, &err);

    assert_int_equal(r, err.code);
    return r;
}

static void a_command_is_read_with_all_that_belongs_to_it(void **state)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    struct command_request q;

    (void)state;
    assert_int_equal(
        parse("{\"command\":\"echo \\u0041\",\"cwd\":\"/x\",\"timeout\":1500,\"uid\":1,"
              "\"gid\":2,\"background\":true,\"envs\":{\"A\":\"1\",\"B\":\"\"},"
              "\"unknown\":[{}]} trailing",
              &arena, &q),
        0);
    assert_string_equal(q.command, "echo A");
    assert_true(osb_slice_eq_str(q.content, "echo A"));
    assert_true(osb_slice_eq_str(q.cwd, "/x"));
    assert_int_equal(q.timeout_ms, 1500);
    assert_true(q.is_background && q.has_uid && q.has_gid);
    assert_int_equal(q.gid, 2);
    assert_int_equal(q.variable_count, 2);
    assert_true(osb_slice_eq_str(q.variables[0].name, "A"));
    assert_true(osb_slice_eq_str(q.variables[0].value, "1"));
}

static void keys_match_in_any_case_and_null_is_absent(void **state)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    struct command_request q;

    (void)state;
    assert_int_equal(parse("{\"Command\":\"x\",\"CWD\":null,\"uid\":null,\"gid\":null,"
                           "\"envs\":null,\"timeout\":null,\"argv\":null}",
                           &arena, &q),
                     0);
    assert_string_equal(q.command, "x");
    assert_false(q.has_uid || q.has_gid);
}

static void argv_is_kept_as_it_came(void **state)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    struct command_request q;

    (void)state;
    assert_int_equal(parse("{\"argv\":[\"ls\",\"\",\"a b\"]}", &arena, &q), 0);
    assert_null(q.command);
    assert_string_equal(q.argv[0], "ls");
    assert_string_equal(q.argv[1], "");
    assert_string_equal(q.argv[2], "a b");
    assert_null(q.argv[3]);
    assert_true(osb_slice_eq_str(q.content, "[\"ls\",\"\",\"a b\"]"));
}

static void what_breaks_a_rule_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "null",
        "[]",
        "{",
        "{}",
        "{\"command\":\"\"}",
        "{\"command\":5}",
        "{\"command\":\"x\",\"argv\":[\"y\"]}",
        "{\"command\":\"a\\u0000b\"}",
        "{\"argv\":[]}",
        "{\"argv\":[\"\"]}",
        "{\"argv\":[\"a\",5]}",
        "{\"argv\":[\"a\\u0000\"]}",
        "{\"argv\":\"ls\"}",
        "{\"command\":\"x\",\"timeout\":-1}",
        "{\"command\":\"x\",\"timeout\":\"1\"}",
        "{\"command\":\"x\",\"timeout\":99999999999999999999}",
        "{\"command\":\"x\",\"gid\":5}",
        "{\"command\":\"x\",\"uid\":-1}",
        "{\"command\":\"x\",\"uid\":4294967295}",
        "{\"command\":\"x\",\"envs\":{\"\":\"1\"}}",
        "{\"command\":\"x\",\"envs\":{\"A=B\":\"1\"}}",
        "{\"command\":\"x\",\"envs\":{\"A\":\"\\u0000\"}}",
        "{\"command\":\"x\",\"envs\":[]}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        _cleanup_arena_ struct osb_arena arena = {0};
        struct command_request q;
        if (parse(bad[i], &arena, &q) >= 0)
            fail_msg("accepted: %s", bad[i]);
    }
}

static void a_body_is_null_only_when_it_says_so_whole(void **state)
{
    static const char *const bodies[] = {"n", "nu", "nul", "nulL", "NULL", "nope"};
    _cleanup_arena_ struct osb_arena arena = {0};
    struct command_request q;

    (void)state;
    for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++)
        assert_int_equal(parse(bodies[i], &arena, &q), -OSB_E_SYNTAX);
    assert_int_equal(parse("null", &arena, &q), -OSB_E_INVALID); /* as {}: no command */
}

static void a_body_ten_thousand_levels_deep_is_refused(void **state)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    _cleanup_buf_ struct osb_buf body = {0};
    struct command_request q;

    (void)state;
    osb_buf_append_str(&body, "{\"command\":\"x\",\"deep\":");
    for (int i = 0; i < 10000; i++)
        osb_buf_append_char(&body, '[');
    assert_true(parse(osb_buf_cstr(&body), &arena, &q) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_is_read_with_all_that_belongs_to_it),
        cmocka_unit_test(keys_match_in_any_case_and_null_is_absent),
        cmocka_unit_test(argv_is_kept_as_it_came),
        cmocka_unit_test(what_breaks_a_rule_is_refused),
        cmocka_unit_test(a_body_is_null_only_when_it_says_so_whole),
        cmocka_unit_test(a_body_ten_thousand_levels_deep_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
