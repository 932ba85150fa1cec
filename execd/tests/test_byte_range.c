// SPDX-License-Identifier: Apache-2.0
#include "byte_range.h"
#include "cmocka_all.h"

static void expect_range(const char *text, int64_t size, int64_t offset, int64_t len)
{
    struct byte_range range = {-1, -1};

    assert_int_equal(byte_range_parse(osb_slice_str(text), size, &range), RANGE_OK);
    assert_int_equal(range.offset, offset);
    assert_int_equal(range.len, len);
}

static void expect_refused(const char *text, int64_t size, enum byte_range_result want)
{
    struct byte_range range = {-1, -1};

    assert_int_equal(byte_range_parse(osb_slice_str(text), size, &range), want);
    assert_int_equal(range.offset, -1);
}

static void the_three_forms_are_understood(void **state)
{
    (void)state;
    expect_range("bytes=0-9", 100, 0, 10);
    expect_range("bytes=90-", 100, 90, 10);
    expect_range("bytes=-7", 100, 93, 7);
    expect_range("Bytes=0-0", 1, 0, 1);
}

static void an_end_beyond_the_file_is_cut(void **state)
{
    (void)state;
    expect_range("bytes=50-1000", 100, 50, 50);
    expect_range("bytes=-1000", 100, 0, 100);
    expect_range("bytes=1-9223372036854775807", 100, 1, 99);
    expect_range("bytes=1-99999999999999999999999", 100, 1, 99);
}

static void the_first_range_that_can_be_served_is(void **state)
{
    (void)state;
    expect_range("bytes=200-300, 5-6, 0-1", 100, 5, 2);
    expect_refused("bytes=5-6,x", 100, RANGE_MALFORMED);
}

static void what_no_file_of_that_size_has_is_unsatisfiable(void **state)
{
    (void)state;
    expect_refused("bytes=100-", 100, RANGE_UNSATISFIABLE);
    expect_refused("bytes=99999999999999999999999-", 100, RANGE_UNSATISFIABLE);
    expect_refused("bytes=-0", 100, RANGE_UNSATISFIABLE);
    expect_refused("bytes=0-0", 0, RANGE_UNSATISFIABLE);
    expect_refused("bytes=-5", 0, RANGE_UNSATISFIABLE);
}

static void other_text_is_malformed(void **state)
{
    static const char *const bad[] = {"",           "bytes",       "bytes=",     "bytes=-",
                                      "bytes=5",    "bytes=9-5",   "items=0-1",  "bytes=a-b",
                                      "bytes=+1-2", "bytes=0-1-2", "bytes=0x1-2"};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        expect_refused(bad[i], 100, RANGE_MALFORMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_three_forms_are_understood),
        cmocka_unit_test(an_end_beyond_the_file_is_cut),
        cmocka_unit_test(the_first_range_that_can_be_served_is),
        cmocka_unit_test(what_no_file_of_that_size_has_is_unsatisfiable),
        cmocka_unit_test(other_text_is_malformed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
