// SPDX-License-Identifier: Apache-2.0
#include <osb/clock.h>
#include <osb/err.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void durations_add_up(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {{"0", 0},
                 {"0s", 0},
                 {"500ms", 500000000},
                 {"1m30s", 90000000000},
                 {"1h", 3600000000000},
                 {"1.5h", 5400000000000},
                 {".5s", 500000000},
                 {"1.s", 1000000000},
                 {"-1.5s", -1500000000},
                 {"+3us", 3000},
                 {"3\xc2\xb5s", 3000},
                 {"3\xce\xbcs", 3000},
                 {"1h2m3s4ms5us6ns", 3723004005006},
                 {"0.9999999999s", 999999999},
                 {"0.333333333333333333333333h", 1199999999999},
                 {"9223372036854775807ns", INT64_MAX},
                 {"-9223372036854775808ns", INT64_MIN}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t ns = 42;
        if (osb_duration_parse(osb_slice_str(cases[i].text), &ns) != 0 || ns != cases[i].ns)
            fail_msg("%s gave %lld", cases[i].text, (long long)ns);
    }
}

static void malformed_durations_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",      "-",    "+",     "1",    "00",    "s",
                                      ".s",    "1x",   "1d",    "1 s",  " 1s",   "1s ",
                                      "1..5s", "--1s", "1s-1s", "1e3s", "1\xc2s"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int64_t ns = 42;
        if (osb_duration_parse(osb_slice_str(bad[i]), &ns) != -OSB_E_SYNTAX || ns != 42)
            fail_msg("%s was accepted", bad[i]);
    }
}

static void overflow_is_out_of_range(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "9223372036854775808ns", "-9223372036854775809ns", "2562048h",
        "99999999999999999999s", "9223372036s9223372036s", "2562047h59m"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int64_t ns = 42;
        if (osb_duration_parse(osb_slice_str(bad[i]), &ns) != -ERANGE || ns != 42)
            fail_msg("%s was accepted", bad[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_add_up),
        cmocka_unit_test(malformed_durations_are_refused),
        cmocka_unit_test(overflow_is_out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
