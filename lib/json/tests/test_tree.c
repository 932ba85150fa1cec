// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <osb/json_tree.h>
#include <stdlib.h>
#include <string.h>

static struct osb_json *parse(const char *text)
{
    struct osb_json *value = NULL;
    struct osb_err err = {0};
    if (osb_json_parse(osb_slice_str(text), &value, &err) < 0)
        fail_msg("%s: %s", text, err.message);
    return value;
}

static void expect_text(const struct osb_json *value, const char *expected)
{
    struct osb_buf out = {0};
    osb_json_print(value, &out);
    assert_string_equal(osb_buf_cstr(&out), expected);
    osb_buf_done(&out);
}

static void test_text_survives_the_way_through_a_tree(void **state)
{
    static const char *const TEXTS[] = {
        "null",
        "true",
        "[null,false,[null]]",
        "{\"z\":1,\"a\":{\"m\":null},\"b\":[]}",
        "9223372036854775807",
        "-9223372036854775808",
        "1.5",
        "1.0",
        "1e+30",
        "\"\\\"\\\\\\n\"",
        "\"a\\u0000b\"",
        "{\"\":{}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++) {
        _cleanup_json_ struct osb_json *value = parse(TEXTS[i]);
        expect_text(value, TEXTS[i]);
        _cleanup_json_ struct osb_json *copy = osb_json_copy(value);
        assert_true(osb_json_equal(copy, value));
        expect_text(copy, TEXTS[i]);
    }
}

static void test_integers_beyond_64_bits_become_doubles(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *value = parse("9223372036854775808");
    assert_false(osb_json_is_i64(value));
    assert_true(osb_json_double_or(value, 0) == 9223372036854775808.0);
}

static int verdict(struct osb_slice text)
{
    struct osb_json *value = NULL;
    int r = osb_json_parse(text, &value, NULL);
    assert_true(r < 0);
    assert_null(value);
    return r;
}

static void test_bad_text_is_refused_by_kind(void **state)
{
    char *deep = malloc(20000);
    (void)state;
    assert_int_equal(verdict(OSB_SLICE("{\"a\":1,\"a\":2}")), -OSB_E_INVALID);
    assert_int_equal(verdict(OSB_SLICE("{\"a\":1,\"\\u0061\":2}")), -OSB_E_INVALID);
    assert_int_equal(verdict(OSB_SLICE("{\"a\\u0000\":1}")), -OSB_E_INVALID);
    assert_int_equal(verdict(OSB_SLICE("1e999")), -OSB_E_INVALID);
    assert_int_equal(verdict(OSB_SLICE("{} {}")), -OSB_E_SYNTAX);
    assert_int_equal(verdict(OSB_SLICE("")), -OSB_E_SYNTAX);
    assert_int_equal(verdict(OSB_SLICE("[nope]")), -OSB_E_SYNTAX);
    memset(deep, '[', 10000);
    memset(deep + 10000, ']', 10000);
    assert_int_equal(verdict(osb_slice(deep, 20000)), -OSB_E_TOO_DEEP);
    free(deep);
}

static void test_null_and_absent_are_two_things(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *object = parse("{\"a\":null}");
    assert_int_equal(osb_json_type(osb_json_get(object, "a")), OSB_JSON_NULL);
    assert_null(osb_json_get(object, "b"));
    assert_int_equal(osb_json_type(osb_json_get(object, "b")), OSB_JSON_NONE);
    assert_null(osb_json_get(osb_json_get(object, "a"), "x"));
    osb_json_set(object, "b", osb_json_new_null());
    expect_text(object, "{\"a\":null,\"b\":null}");
}

static void test_members_are_set_replaced_and_deleted(void **state)
{
    char long_key[300];
    (void)state;
    memset(long_key, 'k', sizeof(long_key));
    struct osb_slice key = osb_slice(long_key, sizeof(long_key));
    _cleanup_json_ struct osb_json *object = osb_json_new_object();
    osb_json_set(object, "a", osb_json_new_i64(1));
    osb_json_set(object, "b", osb_json_new_str("x"));
    osb_json_set(object, "a", osb_json_new_double(2.5));
    osb_json_set_slice(object, key, osb_json_new_bool(true));
    assert_true(osb_json_bool_or(osb_json_get_slice(object, key), false));
    assert_true(osb_json_del(object, key));
    assert_false(osb_json_del(object, key));
    osb_json_set(osb_json_ensure_object(object, "b"), "c", osb_json_new_array());
    expect_text(object, "{\"a\":2.5,\"b\":{\"c\":[]}}");
    assert_int_equal(osb_json_type(osb_json_get_path(object, "b.c")), OSB_JSON_ARRAY);
    assert_null(osb_json_get_path(object, "b.c.d"));
    assert_null(osb_json_get_slice(object, osb_slice("a\0b", 3)));
}

static void test_arrays_grow_and_shrink_anywhere(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *array = parse("[1,2]");
    osb_json_insert(array, 0, osb_json_new_i64(0));
    osb_json_insert(array, 3, osb_json_new_null());
    osb_json_insert(array, 1, osb_json_new_str("x"));
    expect_text(array, "[0,\"x\",1,2,null]");
    osb_json_replace_at(array, 4, osb_json_new_bool(false));
    osb_json_remove_at(array, 0);
    expect_text(array, "[\"x\",1,2,false]");
    assert_null(osb_json_at(array, 4));
    assert_int_equal(osb_json_count(array), 4);
}

static void test_items_are_permuted(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *array = parse("[\"a\",null,{}]");
    osb_json_permute(array, (const size_t[]){2, 0, 1});
    expect_text(array, "[{},\"a\",null]");
}

static void test_members_come_in_the_order_of_the_text(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *object = parse("{\"z\":1,\"a\":null,\"m\":3}");
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    char order[4] = {0};
    for (int i = 0; osb_json_next_member(object, &cursor, &key, &value); i++)
        order[i] = key.data[0];
    assert_string_equal(order, "zam");
    cursor = NULL;
    assert_false(osb_json_next_member(osb_json_get(object, "z"), &cursor, &key, &value));
}

static void test_equality_is_deep_and_typed(void **state)
{
    static const struct {
        const char *a;
        const char *b;
        bool is_equal;
    } CASES[] = {
        {"{\"a\":1,\"b\":[2]}", "{\"b\":[2],\"a\":1}", true},
        {"{\"a\":1}", "{\"a\":1,\"b\":null}", false},
        {"{\"a\":null}", "{\"b\":null}", false},
        {"1", "1.0", false},
        {"[1,2]", "[2,1]", false},
        {"null", "false", false},
        {"\"a\\u0000b\"", "\"a\\u0000c\"", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        _cleanup_json_ struct osb_json *a = parse(CASES[i].a);
        _cleanup_json_ struct osb_json *b = parse(CASES[i].b);
        assert_int_equal(osb_json_equal(a, b), CASES[i].is_equal);
    }
}

static void test_scalars_fall_back_on_any_other_type(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *object = parse("{\"i\":5,\"d\":1.5,\"s\":\"t\",\"n\":null}");
    assert_int_equal(osb_json_i64_or(osb_json_get(object, "i"), 9), 5);
    assert_int_equal(osb_json_i64_or(osb_json_get(object, "d"), 9), 9);
    assert_int_equal(osb_json_i64_or(osb_json_get(object, "n"), 9), 9);
    assert_int_equal(osb_json_i64_or(NULL, 9), 9);
    assert_true(osb_json_double_or(osb_json_get(object, "i"), 0) == 5.0);
    assert_true(osb_json_bool_or(osb_json_get(object, "s"), true));
    assert_string_equal(osb_json_cstr(osb_json_get(object, "s")), "t");
    assert_null(osb_json_cstr(osb_json_get(object, "i")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_survives_the_way_through_a_tree),
        cmocka_unit_test(test_integers_beyond_64_bits_become_doubles),
        cmocka_unit_test(test_bad_text_is_refused_by_kind),
        cmocka_unit_test(test_null_and_absent_are_two_things),
        cmocka_unit_test(test_members_are_set_replaced_and_deleted),
        cmocka_unit_test(test_arrays_grow_and_shrink_anywhere),
        cmocka_unit_test(test_items_are_permuted),
        cmocka_unit_test(test_members_come_in_the_order_of_the_text),
        cmocka_unit_test(test_equality_is_deep_and_typed),
        cmocka_unit_test(test_scalars_fall_back_on_any_other_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
