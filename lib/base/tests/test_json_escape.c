// SPDX-License-Identifier: Apache-2.0
#include <osb/err.h>
#include <osb/text.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void escapes_to(struct osb_slice in, const char *expected)
{
    _cleanup_buf_ struct osb_buf out = {0};
    osb_json_escape(&out, in);
    assert_string_equal(osb_buf_cstr(&out), expected);
}

static void plain_text_is_unchanged(void **state)
{
    (void)state;
    escapes_to(OSB_SLICE_NULL, "");
    escapes_to(OSB_SLICE("The quick brown fox / jumps {over} the lazy dog\x7f."),
               "The quick brown fox / jumps {over} the lazy dog\x7f.");
    escapes_to(OSB_SLICE("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
               "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
}

static void quotes_and_controls_are_escaped(void **state)
{
    (void)state;
    escapes_to(OSB_SLICE("\"\\\b\f\n\r\t"), "\\\"\\\\\\b\\f\\n\\r\\t");
    escapes_to(OSB_SLICE("a\0\x01\x1f\x1b[0m"), "a\\u0000\\u0001\\u001f\\u001b[0m");
}

static void unicode_line_splitters_are_escaped(void **state)
{
    (void)state;
    escapes_to(OSB_SLICE("a\xc2\x85"
                         "b\xe2\x80\xa8"
                         "c\xe2\x80\xa9"
                         "d"),
               "a\\u0085b\\u2028c\\u2029d");
    escapes_to(OSB_SLICE("\xc2\x84\xc2\x86\xe2\x80\xa7\xe2\x80\xaa"),
               "\xc2\x84\xc2\x86\xe2\x80\xa7\xe2\x80\xaa");
}

static void each_malformed_byte_becomes_a_replacement(void **state)
{
    (void)state;
    escapes_to(OSB_SLICE("a\xff"
                         "b"),
               "a\xef\xbf\xbd"
               "b");
    escapes_to(OSB_SLICE("\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd");
    escapes_to(OSB_SLICE("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    escapes_to(OSB_SLICE("\xe2\x80\n"), "\xef\xbf\xbd\xef\xbf\xbd\\n");
}

static void long_runs_and_short_ones_keep_their_order(void **state)
{
    (void)state;
    static char text[20000], expected[2 * sizeof(text)];
    size_t in = 0, len = 0;
    for (size_t run = 0; in + run + 1 < sizeof(text); run = run * 3 / 2 + 1) {
        for (size_t i = 0; i < run; i++, in++)
            text[in] = expected[len++] = (char)('a' + in % 26);
        text[in++] = '\n';
        expected[len++] = '\\';
        expected[len++] = 'n';
    }
    _cleanup_buf_ struct osb_buf out = {0};
    osb_json_escape(&out, osb_slice(text, in));
    assert_true(osb_slice_eq(osb_buf_slice(&out), osb_slice(expected, len)));
}

/* The fast path reads words: each special byte must be seen at each offset of a long run. */
static void special_bytes_are_seen_at_every_offset(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        for (size_t at = 0; at < 24; at++) {
            char text[24];
            memset(text, 'x', sizeof(text));
            text[at] = (char)c;
            _cleanup_buf_ struct osb_buf out = {0}, alone = {0};
            osb_json_escape(&out, osb_slice(text, sizeof(text)));
            osb_json_escape(&alone, osb_slice(&text[at], 1));
            assert_int_equal(out.len, 23 + alone.len);
            assert_memory_equal(osb_buf_slice(&out).data + at, osb_buf_slice(&alone).data,
                                alone.len);
            bool is_plain = c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
            assert_true((alone.len == 1) == is_plain);
        }
    }
}

static void a_full_buffer_ends_the_work(void **state)
{
    (void)state;
    _cleanup_buf_ struct osb_buf out;
    osb_buf_init(&out, 4);
    osb_json_escape(&out, OSB_SLICE("abc\n\n\n"));
    assert_int_equal(out.err, -OSB_E_TOO_LARGE);
    assert_true(out.len <= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_is_unchanged),
        cmocka_unit_test(quotes_and_controls_are_escaped),
        cmocka_unit_test(unicode_line_splitters_are_escaped),
        cmocka_unit_test(each_malformed_byte_becomes_a_replacement),
        cmocka_unit_test(long_runs_and_short_ones_keep_their_order),
        cmocka_unit_test(special_bytes_are_seen_at_every_offset),
        cmocka_unit_test(a_full_buffer_ends_the_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
