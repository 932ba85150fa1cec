// SPDX-License-Identifier: Apache-2.0
#include <osb/api_quantity.h>

#include <stdbool.h>

__extension__ typedef unsigned __int128 quantity_wide;

enum {
    /* Digits kept exactly: with the largest binary suffix they still fit 128 bits. */
    SIGNIFICANT_DIGITS = 20,
    EXPONENT_MAX = 1000,
};

/* digits * 10^exponent * 2^shift; is_rounded: digits that did not fit were not all zero. */
struct decimal {
    quantity_wide digits;
    int count; /* of digits */
    int exponent;
    int shift;
    bool is_negative;
    bool is_rounded;
};

static void add_digit(struct decimal *d, int digit, bool is_fraction)
{
    if (d->count >= SIGNIFICANT_DIGITS) {
        d->is_rounded |= digit != 0;
        d->exponent += !is_fraction;
        return;
    }
    d->digits = d->digits * 10 + (unsigned)digit;
    d->count += d->digits != 0;
    d->exponent -= is_fraction;
}

/* The number in front of the suffix; returns its length, or 0. */
static size_t parse_number(struct osb_slice text, struct decimal *d)
{
    size_t i = 0;
    bool has_digits = false;
    bool is_fraction = false;
    if (text.len && (text.data[0] == '-' || text.data[0] == '+'))
        d->is_negative = text.data[i++] == '-';
    for (; i < text.len; i++) {
        char c = text.data[i];
        if (c == '.' && !is_fraction) {
            is_fraction = true;
        } else if (c >= '0' && c <= '9') {
            add_digit(d, c - '0', is_fraction);
            has_digits = true;
        } else {
            break;
        }
    }
    return has_digits ? i : 0;
}

/* "e3", "E-2" */
static int parse_exponent(struct osb_slice suffix, struct decimal *d)
{
    int64_t exponent;
    struct osb_slice digits = osb_slice_from(suffix, 1);
    if (osb_slice_starts(digits, OSB_SLICE("+"))) {
        digits = osb_slice_from(digits, 1);
        if (osb_slice_starts(digits, OSB_SLICE("-")))
            return -OSB_E_SYNTAX;
    }
    int r = osb_slice_to_i64(digits, &exponent);
    if (r < 0)
        return r;
    if (exponent > EXPONENT_MAX || exponent < -EXPONENT_MAX)
        return -ERANGE;
    d->exponent += (int)exponent;
    return 0;
}

static int parse_suffix(struct osb_slice suffix, struct decimal *d)
{
    static const struct {
        const char *name;
        int exponent;
        int shift;
    } SUFFIXES[] = {
        {"", 0, 0},    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},  {"k", 3, 0},   {"M", 6, 0},
        {"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20},
        {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
    };
    for (size_t i = 0; i < sizeof(SUFFIXES) / sizeof(SUFFIXES[0]); i++) {
        if (osb_slice_eq_str(suffix, SUFFIXES[i].name)) {
            d->exponent += SUFFIXES[i].exponent;
            d->shift = SUFFIXES[i].shift;
            return 0;
        }
    }
    if (suffix.len > 1 && (suffix.data[0] == 'e' || suffix.data[0] == 'E'))
        return parse_exponent(suffix, d);
    return -OSB_E_SYNTAX;
}

/* The value of D, rounded away from zero. */
static int round_up(const struct decimal *d, int64_t *ret)
{
    quantity_wide value = d->digits << d->shift;
    bool is_inexact = d->is_rounded;
    for (int e = d->exponent; e > 0 && value; e--) {
        if (value > INT64_MAX)
            return -ERANGE;
        value *= 10;
    }
    for (int e = d->exponent; e < 0 && value; e++) {
        is_inexact |= value % 10 != 0;
        value /= 10;
    }
    value += is_inexact;
    if (value > INT64_MAX)
        return -ERANGE;
    *ret = d->is_negative ? -(int64_t)value : (int64_t)value;
    return 0;
}

static int parse_scaled(struct osb_slice text, int scale, int64_t *ret)
{
    struct decimal d = {0};
    size_t len = parse_number(text, &d);
    if (!len)
        return -OSB_E_SYNTAX;
    int r = parse_suffix(osb_slice_from(text, len), &d);
    if (r < 0)
        return r;
    d.exponent += scale;
    return round_up(&d, ret);
}

int osb_quantity_milli(struct osb_slice text, int64_t *ret_milli)
{
    return parse_scaled(text, 3, ret_milli);
}

int osb_quantity_units(struct osb_slice text, int64_t *ret_units)
{
    return parse_scaled(text, 0, ret_units);
}
