// SPDX-License-Identifier: Apache-2.0
#include "yaml_scalar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Longest number; a longer run of digits is a string. */
enum { NUMBER_MAX = 128 };

static bool is_one_of(struct osb_slice text, const char *const *words)
{
    for (; *words; words++)
        if (osb_slice_eq_str(text, *words))
            return true;
    return false;
}

static bool is_digit_of(char c, int base)
{
    if (base == 16 && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')))
        return true;
    return c >= '0' && c <= (base == 8 ? '7' : '9');
}

/* Digits of BASE and nothing else. */
static bool parse_digits(struct osb_slice digits, int base, int64_t *ret)
{
    uint64_t value = 0;
    if (digits.len == 0)
        return false;
    for (size_t i = 0; i < digits.len; i++) {
        char c = digits.data[i];
        if (!is_digit_of(c, base))
            return false;
        uint64_t digit = (uint64_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
        if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
            __builtin_add_overflow(value, digit, &value) || value > INT64_MAX)
            return false;
    }
    *ret = (int64_t)value;
    return true;
}

static struct osb_json *parse_integer(struct osb_slice text)
{
    int64_t value;
    bool is_negative = text.len && text.data[0] == '-';
    struct osb_slice digits = text;
    if (text.len && (is_negative || text.data[0] == '+'))
        digits = osb_slice_from(text, 1);
    int base = 10;
    if (osb_slice_starts(text, OSB_SLICE("0x"))) {
        base = 16;
        digits = osb_slice_from(text, 2);
    } else if (osb_slice_starts(text, OSB_SLICE("0o"))) {
        base = 8;
        digits = osb_slice_from(text, 2);
    } else if (digits.len > 1 && digits.data[0] == '0') {
        base = 8;
    }
    if (is_negative && osb_slice_eq_str(digits, "9223372036854775808"))
        return osb_json_new_i64(INT64_MIN);
    return parse_digits(digits, base, &value) ? osb_json_new_i64(is_negative ? -value : value)
                                              : NULL;
}

static const char *skip_digits(const char *p)
{
    while (*p >= '0' && *p <= '9')
        p++;
    return p;
}

/* [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )? without leading zeros. */
static bool is_float(const char *p)
{
    if (*p == '-' || *p == '+')
        p++;
    const char *digits = p;
    p = skip_digits(p);
    size_t count = (size_t)(p - digits);
    if (count > 1 && *digits == '0')
        return false;
    if (*p == '.') {
        const char *fraction = p + 1;
        p = skip_digits(fraction);
        count += (size_t)(p - fraction);
    }
    if (count == 0)
        return false;
    if (*p == 'e' || *p == 'E') {
        p++;
        if (*p == '-' || *p == '+')
            p++;
        const char *exponent = p;
        p = skip_digits(p);
        if (p == exponent)
            return false;
    }
    return *p == '\0';
}

static struct osb_json *parse_float(struct osb_slice text)
{
    char copy[NUMBER_MAX + 1];
    if (text.len > NUMBER_MAX || memchr(text.data, '\0', text.len))
        return NULL;
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    if (!is_float(copy))
        return NULL;
    double value = strtod(copy, NULL);
    return isfinite(value) ? osb_json_new_double(value) : NULL;
}

struct osb_json *yaml_plain_scalar(struct osb_slice text)
{
    static const char *const NULLS[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const TRUES[] = {"true", "True", "TRUE", NULL};
    static const char *const FALSES[] = {"false", "False", "FALSE", NULL};
    static const char *const UNSAYABLE[] = {".inf",  ".Inf",  ".INF",  "+.inf", "+.Inf",
                                            "+.INF", "-.inf", "-.Inf", "-.INF", ".nan",
                                            ".NaN",  ".NAN",  NULL};
    if (is_one_of(text, NULLS))
        return osb_json_new_null();
    if (is_one_of(text, TRUES))
        return osb_json_new_bool(true);
    if (is_one_of(text, FALSES))
        return osb_json_new_bool(false);
    if (is_one_of(text, UNSAYABLE))
        return NULL;
    struct osb_json *value = parse_integer(text);
    if (!value)
        value = parse_float(text);
    return value ? value : osb_json_new_string(text);
}
