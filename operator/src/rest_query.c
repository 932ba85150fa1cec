// SPDX-License-Identifier: Apache-2.0
#include "rest_query.h"

void rest_query_integer(struct osb_http_exchange *x, const char *name, const char *place,
                        int64_t min, int64_t max, int64_t *ret, struct rest_problems *problems)
{
    struct osb_slice text;
    int64_t value;
    if (!osb_http_query(x, name, &text))
        return;
    if (osb_slice_to_i64(osb_slice_trim(text), &value) < 0)
        rest_problem_add(problems, "int_parsing", place, "must be an integer");
    else if (value < min)
        rest_problem_add(problems, "greater_than_equal", place, "is too small");
    else if (value > max)
        rest_problem_add(problems, "less_than_equal", place, "is too large");
    else
        *ret = value;
}

static bool is_one_of(struct osb_slice text, const char *const words[4])
{
    for (int i = 0; i < 4; i++)
        if (osb_slice_ieq_str(text, words[i]))
            return true;
    return false;
}

void rest_query_bool(struct osb_http_exchange *x, const char *name, const char *place, bool *ret,
                     struct rest_problems *problems)
{
    static const char *const yes[] = {"true", "1", "yes", "on"};
    static const char *const no[] = {"false", "0", "no", "off"};
    struct osb_slice text;
    if (!osb_http_query(x, name, &text))
        return;
    if (is_one_of(text, yes))
        *ret = true;
    else if (is_one_of(text, no))
        *ret = false;
    else
        rest_problem_add(problems, "bool_parsing", place, "must be true or false");
}
