// SPDX-License-Identifier: Apache-2.0
/* What the tests of this library share: JSON in, JSON out. Include behind cmocka.h. */
#ifndef OSB_TEST_JSON_H
#define OSB_TEST_JSON_H

#include <osb/json_tree.h>

static inline struct osb_json *parse(const char *text)
{
    struct osb_json *value = NULL;
    struct osb_err err = {0};
    if (osb_json_parse(osb_slice_str(text), &value, &err) < 0)
        fail_msg("bad JSON in the test: %s: %s", err.message, text);
    return value;
}

static inline void expect_json(const struct osb_json *value, const char *expected)
{
    struct osb_buf out = {0};
    osb_json_print(value, &out);
    assert_string_equal(osb_buf_cstr(&out), expected);
    osb_buf_done(&out);
}

#endif
