// SPDX-License-Identifier: Apache-2.0
#include <osb/text.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int sequence(const char *s)
{
    return osb_utf8_sequence(osb_slice_str(s));
}

static void well_formed_sequences_tell_their_length(void **state)
{
    (void)state;
    assert_int_equal(sequence("a"), 1);
    assert_int_equal(sequence("\x7f"), 1);
    assert_int_equal(osb_utf8_sequence(OSB_SLICE("\0")), 1);
    assert_int_equal(sequence("\xc2\x80"), 2);
    assert_int_equal(sequence("\xdf\xbf"), 2);
    assert_int_equal(sequence("\xe0\xa0\x80"), 3);
    assert_int_equal(sequence("\xed\x9f\xbf"), 3);
    assert_int_equal(sequence("\xee\x80\x80"), 3);
    assert_int_equal(sequence("\xef\xbf\xbf"), 3);
    assert_int_equal(sequence("\xf0\x90\x80\x80"), 4);
    assert_int_equal(sequence("\xf4\x8f\xbf\xbf"), 4);
}

static void malformed_sequences_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "\x80",         "\xbf",         "\xc0\x80",         "\xc1\xbf",
        "\xc2\x7f",     "\xe0\x9f\xbf", "\xe0\x80",         "\xed\xa0\x80",
        "\xed\xbf\xbf", "\xe1\x80\x7f", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
        "\xf5\x80",     "\xff",         "\xf0\x90\x80\xc0"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(sequence(bad[i]), 0);
}

static void a_cut_sequence_asks_for_more(void **state)
{
    (void)state;
    static const char *const cut[] = {"", "\xc2", "\xe0", "\xe0\xa0", "\xf0\x90\x80", "\xf4\x8f"};
    for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++)
        assert_int_equal(sequence(cut[i]), -1);
}

/* The definition of RFC 3629 as an oracle: encode every code point, and nothing else is valid. */
static void every_code_point_is_valid_and_surrogates_are_not(void **state)
{
    (void)state;
    for (uint32_t c = 0x80; c <= 0x110fff; c++) {
        char s[4];
        size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        for (size_t i = n; i-- > 1;)
            s[i] = (char)(0x80 | (c >> (6 * (n - 1 - i)) & 0x3f));
        s[0] = (char)((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | c >> (6 * (n - 1)));
        bool is_valid = c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
        if (osb_utf8_is_valid(osb_slice(s, n)) != is_valid)
            fail_msg("U+%04X", c);
    }
}

static void validity_covers_the_whole_text(void **state)
{
    (void)state;
    assert_true(osb_utf8_is_valid(OSB_SLICE_NULL));
    assert_true(osb_utf8_is_valid(OSB_SLICE("plain ascii of more than a word")));
    assert_true(osb_utf8_is_valid(OSB_SLICE("gr\xc3\xbc\xc3\x9f"
                                            "e und mehr \xe2\x82\xac")));
    assert_false(osb_utf8_is_valid(OSB_SLICE("plain ascii, then \xe2\x82")));
    assert_false(osb_utf8_is_valid(OSB_SLICE("1234567\xff"
                                             "1234567")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed_sequences_tell_their_length),
        cmocka_unit_test(malformed_sequences_are_refused),
        cmocka_unit_test(a_cut_sequence_asks_for_more),
        cmocka_unit_test(every_code_point_is_valid_and_surrogates_are_not),
        cmocka_unit_test(validity_covers_the_whole_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
