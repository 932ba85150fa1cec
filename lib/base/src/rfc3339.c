// SPDX-License-Identifier: Apache-2.0
/*
 * RFC 3339 text. The calendar is computed here and not by gmtime_r(), which takes a process-wide
 * lock and is on the path of every log line.
 */
#include <osb/clock.h>
#include <osb/err.h>

enum {
    SECONDS_PER_DAY = 86400,
    DAYS_PER_ERA = 146097, /* 400 years */
    DAYS_TO_1970 = 719468, /* from 0000-03-01 */
    FRACTION_DIGITS_MAX = 9,
};

struct date {
    int64_t year;
    int month; /* 1 to 12 */
    int day;   /* 1 to 31 */
};

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int days_in_month(int64_t year, int month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

/* Years start in March here, so that the leap day is the last one of its year. */
static int64_t days_since_1970(struct date date)
{
    int64_t year = date.year - (date.month <= 2);
    int64_t month = (date.month + 9) % 12; /* March is 0 */
    /* Five months from March or August on have 153 days. */
    int64_t day_of_year = (153 * month + 2) / 5 + date.day - 1;
    /* The range starts at year 0, whose January belongs to year -1: one era is added and taken. */
    year += 400;
    return year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - DAYS_PER_ERA -
           DAYS_TO_1970;
}

/* Int64 nanoseconds reach from 1677 to 2262, so that DAYS is never before year 0. */
static struct date date_of_day(int64_t days)
{
    int64_t rest = days + DAYS_TO_1970;
    int64_t era = rest / DAYS_PER_ERA;
    rest %= DAYS_PER_ERA;
    /* Takes out the leap days, so that years are 365 days long. */
    int64_t year = (rest - rest / 1460 + rest / 36524 - rest / 146096) / 365;
    int64_t day_of_year = rest - (year * 365 + year / 4 - year / 100);
    int64_t month = (5 * day_of_year + 2) / 153;
    struct date date = {.day = (int)(day_of_year - (153 * month + 2) / 5 + 1)};
    date.month = (int)(month < 10 ? month + 3 : month - 9);
    date.year = era * 400 + year + (date.month <= 2);
    return date;
}

static char *put_digits(char *at, uint64_t value, int width)
{
    for (int i = width - 1; i >= 0; i--) {
        at[i] = (char)('0' + value % 10);
        value /= 10;
    }
    return at + width;
}

static char *put_number(char *at, uint64_t value, int width, char behind)
{
    at = put_digits(at, value, width);
    *at++ = behind;
    return at;
}

const char *osb_rfc3339_format(char buffer[static OSB_RFC3339_MAX], int64_t realtime_ns,
                               int fraction_digits)
{
    osb_assert(fraction_digits >= 0 && fraction_digits <= FRACTION_DIGITS_MAX);
    int64_t seconds = realtime_ns / (int64_t)OSB_NS_PER_S;
    int64_t ns = realtime_ns % (int64_t)OSB_NS_PER_S;
    if (ns < 0) {
        ns += (int64_t)OSB_NS_PER_S;
        seconds--;
    }
    int64_t days = seconds / SECONDS_PER_DAY;
    int64_t of_day = seconds % SECONDS_PER_DAY;
    if (of_day < 0) {
        of_day += SECONDS_PER_DAY;
        days--;
    }
    struct date date = date_of_day(days);
    char *at = put_number(buffer, (uint64_t)date.year, 4, '-');
    at = put_number(at, (uint64_t)date.month, 2, '-');
    at = put_number(at, (uint64_t)date.day, 2, 'T');
    at = put_number(at, (uint64_t)of_day / 3600, 2, ':');
    at = put_number(at, (uint64_t)of_day / 60 % 60, 2, ':');
    at = put_digits(at, (uint64_t)of_day % 60, 2);
    if (fraction_digits) {
        uint64_t fraction = (uint64_t)ns;
        for (int i = fraction_digits; i < FRACTION_DIGITS_MAX; i++)
            fraction /= 10;
        *at++ = '.';
        at = put_digits(at, fraction, fraction_digits);
    }
    *at++ = 'Z';
    *at = '\0';
    return buffer;
}

/* A cursor over the text; the first mismatch sticks. */
struct reader {
    struct osb_slice rest;
    bool is_bad;
};

static char peek(const struct reader *r)
{
    return r->rest.len ? r->rest.data[0] : '\0';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void take_char(struct reader *r, char upper)
{
    char c = peek(r);
    if (r->rest.len && (c == upper || (upper == 'T' && c == 't')))
        r->rest = osb_slice_from(r->rest, 1);
    else
        r->is_bad = true;
}

static int take_number(struct reader *r, int width, int min, int max)
{
    int value = 0;
    for (int i = 0; i < width; i++) {
        if (!is_digit(peek(r))) {
            r->is_bad = true;
            return min;
        }
        value = value * 10 + (peek(r) - '0');
        r->rest = osb_slice_from(r->rest, 1);
    }
    if (value < min || value > max)
        r->is_bad = true;
    return r->is_bad ? min : value;
}

/* Digits beyond the ninth are read and cut. */
static int64_t take_fraction_ns(struct reader *r)
{
    if (peek(r) != '.')
        return 0;
    take_char(r, '.');
    if (!is_digit(peek(r)))
        r->is_bad = true;
    int64_t ns = 0;
    int digits = 0;
    for (; is_digit(peek(r)); r->rest = osb_slice_from(r->rest, 1)) {
        if (digits++ < FRACTION_DIGITS_MAX)
            ns = ns * 10 + (peek(r) - '0');
    }
    for (; digits < FRACTION_DIGITS_MAX; digits++)
        ns *= 10;
    return ns;
}

/* Seconds that the local time is ahead of UTC. */
static int64_t take_offset(struct reader *r)
{
    char sign = peek(r);
    if (r->rest.len)
        r->rest = osb_slice_from(r->rest, 1);
    if (sign == 'Z' || sign == 'z')
        return 0;
    if (sign != '+' && sign != '-')
        r->is_bad = true;
    int64_t seconds = take_number(r, 2, 0, 23) * 3600;
    take_char(r, ':');
    seconds += take_number(r, 2, 0, 59) * 60;
    return sign == '-' ? -seconds : seconds;
}

/* SECONDS * 1e9 + NS, NS below 1e9. The earliest time fits only with its fraction. */
static int to_ns(int64_t seconds, int64_t ns, int64_t *ret_ns)
{
    int64_t total;
    if (seconds < 0 && ns > 0) {
        seconds++;
        ns -= (int64_t)OSB_NS_PER_S;
    }
    if (__builtin_mul_overflow(seconds, (int64_t)OSB_NS_PER_S, &total) ||
        __builtin_add_overflow(total, ns, &total))
        return -ERANGE;
    *ret_ns = total;
    return 0;
}

int osb_rfc3339_parse(struct osb_slice text, int64_t *ret_realtime_ns)
{
    struct reader r = {text, false};
    struct date date = {.year = take_number(&r, 4, 0, 9999)};
    take_char(&r, '-');
    date.month = take_number(&r, 2, 1, 12);
    take_char(&r, '-');
    date.day = take_number(&r, 2, 1, days_in_month(date.year, date.month));
    take_char(&r, 'T');
    int64_t seconds = take_number(&r, 2, 0, 23) * 3600;
    take_char(&r, ':');
    seconds += take_number(&r, 2, 0, 59) * 60;
    take_char(&r, ':');
    int second = take_number(&r, 2, 0, 60);
    seconds += second;
    int64_t ns = take_fraction_ns(&r);
    int64_t offset = take_offset(&r);
    if (r.is_bad || r.rest.len)
        return -OSB_E_SYNTAX;

    seconds += days_since_1970(date) * SECONDS_PER_DAY - offset;
    /* A leap second is the last one of a UTC day; it counts as the first of the next one. */
    if (second == 60 && seconds % SECONDS_PER_DAY != 0)
        return -OSB_E_SYNTAX;
    return to_ns(seconds, ns, ret_realtime_ns);
}
