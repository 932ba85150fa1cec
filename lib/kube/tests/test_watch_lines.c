// SPDX-License-Identifier: Apache-2.0
#include "watch_lines.h"

#include <osb/err.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the four above first
#include <cmocka.h>

struct seen {
    struct osb_buf text; /* lines, each with '|' behind */
    int fail_at;         /* the line that ends the watch; 0 for none */
    int count;
};

static int note(struct osb_slice line, void *arg)
{
    struct seen *seen = arg;
    if (++seen->count == seen->fail_at)
        return -OSB_E_EXPIRED;
    osb_buf_append_slice(&seen->text, line);
    osb_buf_append_char(&seen->text, '|');
    return 0;
}

static const char text[] = "{\"a\":1}\n\n{\"b\":2}\r\n{\"c\":3}\n{\"cut";

static void test_pieces_of_any_size_give_the_same_lines(void **state)
{
    (void)state;
    for (size_t piece = 1; piece <= sizeof(text); piece++) {
        struct watch_lines lines;
        struct seen seen = {0};
        watch_lines_init(&lines, 100);
        for (size_t at = 0; at < sizeof(text) - 1; at += piece) {
            size_t left = sizeof(text) - 1 - at;
            int r = watch_lines_feed(&lines, osb_slice(text + at, left < piece ? left : piece),
                                     note, &seen);
            assert_int_equal(r, 0);
        }
        assert_string_equal(osb_buf_cstr(&seen.text), "{\"a\":1}|{\"b\":2}|{\"c\":3}|");
        assert_true(watch_lines_reset(&lines));
        assert_false(watch_lines_reset(&lines));
        osb_buf_done(&seen.text);
        watch_lines_done(&lines);
    }
}

static void test_a_line_over_the_limit_ends_the_watch_in_any_pieces(void **state)
{
    (void)state;
    for (size_t piece = 1; piece <= 12; piece++) {
        struct watch_lines lines;
        struct seen seen = {0};
        int r = 0;
        watch_lines_init(&lines, 10);
        for (size_t at = 0; at < 12 && r == 0; at += piece)
            r = watch_lines_feed(&lines,
                                 osb_slice("0123456789AB" + at, 12 - at < piece ? 12 - at : piece),
                                 note, &seen);
        assert_int_equal(r, -OSB_E_TOO_LARGE);
        assert_int_equal(seen.count, 0);
        watch_lines_done(&lines);
    }
}

static void test_a_line_of_exactly_the_limit_is_taken(void **state)
{
    (void)state;
    struct watch_lines lines;
    struct seen seen = {0};
    watch_lines_init(&lines, 10);
    assert_int_equal(watch_lines_feed(&lines, osb_slice_str("01234"), note, &seen), 0);
    assert_int_equal(watch_lines_feed(&lines, osb_slice_str("56789\n"), note, &seen), 0);
    assert_string_equal(osb_buf_cstr(&seen.text), "0123456789|");
    osb_buf_done(&seen.text);
    watch_lines_done(&lines);
}

static void test_the_reader_of_lines_can_end_the_watch(void **state)
{
    (void)state;
    struct watch_lines lines;
    struct seen seen = {.fail_at = 2};
    watch_lines_init(&lines, 100);
    assert_int_equal(watch_lines_feed(&lines, osb_slice_str("1\n2\n3\n"), note, &seen),
                     -OSB_E_EXPIRED);
    assert_int_equal(seen.count, 2);
    osb_buf_done(&seen.text);
    watch_lines_done(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_of_any_size_give_the_same_lines),
        cmocka_unit_test(test_a_line_over_the_limit_ends_the_watch_in_any_pieces),
        cmocka_unit_test(test_a_line_of_exactly_the_limit_is_taken),
        cmocka_unit_test(test_the_reader_of_lines_can_end_the_watch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
