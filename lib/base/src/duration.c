// SPDX-License-Identifier: Apache-2.0
#include <osb/clock.h>
#include <osb/err.h>

struct unit {
    struct osb_slice name;
    uint64_t ns;
};

/* The micro sign U+00B5 and the Greek mu U+03BC are both in use. Longer names come first. */
static const struct unit units[] = {
    {{"ns", 2}, 1},
    {{"us", 2}, 1000},
    {{"\xc2\xb5s", 3}, 1000},
    {{"\xce\xbcs", 3}, 1000},
    {{"ms", 2}, 1000000},
    {{"s", 1}, OSB_NS_PER_S},
    {{"m", 1}, 60 * OSB_NS_PER_S},
    {{"h", 1}, 3600 * OSB_NS_PER_S},
};

static const struct unit *find_unit(struct osb_slice rest)
{
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (osb_slice_starts(rest, units[i].name))
            return &units[i];
    }
    return NULL;
}

static struct osb_slice take_digits(struct osb_slice *rest)
{
    size_t n = 0;
    while (n < rest->len && rest->data[n] >= '0' && rest->data[n] <= '9')
        n++;
    struct osb_slice digits = osb_slice_first(*rest, n);
    *rest = osb_slice_from(*rest, n);
    return digits;
}

/* "0.DIGITS" of a unit, rounded down. From the right, so that nothing overflows or is rounded. */
static uint64_t fraction_of(struct osb_slice digits, uint64_t unit_ns)
{
    uint64_t ns = 0;
    for (size_t i = digits.len; i-- > 0;)
        ns = ((uint64_t)(digits.data[i] - '0') * unit_ns + ns) / 10;
    return ns;
}

/* One "1.5h" off the front of *REST, added to *TOTAL. */
static int take_term(struct osb_slice *rest, uint64_t *total)
{
    struct osb_slice whole = take_digits(rest);
    struct osb_slice fraction = OSB_SLICE_NULL;
    if (rest->len && rest->data[0] == '.') {
        *rest = osb_slice_from(*rest, 1);
        fraction = take_digits(rest);
    }
    if (whole.len + fraction.len == 0)
        return -OSB_E_SYNTAX;
    const struct unit *unit = find_unit(*rest);
    if (!unit)
        return -OSB_E_SYNTAX;
    *rest = osb_slice_from(*rest, unit->name.len);

    uint64_t ns = 0;
    int r = whole.len ? osb_slice_to_u64(whole, &ns) : 0;
    if (r < 0)
        return r;
    if (__builtin_mul_overflow(ns, unit->ns, &ns) ||
        __builtin_add_overflow(ns, fraction_of(fraction, unit->ns), &ns) ||
        __builtin_add_overflow(ns, *total, total))
        return -ERANGE;
    return 0;
}

int osb_duration_parse(struct osb_slice text, int64_t *ret_ns)
{
    bool is_negative = text.len && text.data[0] == '-';
    if (is_negative || (text.len && text.data[0] == '+'))
        text = osb_slice_from(text, 1);
    uint64_t total = 0;
    if (text.len == 0)
        return -OSB_E_SYNTAX;
    bool is_zero = osb_slice_eq(text, OSB_SLICE("0")); /* the one number without a unit */
    while (!is_zero && text.len) {
        int r = take_term(&text, &total);
        if (r < 0)
            return r;
    }
    if (total > (uint64_t)INT64_MAX + (is_negative ? 1 : 0))
        return -ERANGE;
    *ret_ns = is_negative ? (int64_t)(0 - total) : (int64_t)total;
    return 0;
}
