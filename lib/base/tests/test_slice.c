// SPDX-License-Identifier: Apache-2.0
#include <osb/err.h>
#include <osb/slice.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void equality_and_order_follow_bytes(void **state)
{
    (void)state;
    assert_true(osb_slice_eq(OSB_SLICE_NULL, OSB_SLICE("")));
    assert_true(osb_slice_eq(OSB_SLICE("a\0b"), osb_slice("a\0b", 3)));
    assert_false(osb_slice_eq(OSB_SLICE("a\0b"), OSB_SLICE("a\0c")));
    assert_true(osb_slice_eq_str(OSB_SLICE("abc"), "abc"));
    assert_true(osb_slice_ieq_str(OSB_SLICE("Content-TYPE"), "content-type"));
    assert_false(osb_slice_ieq(OSB_SLICE("@"), OSB_SLICE("`")));
    assert_false(osb_slice_ieq(OSB_SLICE("["), OSB_SLICE("{")));
    assert_true(osb_slice_cmp(OSB_SLICE("ab"), OSB_SLICE("abc")) < 0);
    assert_true(osb_slice_cmp(OSB_SLICE("\xff"), OSB_SLICE("a")) > 0);
    assert_int_equal(osb_slice_cmp(OSB_SLICE_NULL, OSB_SLICE("")), 0);
    assert_true(osb_slice_eq_secret(OSB_SLICE("token"), OSB_SLICE("token")));
    assert_false(osb_slice_eq_secret(OSB_SLICE("token"), OSB_SLICE("tokem")));
    assert_false(osb_slice_eq_secret(OSB_SLICE("token"), OSB_SLICE("toke")));
}

static void parts_are_found_and_cut(void **state)
{
    (void)state;
    struct osb_slice s = OSB_SLICE("hello");
    assert_true(osb_slice_starts(s, OSB_SLICE("he")));
    assert_true(osb_slice_starts(s, OSB_SLICE_NULL));
    assert_false(osb_slice_starts(s, OSB_SLICE("hello!")));
    assert_true(osb_slice_ends(s, OSB_SLICE("lo")));
    assert_true(osb_slice_ends(OSB_SLICE_NULL, OSB_SLICE_NULL));
    assert_false(osb_slice_ends(OSB_SLICE("o"), OSB_SLICE("lo")));
    assert_int_equal(osb_slice_find(s, 'l'), 2);
    assert_int_equal(osb_slice_find(OSB_SLICE_NULL, 'l'), -1);
    assert_int_equal(osb_slice_find_slice(s, OSB_SLICE("llo")), 2);
    assert_int_equal(osb_slice_find_slice(s, OSB_SLICE("lloo")), -1);
    assert_int_equal(osb_slice_find_slice(s, OSB_SLICE_NULL), 0);
    assert_true(osb_slice_eq_str(osb_slice_from(s, 3), "lo"));
    assert_int_equal(osb_slice_from(s, 9).len, 0);
    assert_int_equal(osb_slice_from(OSB_SLICE_NULL, 9).len, 0);
    assert_true(osb_slice_eq_str(osb_slice_first(s, 2), "he"));
    assert_true(osb_slice_eq_str(osb_slice_first(s, 9), "hello"));
    assert_true(osb_slice_eq_str(osb_slice_trim(OSB_SLICE(" \t a b\t ")), "a b"));
    assert_int_equal(osb_slice_trim(OSB_SLICE("  ")).len, 0);
}

static void split_pieces(const char *text, const char *joined)
{
    struct osb_slice rest = osb_slice_str(text), piece;
    char out[64] = "";
    while (osb_slice_split(&rest, ',', &piece)) {
        strncat(out, piece.data, piece.len);
        strcat(out, "|");
    }
    assert_string_equal(out, joined);
}

static void splitting_keeps_empty_pieces(void **state)
{
    (void)state;
    split_pieces("a,,b", "a||b|");
    split_pieces("a,", "a||");
    split_pieces(",", "||");
    split_pieces("a", "a|");
    struct osb_slice rest = OSB_SLICE_NULL, piece;
    assert_false(osb_slice_split(&rest, ',', &piece));
}

static void numbers_are_digits_within_their_range(void **state)
{
    (void)state;
    uint64_t u = 7;
    int64_t i = 7;
    assert_int_equal(osb_slice_to_u64(OSB_SLICE("18446744073709551615"), &u), 0);
    assert_true(u == UINT64_MAX);
    assert_int_equal(osb_slice_to_u64(OSB_SLICE("18446744073709551616"), &u), -ERANGE);
    assert_int_equal(osb_slice_to_u64(OSB_SLICE("184467440737095516150"), &u), -ERANGE);
    assert_int_equal(osb_slice_to_u64(OSB_SLICE("99999999999999999999x"), &u), -OSB_E_SYNTAX);
    assert_int_equal(osb_slice_to_u64(OSB_SLICE(""), &u), -OSB_E_SYNTAX);
    assert_int_equal(osb_slice_to_u64(OSB_SLICE("+1"), &u), -OSB_E_SYNTAX);
    assert_int_equal(osb_slice_to_u64(OSB_SLICE(" 1"), &u), -OSB_E_SYNTAX);
    assert_int_equal(osb_slice_to_u64(OSB_SLICE("0x1"), &u), -OSB_E_SYNTAX);
    assert_true(u == UINT64_MAX);
    assert_int_equal(osb_slice_to_i64(OSB_SLICE("-9223372036854775808"), &i), 0);
    assert_true(i == INT64_MIN);
    assert_int_equal(osb_slice_to_i64(OSB_SLICE("9223372036854775807"), &i), 0);
    assert_true(i == INT64_MAX);
    assert_int_equal(osb_slice_to_i64(OSB_SLICE("9223372036854775808"), &i), -ERANGE);
    assert_int_equal(osb_slice_to_i64(OSB_SLICE("-9223372036854775809"), &i), -ERANGE);
    assert_int_equal(osb_slice_to_i64(OSB_SLICE("-"), &i), -OSB_E_SYNTAX);
    assert_int_equal(osb_slice_to_i64(OSB_SLICE("--1"), &i), -OSB_E_SYNTAX);
}

static void a_copy_ends_in_nul(void **state)
{
    (void)state;
    char *copy = osb_slice_dup(osb_slice("abcd", 2));
    assert_string_equal(copy, "ab");
    free(copy);
    copy = osb_slice_dup(OSB_SLICE_NULL);
    assert_string_equal(copy, "");
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equality_and_order_follow_bytes),
        cmocka_unit_test(parts_are_found_and_cut),
        cmocka_unit_test(splitting_keeps_empty_pieces),
        cmocka_unit_test(numbers_are_digits_within_their_range),
        cmocka_unit_test(a_copy_ends_in_nul),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
