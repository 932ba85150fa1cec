// SPDX-License-Identifier: Apache-2.0
#include "cmocka_all.h"
#include "line_reader.h"

static void expect(const char *in, uint64_t first, uint64_t count, const char *want)
{
    for (size_t step = 1; step <= strlen(in) + 1; step++) {
        _cleanup_buf_ struct osb_buf out = {0};
        struct line_picker picker = {.window = {true, first, count}, .line = 1};
        struct osb_slice rest = osb_slice_str(in);
        for (; rest.len > 0; rest = osb_slice_from(rest, step))
            line_picker_feed(&picker, osb_slice_first(rest, step), &out);
        assert_string_equal(osb_buf_cstr(&out), want);
    }
}

static void a_window_of_lines_is_joined_without_an_end(void **state)
{
    (void)state;
    expect("line1\nline2\nline3\n", 2, 2, "line2\nline3");
    expect("line1\nline2\nline3", 2, 5, "line2\nline3");
    expect("a\nb\nc\n", 1, UINT64_MAX, "a\nb\nc");
    expect("a\nb\nc\n", 1, 1, "a");
}

static void empty_lines_count(void **state)
{
    (void)state;
    expect("a\n\nb\n", 1, 3, "a\n\nb");
    expect("\n\nx", 2, 2, "\nx");
    expect("a\n\n", 1, 9, "a\n");
}

static void carriage_returns_go_only_before_a_line_end(void **state)
{
    (void)state;
    expect("a\r\nb\r\r\nc\rd\n", 1, 9, "a\nb\nc\rd");
}

static void beyond_the_end_there_is_nothing(void **state)
{
    (void)state;
    expect("a\nb\n", 5, 2, "");
    expect("", 1, 1, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_of_lines_is_joined_without_an_end),
        cmocka_unit_test(empty_lines_count),
        cmocka_unit_test(carriage_returns_go_only_before_a_line_end),
        cmocka_unit_test(beyond_the_end_there_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
