// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "options.h"

enum { ARGUMENTS_MAX = 16 };

/* The words behind the program's name, up to a NULL. */
static int parse(struct options *options, struct osb_err *err, const char *const *words)
{
    char *argv[ARGUMENTS_MAX] = {(char *)"opensandbox-shim"};
    int argc = 1;

    for (; words[argc - 1]; argc++)
        argv[argc] = (char *)words[argc - 1];
    return options_parse(argc, argv, options, err);
}

#define PARSE(options, err, ...) parse((options), (err), (const char *const[]){__VA_ARGS__, NULL})
#define SOCKETS                  "--listen", "unix:///run/shim.sock", "--backend", "unix:///run/c.sock"

static void sockets_are_enough(void **state)
{
    struct options options;

    (void)state;
    assert_int_equal(PARSE(&options, NULL, SOCKETS), 0);
    assert_string_equal(options.listen, "/run/shim.sock");
    assert_string_equal(options.backend, "unix:///run/c.sock");
    assert_string_equal(options.files, "/opt/opensandbox-shim");
    assert_string_equal(options.health_host, "127.0.0.1");
    assert_int_equal(options.health_port, 10270);
    assert_int_equal(options.slow_call_ms, 1000);
    assert_int_equal(options.old_files_s, 600);
    assert_int_equal(options.ready_fd, -1);
    assert_null(options.execd);
}

static void all_options_are_taken(void **state)
{
    struct options options;

    (void)state;
    assert_int_equal(PARSE(&options, NULL, SOCKETS, "--files", "/f", "--execd", "/e", "--bootstrap",
                           "/b", "--health", "[::1]:0", "--slow-call-ms", "0"),
                     0);
    assert_string_equal(options.files, "/f");
    assert_string_equal(options.execd, "/e");
    assert_string_equal(options.bootstrap, "/b");
    assert_string_equal(options.health_host, "::1");
    assert_int_equal(options.health_port, 0);
    assert_int_equal(options.slow_call_ms, 0);
    assert_int_equal(PARSE(&options, NULL, SOCKETS, "--old-files-s", "5", "--log-level", "debug",
                           "--ready-fd", "7"),
                     0);
    assert_int_equal(options.old_files_s, 5);
    assert_int_equal(options.log_level, OSB_LOG_DEBUG);
    assert_int_equal(options.ready_fd, 7);
}

static void help_and_version_need_nothing_else(void **state)
{
    struct options options;

    (void)state;
    assert_int_equal(PARSE(&options, NULL, "--help"), 0);
    assert_true(options.is_help);
    assert_int_equal(PARSE(&options, NULL, "--version"), 0);
    assert_true(options.is_version);
}

static void the_default_values_of_the_help_are_those_that_hold(void **state)
{
    (void)state;
    assert_non_null(strstr(options_help(), "default: " OPTIONS_FILES));
    assert_non_null(strstr(options_help(), "default 1000"));
    assert_non_null(strstr(options_help(), "default 600"));
    assert_int_equal(OPTIONS_SLOW_CALL_MS, 1000);
    assert_int_equal(OPTIONS_OLD_FILES_S, 600);
}

static void assert_wrong(const char *word, const char *const *words)
{
    struct options options;
    struct osb_err err = {0};

    assert_int_equal(parse(&options, &err, words), -OSB_E_INVALID);
    assert_non_null(strstr(err.message, word));
}

#define WRONG(word, ...) assert_wrong((word), (const char *const[]){__VA_ARGS__, NULL})

static void wrong_use_is_told_by_the_option(void **state)
{
    (void)state;
    WRONG("--listen and --backend are needed", "--listen", "unix:///a");
    WRONG("--listen must be", "--listen", "/a");
    WRONG("--listen must be", "--listen", "unix://a");
    WRONG("--backend must be", "--backend", "tcp://1.2.3.4:5");
    WRONG("same socket", "--listen", "unix:///a", "--backend", "unix:///a");
    WRONG("go together", SOCKETS, "--execd", "/e");
    WRONG("go together", SOCKETS, "--bootstrap", "/b");
    WRONG("--files", SOCKETS, "--files", "f");
    WRONG("--health", SOCKETS, "--health", "127.0.0.1");
    WRONG("--health", SOCKETS, "--health", ":80");
    WRONG("--health", SOCKETS, "--health", "127.0.0.1:65536");
    WRONG("--slow-call-ms", SOCKETS, "--slow-call-ms", "-1");
    WRONG("--ready-fd", SOCKETS, "--ready-fd", "x");
    WRONG("--log-level", SOCKETS, "--log-level", "loud");
    WRONG("unexpected argument", SOCKETS, "more");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sockets_are_enough),
        cmocka_unit_test(all_options_are_taken),
        cmocka_unit_test(help_and_version_need_nothing_else),
        cmocka_unit_test(the_default_values_of_the_help_are_those_that_hold),
        cmocka_unit_test(wrong_use_is_told_by_the_option),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
