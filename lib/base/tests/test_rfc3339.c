// SPDX-License-Identifier: Apache-2.0
#include <osb/clock.h>
#include <osb/err.h>
#include <time.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void parses(const char *text, int64_t expected)
{
    int64_t ns = 42;
    if (osb_rfc3339_parse(osb_slice_str(text), &ns) != 0 || ns != expected)
        fail_msg("%s gave %lld", text, (long long)ns);
}

static void refuses(const char *text, int code)
{
    int64_t ns = 42;
    int r = osb_rfc3339_parse(osb_slice_str(text), &ns);
    if (r != code || ns != 42)
        fail_msg("%s gave %d", text, r);
}

static void times_parse_with_fraction_and_offset(void **state)
{
    (void)state;
    parses("1970-01-01T00:00:00Z", 0);
    parses("2026-12-01T04:10:54Z", 1796098254000000000);
    parses("2026-12-01t04:10:54.5z", 1796098254500000000);
    parses("2026-12-01T04:10:54.123456789Z", 1796098254123456789);
    parses("2026-12-01T04:10:54.1234567899999Z", 1796098254123456789);
    parses("2026-12-01T06:10:54+02:00", 1796098254000000000);
    parses("2026-11-30T22:40:54-05:30", 1796098254000000000);
    parses("1969-12-31T23:59:59.9Z", -100000000);
}

static void the_calendar_is_checked(void **state)
{
    (void)state;
    parses("2024-02-29T00:00:00Z", 1709164800000000000);
    parses("2000-02-29T00:00:00Z", 951782400000000000);
    refuses("2023-02-29T00:00:00Z", -OSB_E_SYNTAX);
    refuses("1900-02-29T00:00:00Z", -OSB_E_SYNTAX);
    refuses("2024-04-31T00:00:00Z", -OSB_E_SYNTAX);
    refuses("2024-00-01T00:00:00Z", -OSB_E_SYNTAX);
    refuses("2024-13-01T00:00:00Z", -OSB_E_SYNTAX);
    refuses("2024-01-00T00:00:00Z", -OSB_E_SYNTAX);
    refuses("2024-01-01T24:00:00Z", -OSB_E_SYNTAX);
    refuses("2024-01-01T00:60:00Z", -OSB_E_SYNTAX);
    refuses("2024-01-01T00:00:61Z", -OSB_E_SYNTAX);
}

static void leap_seconds_end_a_utc_day(void **state)
{
    (void)state;
    parses("2016-12-31T23:59:60Z", 1483228800000000000);
    parses("2016-12-31T15:59:60.25-08:00", 1483228800250000000);
    refuses("2016-12-31T22:59:60Z", -OSB_E_SYNTAX);
    refuses("2016-12-31T23:59:60+01:00", -OSB_E_SYNTAX);
}

static void malformed_text_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "2024",
                                      "2024-01-01",
                                      "2024-01-01T00:00:00",
                                      "2024-01-01 00:00:00Z",
                                      "2024-01-01T00:00:00.Z",
                                      "2024-01-01T00:00:00,5Z",
                                      "2024-01-01T00:00:00+0100",
                                      "2024-01-01T00:00:00+24:00",
                                      "2024-01-01T00:00:00+01:60",
                                      "2024-01-01T00:00:00Z ",
                                      " 2024-01-01T00:00:00Z",
                                      "24-01-01T00:00:00Z",
                                      "2024-1-01T00:00:00Z",
                                      "+024-01-01T00:00:00Z",
                                      "2024-01-01T00:00Z",
                                      "2024-01-01T00:00:00ZZ",
                                      "2024-01-01T00:00:00+01",
                                      "2024/01/01T00:00:00Z"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        refuses(bad[i], -OSB_E_SYNTAX);
}

static void times_out_of_range_are_told_apart(void **state)
{
    (void)state;
    parses("2262-04-11T23:47:16.854775807Z", INT64_MAX);
    refuses("2262-04-11T23:47:16.854775808Z", -ERANGE);
    parses("1677-09-21T00:12:43.145224192Z", INT64_MIN);
    refuses("1677-09-21T00:12:43.145224191Z", -ERANGE);
    refuses("9999-12-31T23:59:59Z", -ERANGE);
    refuses("0000-01-01T00:00:00Z", -ERANGE);
}

static void formatting_cuts_the_fraction(void **state)
{
    (void)state;
    char text[OSB_RFC3339_MAX];
    assert_string_equal(osb_rfc3339_format(text, 1796098254987654321, 0), "2026-12-01T04:10:54Z");
    assert_string_equal(osb_rfc3339_format(text, 1796098254987654321, 3),
                        "2026-12-01T04:10:54.987Z");
    assert_string_equal(osb_rfc3339_format(text, -1, 9), "1969-12-31T23:59:59.999999999Z");
    assert_string_equal(osb_rfc3339_format(text, INT64_MIN, 9), "1677-09-21T00:12:43.145224192Z");
    assert_string_equal(osb_rfc3339_format(text, INT64_MAX, 9), "2262-04-11T23:47:16.854775807Z");
}

/* libc's calendar is the oracle, over every day from 1678 to 2262. */
static void every_day_agrees_with_libc_and_parses_back(void **state)
{
    (void)state;
    for (int64_t day = -106000; day < 106700; day++) {
        int64_t ns = (day * 86400 + 45296) * (int64_t)OSB_NS_PER_S;
        time_t seconds = (time_t)(day * 86400 + 45296);
        struct tm tm;
        char expected[OSB_RFC3339_MAX], text[OSB_RFC3339_MAX];
        strftime(expected, sizeof(expected), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &tm));
        if (strcmp(osb_rfc3339_format(text, ns, 0), expected) != 0)
            fail_msg("%s instead of %s", text, expected);
        parses(text, ns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_parse_with_fraction_and_offset),
        cmocka_unit_test(the_calendar_is_checked),
        cmocka_unit_test(leap_seconds_end_a_utc_day),
        cmocka_unit_test(malformed_text_is_refused),
        cmocka_unit_test(times_out_of_range_are_told_apart),
        cmocka_unit_test(formatting_cuts_the_fraction),
        cmocka_unit_test(every_day_agrees_with_libc_and_parses_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
