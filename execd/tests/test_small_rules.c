// SPDX-License-Identifier: Apache-2.0
/* Modes, dates, user agents, options: rules of a line or two each. */
#include "cmocka_all.h"
#include "file_date.h"
#include "newlines.h"
#include "options.h"
#include "permission.h"

static void modes_are_octal_digits_written_as_decimal(void **state)
{
    mode_t mode = 0;

    (void)state;
    assert_int_equal(permission_parse_mode(755, &mode, NULL), 0);
    assert_int_equal(mode, 0755);
    assert_int_equal(permission_parse_mode(4755, &mode, NULL), 0);
    assert_int_equal(mode, 04755);
    assert_int_equal(permission_parse_mode(7, &mode, NULL), 0);
    assert_int_equal(mode, 07);
    assert_true(permission_parse_mode(788, &mode, NULL) < 0);
    assert_true(permission_parse_mode(-1, &mode, NULL) < 0);
    assert_true(permission_parse_mode(17777, &mode, NULL) < 0);
    assert_int_equal(permission_mode_digits(0100755), 755);
    assert_int_equal(permission_mode_digits(07), 7);
    assert_int_equal(permission_mode_digits(04600), 600);
}

static void dates_survive_being_written_and_read(void **state)
{
    char text[FILE_DATE_MAX];
    time_t time = 0;

    (void)state;
    assert_string_equal(file_date_format(784111777, text), "Sun, 06 Nov 1994 08:49:37 GMT");
    assert_true(file_date_parse(osb_slice_str(text), &time));
    assert_int_equal(time, 784111777);
    assert_false(file_date_parse(OSB_SLICE("Mon, 06 Nov 1994 08:49:37 GMT"), &time));
    assert_false(file_date_parse(OSB_SLICE("yesterday"), &time));
}

static void line_ends_are_kept_for_the_clients_made_for_it(void **state)
{
    (void)state;
    assert_true(keeps_newlines_for(OSB_SLICE("OpenSandbox-Python-SDK/1.1.1")));
    assert_true(keeps_newlines_for(OSB_SLICE("OpenSandbox-Python-SDK/1.10")));
    assert_true(keeps_newlines_for(OSB_SLICE("OpenSandbox-Python-SDK/2.0.0")));
    assert_false(keeps_newlines_for(OSB_SLICE("OpenSandbox-Python-SDK/1.0.9")));
    assert_false(keeps_newlines_for(OSB_SLICE("OpenSandbox-Python-SDK/0.1.11")));
    assert_false(keeps_newlines_for(OSB_SLICE("OpenSandbox-Python-SDK/")));
    assert_false(keeps_newlines_for(OSB_SLICE("OpenSandbox-Python-SDK/1")));
    assert_false(keeps_newlines_for(OSB_SLICE("OpenSandbox-JavaScript-SDK/1.1.1")));
    assert_false(keeps_newlines_for(OSB_SLICE("curl/8.0")));
    assert_false(keeps_newlines_for(OSB_SLICE("")));
}

static int parse(const char *word, const char *value, struct execd_options *ret)
{
    char *argv[] = {"execd", (char *)(uintptr_t)word, (char *)(uintptr_t)value, NULL};

    return options_parse(value ? 3 : 2, argv, ret, NULL);
}

static void options_take_one_dash_or_two_and_refuse_a_token(void **state)
{
    struct execd_options options;

    (void)state;
    assert_int_equal(parse("--port", "1234", &options), 0);
    assert_int_equal(options.port, 1234);
    assert_int_equal(parse("-port=80", NULL, &options), 0);
    assert_int_equal(options.port, 80);
    assert_int_equal(parse("--log-level", "7", &options), 0);
    assert_int_equal(options.log_level, OSB_LOG_DEBUG);
    assert_int_equal(parse("--log-level", "warn", &options), 0);
    assert_int_equal(options.log_level, OSB_LOG_WARN);
    assert_int_equal(parse("--output-newlines", "keep", &options), 0);
    assert_int_equal(options.newlines, NEWLINES_KEEP);
    assert_int_equal(parse("--graceful-shutdown-timeout", "200ms", &options), 0);
    assert_true(parse("--graceful-shutdown-timeout", "soon", &options) < 0);
    assert_true(parse("--port", "99999", &options) < 0);
    assert_true(parse("--port", NULL, &options) < 0);
    assert_true(parse("--nope", "1", &options) < 0);
    assert_true(parse("--access-token", "secret", &options) < 0);
    assert_true(parse("stray", NULL, &options) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modes_are_octal_digits_written_as_decimal),
        cmocka_unit_test(dates_survive_being_written_and_read),
        cmocka_unit_test(line_ends_are_kept_for_the_clients_made_for_it),
        cmocka_unit_test(options_take_one_dash_or_two_and_refuse_a_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
