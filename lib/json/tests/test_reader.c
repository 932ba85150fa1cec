// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <osb/json_reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An exact-size copy on the heap, so that a sanitizer sees the first byte read too far. */
static int verdict_of(struct osb_slice text, struct osb_err *err)
{
    char *exact = malloc(text.len ? text.len : 1);
    struct osb_json_reader r;
    if (text.len)
        memcpy(exact, text.data, text.len);
    osb_json_reader_init(&r, osb_slice(exact, text.len));
    osb_json_skip(&r);
    int verdict = osb_json_reader_finish(&r, err);
    free(exact);
    return verdict;
}

static int verdict(const char *text)
{
    return verdict_of(osb_slice_str(text), NULL);
}

static void test_values_of_the_grammar_are_accepted(void **state)
{
    static const char *const VALID[] = {
        "null",
        "true",
        "false",
        "0",
        "-0",
        "12",
        "-1.5",
        "1e5",
        "1E+5",
        "0.0e-0",
        "\"\"",
        "\"a\\u0041\\n\\/\"",
        "\"\\ud83d\\ude00\"",
        "[]",
        "{}",
        " [ 1 , 2 ] ",
        "{\"a\":{\"b\":[]}}",
        "\t\r\n{ \"a\" : null }\n",
        "\"\xc3\xa9 and \xf0\x9f\x98\x80\"",
        "\"\x7f\"",
        "123456789012345678901234567890",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(VALID) / sizeof(VALID[0]); i++)
        if (verdict(VALID[i]) != 0)
            fail_msg("refused: %s", VALID[i]);
}

static void test_anything_else_is_a_syntax_error(void **state)
{
    static const char *const INVALID[] = {
        "",
        " ",
        "nul",
        "nulll",
        "True",
        "+1",
        "01",
        "-",
        "1.",
        ".5",
        "1e",
        "1e+",
        "0x1",
        "NaN",
        "Infinity",
        "\"",
        "\"\\",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\u0041\"",
        "\"\n\"",
        "\"\x01\"",
        "\"\xc0\x80\"",
        "\"\xed\xa0\x80\"",
        "\"\xf5\x80\x80\x80\"",
        "\"\xe2\x82\"",
        "\"\x80\"",
        "[",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,}",
        "{a:1}",
        "{\"a\" 1}",
        "{\"a\":1 \"b\":2}",
        "{1:2}",
        "]",
        "}",
        "[}",
        "{]",
        "1 2",
        "[] []",
        "//x\n1",
        "'a'",
        "\xef\xbb\xbf{}",
        "[1]\v",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(INVALID) / sizeof(INVALID[0]); i++)
        if (verdict(INVALID[i]) != -OSB_E_SYNTAX)
            fail_msg("not refused as a syntax error: %s", INVALID[i]);
}

static void test_every_prefix_of_a_document_is_refused(void **state)
{
    const char *text =
        "{\"a\":[1,-2.5e3,\"x\\u00e9\xc3\xa9\",true,null],\"b\":{\"c\":\"long enough "
        "to take the fast path of strings\"}}";
    (void)state;
    for (size_t len = 0; len < strlen(text); len++)
        assert_int_equal(verdict_of(osb_slice(text, len), NULL), -OSB_E_SYNTAX);
    assert_int_equal(verdict(text), 0);
}

static void test_a_special_byte_is_seen_at_every_place_of_a_string(void **state)
{
    static const char SPECIAL[] = {'\n', '\0', '\x1f', '\x80', '\xff'};
    char text[64];
    (void)state;
    for (size_t at = 1; at < 50; at++) {
        for (size_t k = 0; k < sizeof(SPECIAL); k++) {
            memset(text, ' ', sizeof(text));
            text[0] = text[51] = '"';
            assert_int_equal(verdict_of(osb_slice(text, 52), NULL), 0);
            text[at] = SPECIAL[k];
            assert_int_equal(verdict_of(osb_slice(text, 52), NULL), -OSB_E_SYNTAX);
        }
    }
}

static void test_nesting_beyond_64_levels_is_named_as_such(void **state)
{
    struct osb_err err = {0};
    char *deep = malloc(20000);
    (void)state;
    memset(deep, '[', 10000);
    memset(deep + 10000, ']', 10000);
    assert_int_equal(verdict_of(osb_slice(deep, 20000), &err), -OSB_E_TOO_DEEP);
    assert_non_null(strstr(err.message, "byte 64"));
    assert_int_equal(verdict_of(osb_slice(deep + 10000 - 64, 128), NULL), 0);
    assert_int_equal(verdict_of(osb_slice(deep + 10000 - 65, 130), NULL), -OSB_E_TOO_DEEP);
    free(deep);
}

static void test_entering_is_bounded_as_skipping_is(void **state)
{
    char deep[100];
    struct osb_json_reader r;
    (void)state;
    memset(deep, '[', sizeof(deep));
    osb_json_reader_init(&r, osb_slice(deep, sizeof(deep)));
    int entered = 0;
    do {
        osb_json_enter_array(&r);
        entered += r.err == 0;
    } while (osb_json_next_item(&r));
    assert_int_equal(entered, OSB_JSON_MAX_DEPTH);
    assert_int_equal(osb_json_reader_check(&r, NULL), -OSB_E_TOO_DEEP);
}

static void test_an_object_is_walked_key_by_key(void **state)
{
    struct osb_json_reader r;
    struct osb_slice key;
    struct osb_arena arena = {0};
    struct osb_slice name = OSB_SLICE_NULL;
    int64_t sum = 0;
    double ratio = 0;
    bool flag = false;
    bool was_null = false;
    (void)state;
    osb_json_reader_init(&r,
                         OSB_SLICE("{\"name\":\"p\\u00f6d\",\"n\":[1, -2,3],\"other\":{\"x\":[{}]},"
                                   "\"ratio\":2.5e-1,\"flag\":true,\"none\":null}"));
    osb_json_enter_object(&r);
    while (osb_json_next_key(&r, &key)) {
        if (osb_slice_eq_str(key, "name")) {
            osb_json_read_string(&r, &arena, &name);
        } else if (osb_slice_eq_str(key, "n")) {
            osb_json_enter_array(&r);
            while (osb_json_next_item(&r)) {
                int64_t n = 0;
                osb_json_read_i64(&r, &n);
                sum += n;
            }
        } else if (osb_slice_eq_str(key, "ratio")) {
            osb_json_read_double(&r, &ratio);
        } else if (osb_slice_eq_str(key, "flag")) {
            osb_json_read_bool(&r, &flag);
        } else if (osb_slice_eq_str(key, "none")) {
            was_null = osb_json_read_null(&r);
        } else {
            osb_json_skip(&r);
        }
    }
    assert_int_equal(osb_json_reader_finish(&r, NULL), 0);
    assert_true(osb_slice_eq_str(name, "p\xc3\xb6"
                                       "d"));
    assert_int_equal(sum, 2);
    assert_true(ratio == 0.25 && flag && was_null);
    osb_arena_done(&arena);
}

static void test_escapes_are_decoded(void **state)
{
    struct osb_json_reader r;
    struct osb_arena arena = {0};
    struct osb_buf buf = {0};
    struct osb_slice text =
        OSB_SLICE("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\u007f\\u07ff\\uFFFF\\uD834\\uDD1E\"");
    static const char DECODED[] = "\"\\/\b\f\n\r\t\0\x7f\xdf\xbf\xef\xbf\xbf\xf0\x9d\x84\x9e";
    struct osb_slice got = OSB_SLICE_NULL;
    (void)state;
    osb_json_reader_init(&r, text);
    osb_json_read_string(&r, &arena, &got);
    assert_int_equal(got.len, sizeof(DECODED) - 1);
    assert_memory_equal(got.data, DECODED, got.len);
    osb_json_reader_init(&r, text);
    osb_json_read_string_buf(&r, &buf);
    assert_true(osb_slice_eq(osb_buf_slice(&buf), got));
    osb_buf_done(&buf);
    osb_arena_done(&arena);
}

static void test_a_c_string_with_nul_is_refused(void **state)
{
    struct osb_json_reader r;
    struct osb_arena arena = {0};
    char *text = NULL;
    (void)state;
    osb_json_reader_init(&r, OSB_SLICE("\"ab\""));
    osb_json_read_cstr(&r, &arena, &text);
    assert_string_equal(text, "ab");
    text = NULL;
    osb_json_reader_init(&r, OSB_SLICE("\"a\\u0000b\""));
    osb_json_read_cstr(&r, &arena, &text);
    assert_null(text);
    assert_int_equal(osb_json_reader_check(&r, NULL), -OSB_E_INVALID);
    osb_arena_done(&arena);
}

static void test_keys_are_decoded_into_the_arena_only(void **state)
{
    struct osb_json_reader r;
    struct osb_arena arena = {0};
    struct osb_slice key;
    (void)state;
    osb_json_reader_init(&r, OSB_SLICE("{\"n\\u0061me\":1}"));
    osb_json_enter_object(&r);
    assert_true(osb_json_next_key_arena(&r, &arena, &key));
    assert_true(osb_slice_eq_str(key, "name"));
    osb_json_reader_init(&r, OSB_SLICE("{\"n\\u0061me\":1}"));
    osb_json_enter_object(&r);
    assert_true(osb_json_next_key(&r, &key));
    assert_true(osb_slice_eq_str(key, "n\\u0061me"));
    osb_arena_done(&arena);
}

static int integer_verdict(const char *text, int64_t *ret)
{
    struct osb_json_reader r;
    osb_json_reader_init(&r, osb_slice_str(text));
    osb_json_read_i64(&r, ret);
    return osb_json_reader_finish(&r, NULL);
}

static void test_integers_are_exact_or_refused(void **state)
{
    int64_t n = 7;
    (void)state;
    assert_int_equal(integer_verdict("1.0", &n), -OSB_E_INVALID);
    assert_int_equal(integer_verdict("1e2", &n), -OSB_E_INVALID);
    assert_int_equal(integer_verdict("9223372036854775808", &n), -OSB_E_INVALID);
    assert_int_equal(integer_verdict("\"1\"", &n), -OSB_E_INVALID);
    assert_int_equal(integer_verdict("?", &n), -OSB_E_SYNTAX);
    assert_int_equal(n, 7);
    assert_int_equal(integer_verdict("9223372036854775807", &n), 0);
    assert_true(n == INT64_MAX);
    assert_int_equal(integer_verdict("-9223372036854775808", &n), 0);
    assert_true(n == INT64_MIN);
}

static void test_a_double_out_of_range_is_refused(void **state)
{
    struct osb_json_reader r;
    double d = 3;
    (void)state;
    osb_json_reader_init(&r, OSB_SLICE("1e999"));
    osb_json_read_double(&r, &d);
    assert_int_equal(osb_json_reader_check(&r, NULL), -OSB_E_INVALID);
    assert_true(d == 3);
}

static void test_the_first_error_sticks(void **state)
{
    struct osb_json_reader r;
    struct osb_slice key;
    struct osb_err err;
    bool flag = false;
    (void)state;
    osb_json_reader_init(&r, OSB_SLICE("{\"a\":1,\"b\":true}"));
    osb_json_enter_object(&r);
    assert_true(osb_json_next_key(&r, &key));
    osb_json_read_bool(&r, &flag);
    assert_false(osb_json_next_key(&r, &key));
    osb_json_skip(&r);
    osb_json_enter_array(&r);
    assert_int_equal(osb_json_peek(&r), OSB_JSON_NONE);
    assert_int_equal(osb_json_reader_finish(&r, &err), -OSB_E_INVALID);
    assert_string_equal(err.message, "JSON at byte 5: not a boolean");
}

static void test_a_forgotten_value_is_our_own_fault(void **state)
{
    struct osb_json_reader r;
    struct osb_slice key;
    (void)state;
    osb_json_reader_init(&r, OSB_SLICE("{\"a\":1,\"b\":2}"));
    osb_json_enter_object(&r);
    assert_true(osb_json_next_key(&r, &key));
    assert_false(osb_json_next_key(&r, &key));
    assert_int_equal(osb_json_reader_check(&r, NULL), -OSB_E_INTERNAL);
}

static void test_raw_values_keep_their_bytes(void **state)
{
    struct osb_json_reader r;
    struct osb_slice raw = OSB_SLICE_NULL;
    (void)state;
    osb_json_reader_init(&r, OSB_SLICE("  {\"a\" : [1]}  "));
    osb_json_read_raw(&r, &raw);
    assert_true(osb_slice_eq_str(raw, "{\"a\" : [1]}"));
    assert_int_equal(osb_json_reader_finish(&r, NULL), 0);
}

static void test_a_stream_holds_value_after_value(void **state)
{
    struct osb_json_reader r;
    int64_t n = 0;
    int64_t sum = 0;
    (void)state;
    osb_json_reader_init(&r, OSB_SLICE("1\n2\n3\n"));
    while (osb_json_peek(&r) != OSB_JSON_NONE) {
        osb_json_read_i64(&r, &n);
        sum += n;
    }
    assert_int_equal(osb_json_reader_finish(&r, NULL), 0);
    assert_int_equal(sum, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_of_the_grammar_are_accepted),
        cmocka_unit_test(test_anything_else_is_a_syntax_error),
        cmocka_unit_test(test_every_prefix_of_a_document_is_refused),
        cmocka_unit_test(test_a_special_byte_is_seen_at_every_place_of_a_string),
        cmocka_unit_test(test_nesting_beyond_64_levels_is_named_as_such),
        cmocka_unit_test(test_entering_is_bounded_as_skipping_is),
        cmocka_unit_test(test_an_object_is_walked_key_by_key),
        cmocka_unit_test(test_escapes_are_decoded),
        cmocka_unit_test(test_a_c_string_with_nul_is_refused),
        cmocka_unit_test(test_keys_are_decoded_into_the_arena_only),
        cmocka_unit_test(test_integers_are_exact_or_refused),
        cmocka_unit_test(test_a_double_out_of_range_is_refused),
        cmocka_unit_test(test_the_first_error_sticks),
        cmocka_unit_test(test_a_forgotten_value_is_our_own_fault),
        cmocka_unit_test(test_raw_values_keep_their_bytes),
        cmocka_unit_test(test_a_stream_holds_value_after_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
