// SPDX-License-Identifier: Apache-2.0
/* Keywords of numbers and strings. */
#include "schema.h"

#include <math.h>
#include <osb/clock.h>
#include <osb/text.h>
#include <regex.h>
#include <string.h>

static const char INVALID[] = "FieldValueInvalid";

/* "Invalid value: VALUE: PATH in body RULE" */
static void broken_rule(struct schema_walk *walk, const struct osb_json *value, const char *rule,
                        const char *limit)
{
    _cleanup_free_ char *shown = schema_show(value);
    schema_problem(walk, INVALID, "Invalid value: %s: %s in body %s%s", shown,
                   osb_buf_cstr(&walk->path), rule, limit);
}

static void number_bound(struct schema_walk *walk, const struct osb_json *schema,
                         const struct osb_json *value, bool is_minimum)
{
    const struct osb_json *bound = osb_json_get(schema, is_minimum ? "minimum" : "maximum");
    bool is_exclusive = schema_flag(schema, is_minimum ? "exclusiveMinimum" : "exclusiveMaximum");
    if (osb_json_type(bound) != OSB_JSON_NUMBER)
        return;
    double distance = osb_json_double_or(value, 0) - osb_json_double_or(bound, 0);
    if (!is_minimum)
        distance = -distance;
    if (distance > 0 || (distance == 0 && !is_exclusive))
        return;
    _cleanup_free_ char *limit = schema_show(bound);
    if (is_minimum)
        broken_rule(walk, value,
                    is_exclusive ? "should be greater than "
                                 : "should be greater than or equal to ",
                    limit);
    else
        broken_rule(walk, value,
                    is_exclusive ? "should be less than " : "should be less than or equal to ",
                    limit);
}

void schema_validate_number(struct schema_walk *walk, const struct osb_json *schema,
                            const struct osb_json *value)
{
    double number = osb_json_double_or(value, 0);
    double factor = osb_json_double_or(osb_json_get(schema, "multipleOf"), 0);
    number_bound(walk, schema, value, true);
    number_bound(walk, schema, value, false);
    if (factor > 0 && fmod(number, factor) != 0) {
        _cleanup_free_ char *limit = schema_show(osb_json_get(schema, "multipleOf"));
        broken_rule(walk, value, "should be a multiple of ", limit);
    }
    if (osb_slice_eq_str(osb_json_str(osb_json_get(schema, "format")), "int32") &&
        (number < INT32_MIN || number > INT32_MAX)) {
        _cleanup_free_ char *shown = schema_show(value);
        schema_problem(walk, "FieldValueTypeInvalid",
                       "Invalid value: %s: %s in body must be of type int32: \"%s\"", shown,
                       osb_buf_cstr(&walk->path), shown);
    }
}

static int64_t count_characters(struct osb_slice text)
{
    int64_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += (text.data[i] & 0xc0) != 0x80;
    return count;
}

static void string_length(struct schema_walk *walk, const struct osb_json *schema,
                          const struct osb_json *value)
{
    char rule[64];
    int64_t length = count_characters(osb_json_str(value));
    int64_t min = osb_json_i64_or(osb_json_get(schema, "minLength"), 0);
    int64_t max = osb_json_i64_or(osb_json_get(schema, "maxLength"), INT64_MAX);
    if (length < min) {
        snprintf(rule, sizeof(rule), "should be at least %lld chars long", (long long)min);
        broken_rule(walk, value, rule, "");
    }
    if (length > max)
        schema_problem(walk, "FieldValueTooLong", "Too long: may not be more than %lld bytes",
                       (long long)max);
}

/* The patterns are our own CRDs': one that does not compile is found by their tests. */
static bool matches_pattern(const char *pattern, struct osb_slice text)
{
    regex_t regex;
    if (memchr(text.data, '\0', text.len) ||
        regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    bool is_match = regexec(&regex, text.data, 0, NULL, 0) == 0;
    regfree(&regex);
    return is_match;
}

static void string_pattern(struct schema_walk *walk, const struct osb_json *schema,
                           const struct osb_json *value)
{
    const char *pattern = osb_json_cstr(osb_json_get(schema, "pattern"));
    if (!pattern || matches_pattern(pattern, osb_json_str(value)))
        return;
    _cleanup_buf_ struct osb_buf rule = {0};
    osb_buf_appendf(&rule, "should match '%s'", pattern);
    broken_rule(walk, value, osb_buf_cstr(&rule), "");
}

static void string_format(struct schema_walk *walk, const struct osb_json *schema,
                          const struct osb_json *value)
{
    int64_t ignored;
    if (!osb_slice_eq_str(osb_json_str(osb_json_get(schema, "format")), "date-time") ||
        osb_rfc3339_parse(osb_json_str(value), &ignored) == 0)
        return;
    _cleanup_free_ char *shown = schema_show(value);
    schema_problem(walk, "FieldValueTypeInvalid",
                   "Invalid value: %s: %s in body must be of type date-time: %s", shown,
                   osb_buf_cstr(&walk->path), shown);
}

void schema_validate_string(struct schema_walk *walk, const struct osb_json *schema,
                            const struct osb_json *value)
{
    string_length(walk, schema, value);
    string_pattern(walk, schema, value);
    string_format(walk, schema, value);
}
