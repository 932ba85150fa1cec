// SPDX-License-Identifier: Apache-2.0
#include <osb/buf.h>
#include <osb/err.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void text_is_appended_in_order(void **state)
{
    (void)state;
    _cleanup_buf_ struct osb_buf buf = {0};
    osb_buf_append_str(&buf, "a");
    osb_buf_append_char(&buf, 'b');
    osb_buf_append_slice(&buf, OSB_SLICE("c"));
    osb_buf_append_slice(&buf, OSB_SLICE_NULL);
    osb_buf_appendf(&buf, "%d-%0300d", 7, 5);
    assert_int_equal(buf.len, 3 + 2 + 300);
    assert_memory_equal(osb_buf_cstr(&buf), "abc7-000", 8);
    assert_int_equal(strlen(osb_buf_cstr(&buf)), buf.len);
    assert_int_equal(buf.err, 0);
}

static void the_limit_counts_live_bytes_and_sticks(void **state)
{
    (void)state;
    _cleanup_buf_ struct osb_buf buf;
    osb_buf_init(&buf, 4);
    osb_buf_append_str(&buf, "abcd");
    assert_int_equal(buf.err, 0);
    assert_string_equal(osb_buf_cstr(&buf), "abcd");
    osb_buf_consume(&buf, 2);
    osb_buf_appendf(&buf, "%s", "ef");
    assert_int_equal(buf.err, 0);
    osb_buf_append_char(&buf, 'g');
    assert_int_equal(buf.err, -OSB_E_TOO_LARGE);
    osb_buf_consume(&buf, 2);
    osb_buf_append_char(&buf, 'g');
    assert_string_equal(osb_buf_cstr(&buf), "ef");
    assert_null(osb_buf_reserve(&buf, 1));
    osb_buf_clear(&buf);
    osb_buf_append_char(&buf, 'g');
    assert_string_equal(osb_buf_cstr(&buf), "g");
    osb_buf_appendf(&buf, "%s", "toolong");
    assert_int_equal(buf.err, -OSB_E_TOO_LARGE);
    assert_string_equal(osb_buf_cstr(&buf), "g");
}

static void an_impossible_size_is_an_error_not_a_wrap(void **state)
{
    (void)state;
    _cleanup_buf_ struct osb_buf buf = {0};
    osb_buf_append_str(&buf, "a");
    assert_null(osb_buf_reserve(&buf, SIZE_MAX));
    assert_int_equal(buf.err, -ENOMEM);
    osb_buf_clear(&buf);
    osb_buf_append_str(&buf, "a");
    assert_null(osb_buf_reserve(&buf, (size_t)PTRDIFF_MAX));
    assert_int_equal(buf.err, -ENOMEM);
}

static void consuming_and_appending_keeps_the_stream(void **state)
{
    (void)state;
    _cleanup_buf_ struct osb_buf buf = {0};
    uint32_t written = 0, read = 0;
    for (int step = 0; step < 2000; step++) {
        for (int i = 0; i < 1 + step % 13; i++, written++)
            osb_buf_append(&buf, &written, sizeof(written));
        for (int i = 0; i < step % 12 && buf.len; i++, read++) {
            assert_memory_equal(osb_buf_slice(&buf).data, &read, sizeof(read));
            osb_buf_consume(&buf, sizeof(read));
        }
    }
    for (; buf.len; read++) {
        assert_memory_equal(osb_buf_slice(&buf).data, &read, sizeof(read));
        osb_buf_consume(&buf, sizeof(read));
    }
    assert_int_equal(read, written);
}

static void a_steady_queue_does_not_grow(void **state)
{
    (void)state;
    _cleanup_buf_ struct osb_buf buf = {0};
    char block[100] = {0};
    for (int i = 0; i < 1000; i++) {
        osb_buf_append(&buf, block, sizeof(block));
        if (i)
            osb_buf_consume(&buf, sizeof(block));
    }
    assert_true(buf.cap <= 1024);
}

static void reserved_room_is_published_by_commit(void **state)
{
    (void)state;
    _cleanup_buf_ struct osb_buf buf = {0};
    char *room = osb_buf_reserve(&buf, 3);
    memcpy(room, "xyz", 3);
    osb_buf_commit(&buf, 2);
    assert_string_equal(osb_buf_cstr(&buf), "xy");
    osb_buf_truncate(&buf, 1);
    assert_string_equal(osb_buf_cstr(&buf), "x");
    osb_buf_truncate(&buf, 5);
    assert_int_equal(buf.len, 1);
}

static void the_content_can_be_taken(void **state)
{
    (void)state;
    struct osb_buf buf = {0};
    osb_buf_append_str(&buf, "abcdef");
    osb_buf_consume(&buf, 2);
    char *text = osb_buf_take(&buf);
    assert_string_equal(text, "cdef");
    free(text);
    text = osb_buf_take(&buf);
    assert_string_equal(text, "");
    free(text);
    assert_int_equal(buf.cap, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_appended_in_order),
        cmocka_unit_test(the_limit_counts_live_bytes_and_sticks),
        cmocka_unit_test(an_impossible_size_is_an_error_not_a_wrap),
        cmocka_unit_test(consuming_and_appending_keeps_the_stream),
        cmocka_unit_test(a_steady_queue_does_not_grow),
        cmocka_unit_test(reserved_room_is_published_by_commit),
        cmocka_unit_test(the_content_can_be_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
