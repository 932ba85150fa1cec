// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <limits.h>
#include <osb/clock.h>
#include <osb/log.h>
#include <osb/text.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int ends[2];

/* One read of a packet pipe gives what one write put in. */
static const char *read_line(void)
{
    static char line[2 * PIPE_BUF];
    ssize_t n = read(ends[0], line, sizeof(line) - 1);
    assert_true(n > 0);
    line[n] = '\0';
    return line;
}

static int open_pipe(void **state)
{
    (void)state;
    if (pipe2(ends, O_CLOEXEC | O_DIRECT | O_NONBLOCK) < 0)
        return -1;
    osb_log_setup("tester", OSB_LOG_INFO, ends[1]);
    return 0;
}

static int close_pipe(void **state)
{
    (void)state;
    osb_log_setup("", OSB_LOG_INFO, STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    return 0;
}

static void a_call_writes_one_json_line(void **state)
{
    (void)state;
    osb_log(OSB_LOG_WARN, "it \"broke\"", OSB_KV_STR("pool", "a\nb"), OSB_KV_INT("count", -7),
            OSB_KV_BOOL("retry", 5), OSB_KV_SLICE("raw", OSB_SLICE("\xff")));
    const char *line = read_line();
    assert_memory_equal(line, "{\"time\":\"", 9);
    int64_t ns;
    assert_int_equal(osb_rfc3339_parse(osb_slice(line + 9, 24), &ns), 0);
    assert_true(ns <= osb_realtime_ns() && ns > osb_realtime_ns() - 60000000000);
    assert_string_equal(line + 33, "\",\"level\":\"warn\",\"program\":\"tester\","
                                   "\"msg\":\"it \\\"broke\\\"\",\"pool\":\"a\\nb\",\"count\":-7,"
                                   "\"retry\":true,\"raw\":\"\xef\xbf\xbd\"}\n");
    assert_true(read(ends[0], &ns, 1) < 0);
}

static void a_message_needs_no_fields(void **state)
{
    (void)state;
    osb_log(OSB_LOG_INFO, "up");
    assert_non_null(strstr(read_line(), ",\"msg\":\"up\"}\n"));
}

static void lines_below_the_level_are_not_written(void **state)
{
    (void)state;
    char c;
    osb_log(OSB_LOG_DEBUG, "quiet");
    assert_true(read(ends[0], &c, 1) < 0);
    osb_log_setup("tester", OSB_LOG_DEBUG, ends[1]);
    osb_log(OSB_LOG_DEBUG, "loud");
    assert_non_null(strstr(read_line(), "loud"));
}

static void long_values_are_cut_at_a_character_and_marked(void **state)
{
    (void)state;
    char text[3001];
    for (size_t i = 0; i < 3000; i += 3)
        memcpy(text + i, "\xe2\x82\xac", 3);
    text[3000] = '\0';
    osb_log(OSB_LOG_ERROR, "long", OSB_KV_STR("text", text), OSB_KV_INT("after", 1));
    const char *line = read_line();
    assert_true(osb_utf8_is_valid(osb_slice_str(line)));
    assert_null(strstr(line, "\xef\xbf\xbd"));
    assert_non_null(strstr(line, "\xe2\x82\xac\",\"after\":1,\"truncated\":true}\n"));
}

static void a_line_never_exceeds_its_limit(void **state)
{
    (void)state;
    char text[1024];
    memset(text, '\x01', sizeof(text));
    struct osb_slice s = osb_slice(text, sizeof(text));
    osb_log(OSB_LOG_ERROR, "long", OSB_KV_SLICE("a", s), OSB_KV_SLICE("b", s), OSB_KV_SLICE("c", s),
            OSB_KV_INT("d", 123456789), OSB_KV_INT("e", 123456789));
    const char *line = read_line();
    size_t len = strlen(line);
    assert_in_range(len, PIPE_BUF / 2, PIPE_BUF);
    assert_string_equal(line + len - 19, ",\"truncated\":true}\n");
}

static void levels_have_names(void **state)
{
    (void)state;
    enum osb_log_level level = OSB_LOG_INFO;
    assert_int_equal(osb_log_level_parse("debug", &level), 0);
    assert_int_equal(level, OSB_LOG_DEBUG);
    assert_int_equal(osb_log_level_parse("error", &level), 0);
    assert_int_equal(level, OSB_LOG_ERROR);
    assert_int_equal(osb_log_level_parse("loud", &level), -OSB_E_INVALID);
    assert_int_equal(osb_log_level_parse(NULL, &level), -OSB_E_INVALID);
    assert_int_equal(level, OSB_LOG_ERROR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_call_writes_one_json_line, open_pipe, close_pipe),
        cmocka_unit_test_setup_teardown(a_message_needs_no_fields, open_pipe, close_pipe),
        cmocka_unit_test_setup_teardown(lines_below_the_level_are_not_written, open_pipe,
                                        close_pipe),
        cmocka_unit_test_setup_teardown(long_values_are_cut_at_a_character_and_marked, open_pipe,
                                        close_pipe),
        cmocka_unit_test_setup_teardown(a_line_never_exceeds_its_limit, open_pipe, close_pipe),
        cmocka_unit_test_setup_teardown(levels_have_names, open_pipe, close_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
