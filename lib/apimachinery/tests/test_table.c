// SPDX-License-Identifier: Apache-2.0
#include <osb/api_quantity.h>
#include <osb/api_table.h>
#include <osb/clock.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test_json.h"

static void test_quantities_are_read_with_every_suffix(void **state)
{
    static const struct {
        const char *text;
        int64_t milli;
        int64_t units;
    } CASES[] = {
        {"0", 0, 0},
        {"1", 1000, 1},
        {"100m", 100, 1},
        {"1.5", 1500, 2},
        {"-1.5", -1500, -2},
        {"+2", 2000, 2},
        {".5", 500, 1},
        {"5.", 5000, 5},
        {"1e3", 1000000, 1000},
        {"1E-3", 1, 1},
        {"1e+2", 100000, 100},
        {"2k", 2000000, 2000},
        {"1M", 1000000000, 1000000},
        {"2Gi", 2147483648000, 2147483648},
        {"1.5Gi", 1610612736000, 1610612736},
        {"1Ki", 1024000, 1024},
        {"0.1Ki", 102400, 103},
        {"1u", 1, 1},
        {"1500u", 2, 1},
        {"1n", 1, 1},
        {"0.0000000000000000000000000000000000000000001", 1, 1},
        {"1E", 1000000000000000000, 1000000000000000000},
        {"00010", 10000, 10},
        {"0E", 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        int64_t milli = -1;
        int64_t units = -1;
        if (strcmp(CASES[i].text, "1E") != 0) { /* beyond 64 bits in thousandths */
            assert_int_equal(osb_quantity_milli(osb_slice_str(CASES[i].text), &milli), 0);
            assert_int_equal(milli, CASES[i].milli);
        }
        assert_int_equal(osb_quantity_units(osb_slice_str(CASES[i].text), &units), 0);
        assert_int_equal(units, CASES[i].units);
    }
}

static void test_what_is_no_quantity_is_refused(void **state)
{
    static const char *const BAD[] = {"",   "m",     ".",  "-",   "1 ",    " 1",  "1mi",  "1ki",
                                      "1K", "1.2.3", "1e", "1e+", "1e+-2", "0x1", "1Gi ", "--1"};
    int64_t value = 5;
    (void)state;
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
        if (osb_quantity_milli(osb_slice_str(BAD[i]), &value) != -OSB_E_SYNTAX)
            fail_msg("accepted: \"%s\"", BAD[i]);
    assert_int_equal(osb_quantity_units(OSB_SLICE("16Ei"), &value), -ERANGE);
    assert_int_equal(osb_quantity_units(OSB_SLICE("1e1000"), &value), -ERANGE);
    assert_int_equal(osb_quantity_units(OSB_SLICE("1e9999999"), &value), -ERANGE);
    assert_int_equal(osb_quantity_units(OSB_SLICE("99999999999999999999999999"), &value), -ERANGE);
    assert_int_equal(value, 5);
}

static void test_ages_are_what_kubectl_prints(void **state)
{
    enum { M = 60, H = 3600, D = 86400 };
    static const struct {
        int64_t s;
        const char *text;
    } CASES[] = {
        {-5, "<invalid>"},   {-1, "0s"},
        {0, "0s"},           {119, "119s"},
        {120, "2m"},         {125, "2m5s"},
        {10 * M + 5, "10m"}, {179 * M, "179m"},
        {180 * M, "3h"},     {3 * H + 5 * M, "3h5m"},
        {8 * H + M, "8h"},   {47 * H, "47h"},
        {48 * H, "2d"},      {4 * D + 2 * H, "4d2h"},
        {8 * D + H, "8d"},   {729 * D, "729d"},
        {730LL * D, "2y"},   {731LL * D, "2y1d"},
        {3000LL * D, "8y"},
    };
    char buffer[24];
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        assert_string_equal(osb_api_age(CASES[i].s * (int64_t)OSB_NS_PER_S, buffer), CASES[i].text);
}

static void test_paths_lead_through_objects_and_lists(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *o =
        parse("{\"a\":{\"b\":[{\"c\":1},{\"c\":2}],\"x.y\":3,\"d/e\":4}}");
    assert_int_equal(osb_json_i64_or(osb_api_json_path(o, ".a.b[1].c"), 0), 2);
    assert_int_equal(osb_json_i64_or(osb_api_json_path(o, ".a['x.y']"), 0), 3);
    assert_int_equal(osb_json_i64_or(osb_api_json_path(o, ".a.x\\.y"), 0), 3);
    assert_int_equal(osb_json_i64_or(osb_api_json_path(o, ".a.d/e"), 0), 4);
    assert_ptr_equal(osb_api_json_path(o, ""), o);
    static const char *const NOWHERE[] = {".z", ".a.b[2].c", ".a.b[x]", ".a.b[0",  ".a['x.y",
                                          "a",  ".",         ".a..b",   ".a['x']y"};
    for (size_t i = 0; i < sizeof(NOWHERE) / sizeof(NOWHERE[0]); i++)
        assert_null(osb_api_json_path(o, NOWHERE[i]));
}

static void upper_cell(const struct osb_json *object, int64_t now_ns, struct osb_json_writer *w)
{
    (void)now_ns;
    osb_json_i64(w, (int64_t)osb_json_count(object));
}

static const struct osb_api_column COLUMNS[] = {
    {"Name", "string", "name", "the name", 0, ".metadata.name", NULL},
    {"N", "integer", "", "", 0, ".n", NULL},
    {"R", "number", "", "", 0, ".r", NULL},
    {"B", "boolean", "", "", 0, ".b", NULL},
    {"List", "string", NULL, NULL, 1, ".list", NULL},
    {"Age", "date", "", "", 0, ".metadata.creationTimestamp", NULL},
    {"Count", "integer", "", "", 0, NULL, upper_cell},
};
enum { COLUMN_COUNT = sizeof(COLUMNS) / sizeof(COLUMNS[0]) };

static void expect_cells(const char *object, const char *expected)
{
    struct osb_buf out = {0};
    struct osb_json_writer w;
    _cleanup_json_ struct osb_json *tree = parse(object);
    osb_json_writer_init(&w, &out);
    osb_api_table_cells(COLUMNS, COLUMN_COUNT, tree, 100 * (int64_t)OSB_NS_PER_S, &w);
    assert_int_equal(osb_json_writer_finish(&w, NULL), 0);
    assert_string_equal(osb_buf_cstr(&out), expected);
    osb_buf_done(&out);
}

static void test_cells_have_the_type_of_their_column(void **state)
{
    (void)state;
    expect_cells("{\"metadata\":{\"name\":\"x\",\"creationTimestamp\":\"1970-01-01T00:00:10Z\"},"
                 "\"n\":5,\"r\":1.5,\"b\":true,\"list\":[1,\"a\"]}",
                 "[\"x\",5,1.5,true,\"[1,\\\"a\\\"]\",\"90s\",5]");
    expect_cells("{\"n\":\"five\",\"metadata\":{\"creationTimestamp\":\"yesterday\"}}",
                 "[null,null,null,null,null,\"<invalid>\",2]");
    expect_cells("{}", "[null,null,null,null,null,\"<unknown>\",0]");
}

static void test_columns_are_described(void **state)
{
    struct osb_buf out = {0};
    struct osb_json_writer w;
    (void)state;
    osb_json_writer_init(&w, &out);
    osb_json_begin_object(&w);
    osb_api_table_columns(&COLUMNS[4], 1, &w);
    osb_json_end_object(&w);
    assert_int_equal(osb_json_writer_finish(&w, NULL), 0);
    assert_string_equal(osb_buf_cstr(&out),
                        "{\"columnDefinitions\":[{\"name\":\"List\",\"type\":\"string\","
                        "\"format\":\"\",\"description\":\"\",\"priority\":1}]}");
    osb_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantities_are_read_with_every_suffix),
        cmocka_unit_test(test_what_is_no_quantity_is_refused),
        cmocka_unit_test(test_ages_are_what_kubectl_prints),
        cmocka_unit_test(test_paths_lead_through_objects_and_lists),
        cmocka_unit_test(test_cells_have_the_type_of_their_column),
        cmocka_unit_test(test_columns_are_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
