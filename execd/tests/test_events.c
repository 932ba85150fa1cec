// SPDX-License-Identifier: Apache-2.0
#include "cmocka_all.h"
#include "events.h"

#include <osb/json_reader.h>

static void expect(struct osb_buf *out, const char *want)
{
    assert_string_equal(osb_buf_cstr(out), want);
    osb_buf_clear(out);
}

static void events_are_compact_objects_behind_which_come_two_newlines(void **state)
{
    _cleanup_buf_ struct osb_buf out = {0};

    (void)state;
    event_text(&out, "stdout", OSB_SLICE("hi"), 1700000000000);
    expect(&out, "{\"type\":\"stdout\",\"text\":\"hi\",\"timestamp\":1700000000000}\n\n");
    event_complete(&out, 12, 7);
    expect(&out, "{\"type\":\"execution_complete\",\"execution_time\":12,\"timestamp\":7}\n\n");
    event_complete(&out, 0, 7);
    expect(&out, "{\"type\":\"execution_complete\",\"timestamp\":7}\n\n");
    event_error(&out, "CommandExecError", OSB_SLICE("-1"), OSB_SLICE("signal: killed"), 7);
    expect(&out, "{\"type\":\"error\",\"error\":{\"ename\":\"CommandExecError\",\"evalue\":\"-1\","
                 "\"traceback\":[\"signal: killed\"]},\"timestamp\":7}\n\n");
}

static void what_would_break_a_client_is_escaped(void **state)
{
    _cleanup_buf_ struct osb_buf out = {0};

    (void)state;
    event_text(&out, "stdout", osb_slice("a\0\"\\\n", 5), 1);
    expect(&out, "{\"type\":\"stdout\",\"text\":\"a\\u0000\\\"\\\\\\n\",\"timestamp\":1}\n\n");
    event_text(&out, "stdout", OSB_SLICE("\xc2\x85\xe2\x80\xa8\xe2\x80\xa9"), 1);
    expect(&out, "{\"type\":\"stdout\",\"text\":\"\\u0085\\u2028\\u2029\",\"timestamp\":1}\n\n");
    event_text(&out, "stdout", OSB_SLICE("\xff\xc3("), 1);
    expect(&out,
           "{\"type\":\"stdout\",\"text\":\"\xef\xbf\xbd\xef\xbf\xbd(\",\"timestamp\":1}\n\n");
}

static void every_byte_makes_one_parsable_line(void **state)
{
    _cleanup_buf_ struct osb_buf out = {0};
    char all[256];

    (void)state;
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    event_text(&out, "stderr", osb_slice(all, sizeof(all)), 1);
    struct osb_slice text = osb_buf_slice(&out);
    assert_int_equal(osb_slice_find(text, '\n'), (ptrdiff_t)text.len - 2);
    struct osb_json_reader r;
    osb_json_reader_init(&r, text);
    osb_json_skip(&r);
    assert_int_equal(osb_json_reader_finish(&r, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_compact_objects_behind_which_come_two_newlines),
        cmocka_unit_test(what_would_break_a_client_is_escaped),
        cmocka_unit_test(every_byte_makes_one_parsable_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
