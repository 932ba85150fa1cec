// SPDX-License-Identifier: Apache-2.0
#include <osb/cri_log.h>
#include <osb/err.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void a_full_line_is_taken_apart(void **state)
{
    struct osb_cri_log_line line;

    (void)state;
    assert_int_equal(osb_cri_log_parse(
                         OSB_SLICE("2026-12-01T04:10:54.123456789Z stdout F hello  world "), &line),
                     0);
    assert_int_equal(line.realtime_ns, 1796098254123456789);
    assert_true(osb_slice_eq_str(line.timestamp, "2026-12-01T04:10:54.123456789Z"));
    assert_false(line.is_stderr);
    assert_false(line.is_partial);
    assert_true(osb_slice_eq_str(line.text, "hello  world "));
}

static void a_part_of_a_line_on_stderr_says_so(void **state)
{
    struct osb_cri_log_line line;

    (void)state;
    assert_int_equal(
        osb_cri_log_parse(OSB_SLICE("2026-12-01T06:10:54+02:00 stderr P:new abc"), &line), 0);
    assert_int_equal(line.realtime_ns, 1796098254000000000);
    assert_true(line.is_stderr);
    assert_true(line.is_partial);
    assert_true(osb_slice_eq_str(line.text, "abc"));
}

static void an_empty_line_has_an_empty_text(void **state)
{
    struct osb_cri_log_line line;

    (void)state;
    assert_int_equal(osb_cri_log_parse(OSB_SLICE("2026-12-01T04:10:54Z stdout F "), &line), 0);
    assert_int_equal(line.text.len, 0);
}

static void anything_else_is_a_syntax_error_and_leaves_the_result_alone(void **state)
{
    static const char *const wrong[] = {
        "",
        " ",
        "   ",
        "hello",
        "2026-12-01T04:10:54Z",
        "2026-12-01T04:10:54Z stdout",
        "2026-12-01T04:10:54Z stdout F",
        "2026-12-01T04:10:54Z stdout  text",
        "2026-12-01T04:10:54Z  F text",
        "2026-12-01T04:10:54Z stdin F text",
        "2026-12-01T04:10:54Z stdout Full text",
        "2026-12-01T04:10:54Z stdout f text",
        "2026-13-01T04:10:54Z stdout F text",
        "yesterday stdout F text",
        " 2026-12-01T04:10:54Z stdout F text",
        "{\"log\":\"json file driver\",\"stream\":\"stdout\"}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct osb_cri_log_line line = {.realtime_ns = 42};

        assert_int_equal(osb_cri_log_parse(osb_slice_str(wrong[i]), &line), -OSB_E_SYNTAX);
        assert_int_equal(line.realtime_ns, 42);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_line_is_taken_apart),
        cmocka_unit_test(a_part_of_a_line_on_stderr_says_so),
        cmocka_unit_test(an_empty_line_has_an_empty_text),
        cmocka_unit_test(anything_else_is_a_syntax_error_and_leaves_the_result_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
