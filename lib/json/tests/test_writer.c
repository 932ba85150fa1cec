// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <osb/json_writer.h>

static void test_commas_and_colons_are_the_writers_business(void **state)
{
    struct osb_buf out = {0};
    struct osb_json_writer w;
    (void)state;
    osb_json_writer_init(&w, &out);
    osb_json_begin_object(&w);
    osb_json_kv_string(&w, "a", "x\"y");
    osb_json_kv_string(&w, "none", NULL);
    osb_json_kv_string_opt(&w, "left out", "");
    osb_json_key(&w, "list");
    osb_json_begin_array(&w);
    osb_json_i64(&w, INT64_MIN);
    osb_json_bool(&w, true);
    osb_json_begin_object(&w);
    osb_json_end_object(&w);
    osb_json_begin_array(&w);
    osb_json_end_array(&w);
    osb_json_end_array(&w);
    osb_json_kv_bool(&w, "b", false);
    osb_json_key(&w, "raw");
    osb_json_raw(&w, OSB_SLICE("[1]"));
    osb_json_kv_time(&w, "t", 0);
    osb_json_end_object(&w);
    assert_int_equal(osb_json_writer_finish(&w, NULL), 0);
    assert_string_equal(
        osb_buf_cstr(&out),
        "{\"a\":\"x\\\"y\",\"none\":null,\"list\":[-9223372036854775808,true,{},[]],"
        "\"b\":false,\"raw\":[1],\"t\":\"1970-01-01T00:00:00Z\"}");
    osb_buf_done(&out);
}

static const char *double_text(double value, struct osb_buf *out)
{
    struct osb_json_writer w;
    osb_buf_clear(out);
    osb_json_writer_init(&w, out);
    osb_json_double(&w, value);
    assert_int_equal(osb_json_writer_finish(&w, NULL), 0);
    return osb_buf_cstr(out);
}

static void test_doubles_are_short_and_exact(void **state)
{
    struct osb_buf out = {0};
    (void)state;
    assert_string_equal(double_text(0.1, &out), "0.1");
    assert_string_equal(double_text(1, &out), "1.0");
    assert_string_equal(double_text(1e300, &out), "1e+300");
    assert_string_equal(double_text(1.0 / 3, &out), "0.3333333333333333");
    assert_string_equal(double_text(NAN, &out), "null");
    assert_string_equal(double_text(-INFINITY, &out), "null");
    osb_buf_done(&out);
}

/* Runs one misuse and expects it to be found. */
static void expect_misuse(void (*misuse)(struct osb_json_writer *w))
{
    struct osb_buf out = {0};
    struct osb_json_writer w;
    osb_json_writer_init(&w, &out);
    misuse(&w);
    assert_int_equal(osb_json_writer_finish(&w, NULL), -OSB_E_INTERNAL);
    osb_buf_done(&out);
}

static void value_without_key(struct osb_json_writer *w)
{
    osb_json_begin_object(w);
    osb_json_i64(w, 1);
    osb_json_end_object(w);
}

static void key_in_array(struct osb_json_writer *w)
{
    osb_json_begin_array(w);
    osb_json_kv_i64(w, "a", 1);
    osb_json_end_array(w);
}

static void unclosed(struct osb_json_writer *w)
{
    osb_json_begin_array(w);
}

static void wrong_close(struct osb_json_writer *w)
{
    osb_json_begin_array(w);
    osb_json_end_object(w);
}

static void key_without_value(struct osb_json_writer *w)
{
    osb_json_begin_object(w);
    osb_json_key(w, "a");
    osb_json_end_object(w);
}

static void two_values(struct osb_json_writer *w)
{
    osb_json_i64(w, 1);
    osb_json_i64(w, 2);
}

static void test_wrong_nesting_is_found(void **state)
{
    (void)state;
    expect_misuse(value_without_key);
    expect_misuse(key_in_array);
    expect_misuse(unclosed);
    expect_misuse(wrong_close);
    expect_misuse(key_without_value);
    expect_misuse(two_values);
}

static void test_the_limit_of_the_buffer_is_reported(void **state)
{
    struct osb_buf out;
    struct osb_json_writer w;
    (void)state;
    osb_buf_init(&out, 8);
    osb_json_writer_init(&w, &out);
    osb_json_string(&w, "longer than eight bytes");
    assert_int_equal(osb_json_writer_finish(&w, NULL), -OSB_E_TOO_LARGE);
    osb_buf_done(&out);
}

static void test_depth_is_bounded(void **state)
{
    struct osb_buf out = {0};
    struct osb_json_writer w;
    (void)state;
    osb_json_writer_init(&w, &out);
    for (int i = 0; i < 65; i++)
        osb_json_begin_array(&w);
    assert_int_equal(osb_json_writer_finish(&w, NULL), -OSB_E_TOO_DEEP);
    osb_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commas_and_colons_are_the_writers_business),
        cmocka_unit_test(test_doubles_are_short_and_exact),
        cmocka_unit_test(test_wrong_nesting_is_found),
        cmocka_unit_test(test_the_limit_of_the_buffer_is_reported),
        cmocka_unit_test(test_depth_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
