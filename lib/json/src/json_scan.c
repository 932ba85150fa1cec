// SPDX-License-Identifier: Apache-2.0
#include "json_scan.h"

#include <osb/err.h>
#include <osb/json_reader.h>
#include <osb/text.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

static const char END_IN_STRING[] = "the input ends inside a string";
static const char END_IN_VALUE[] = "the input ends where a value is due";

int json_scan_fail(struct json_scan *s, const char *where, int code, const char *what)
{
    if (!s->err) {
        s->err = code;
        s->where = where;
        s->what = what;
    }
    return code;
}

static const char *fail_at(struct json_scan *s, const char *where, const char *what)
{
    json_scan_fail(s, where, -OSB_E_SYNTAX, what);
    return NULL;
}

/*
 * The first byte that is not plain text of a string: a quote, a backslash, a control character or
 * a part of a multi-byte sequence. Most of a list is such text: this loop decides the speed.
 */
static inline const char *skip_plain(const char *p, const char *end)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    const __m128i last_control = _mm_set1_epi8(0x1f);
    while (end - p >= 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i is_special =
            _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, backslash)),
                         _mm_cmpeq_epi8(_mm_max_epu8(v, last_control), last_control));
        /* The sign bits of V itself mark bytes from 0x80 on. */
        unsigned mask = (unsigned)_mm_movemask_epi8(_mm_or_si128(is_special, v));
        if (mask)
            return p + __builtin_ctz(mask);
        p += 16;
    }
#else
    const uint64_t ones = 0x0101010101010101U;
    const uint64_t tops = 0x8080808080808080U;
    while (end - p >= 8) {
        uint64_t v;
        memcpy(&v, p, sizeof(v));
        uint64_t is_quote = (v ^ (ones * '"')) - ones;
        uint64_t is_backslash = (v ^ (ones * '\\')) - ones;
        uint64_t is_control = v - ones * 0x20;
        /* A borrow may mark a byte too many, never one too few: the loop below looks again. */
        if ((is_quote | is_backslash | is_control | v) & tops)
            break;
        p += 8;
    }
#endif
    while (p < end && (unsigned char)*p >= 0x20 && (unsigned char)*p < 0x80 && *p != '"' &&
           *p != '\\')
        p++;
    return p;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four hex digits at P, or -1. */
static int32_t hex4(const char *p, const char *end)
{
    if (end - p < 4)
        return -1;
    int32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

static bool is_high_surrogate(int32_t unit)
{
    return unit >= 0xd800 && unit <= 0xdbff;
}

static bool is_low_surrogate(int32_t unit)
{
    return unit >= 0xdc00 && unit <= 0xdfff;
}

/* P is behind "\u". Half a surrogate pair has no UTF-8 form and is refused. */
static const char *scan_unicode_escape(struct json_scan *s, const char *p)
{
    int32_t unit = hex4(p, s->end);
    if (unit < 0)
        return fail_at(s, p, "\\u is not followed by four hex digits");
    p += 4;
    if (is_low_surrogate(unit))
        return fail_at(s, p - 6, "half a surrogate pair");
    if (!is_high_surrogate(unit))
        return p;
    if (s->end - p < 6 || p[0] != '\\' || p[1] != 'u' || !is_low_surrogate(hex4(p + 2, s->end)))
        return fail_at(s, p - 6, "half a surrogate pair");
    return p + 6;
}

/* P is behind the backslash. */
static const char *scan_escape(struct json_scan *s, const char *p)
{
    if (p == s->end)
        return fail_at(s, p, END_IN_STRING);
    switch (*p) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return p + 1;
    case 'u':
        return scan_unicode_escape(s, p + 1);
    default:
        return fail_at(s, p - 1, "an unknown escape in a string");
    }
}

const char *json_scan_string(struct json_scan *s, const char *p, bool *ret_has_escapes)
{
    *ret_has_escapes = false;
    for (;;) {
        p = skip_plain(p, s->end);
        if (p == s->end)
            return fail_at(s, p, END_IN_STRING);
        unsigned char c = (unsigned char)*p;
        if (c == '"')
            return p + 1;
        if (c == '\\') {
            *ret_has_escapes = true;
            p = scan_escape(s, p + 1);
            if (!p)
                return NULL;
        } else if (c < 0x20) {
            return fail_at(s, p, "a control character inside a string");
        } else {
            int len = osb_utf8_sequence(osb_slice(p, (size_t)(s->end - p)));
            if (len <= 0)
                return fail_at(s, p, "malformed UTF-8");
            p += len;
        }
    }
}

static const char *scan_digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

const char *json_scan_number(struct json_scan *s, const char *p, bool *ret_is_integer)
{
    const char *end = s->end;
    const char *begin = p;
    *ret_is_integer = true;
    if (p < end && *p == '-')
        p++;
    const char *digits = p;
    p = scan_digits(p, end);
    if (p == digits)
        return fail_at(s, begin, "a number without digits");
    if (*digits == '0' && p - digits > 1)
        return fail_at(s, begin, "a number with a leading zero");
    if (p < end && *p == '.') {
        const char *fraction = p + 1;
        p = scan_digits(fraction, end);
        if (p == fraction)
            return fail_at(s, p, "no digit behind the decimal point");
        *ret_is_integer = false;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-'))
            p++;
        const char *exponent = p;
        p = scan_digits(exponent, end);
        if (p == exponent)
            return fail_at(s, p, "no digit in an exponent");
        *ret_is_integer = false;
    }
    return p;
}

const char *json_scan_literal(struct json_scan *s, const char *p, struct osb_slice word)
{
    if ((size_t)(s->end - p) < word.len || memcmp(p, word.data, word.len) != 0)
        return fail_at(s, p, "not a value");
    return p + word.len;
}

/* P is where a key starts. Returns where its value starts. */
static const char *scan_key(struct json_scan *s, const char *p)
{
    bool has_escapes;
    if (p == s->end || *p != '"')
        return fail_at(s, p, "a key is due");
    p = json_scan_string(s, p + 1, &has_escapes);
    if (!p)
        return NULL;
    p = json_scan_blanks(p, s->end);
    if (p == s->end || *p != ':')
        return fail_at(s, p, "a colon is due");
    return json_scan_blanks(p + 1, s->end);
}

/* P is behind the opening bracket. Recursion ends at OSB_JSON_MAX_DEPTH. */
static const char *scan_container(struct json_scan *s, const char *p, int depth, bool is_object)
{
    const char close = is_object ? '}' : ']';
    if (depth >= OSB_JSON_MAX_DEPTH) {
        json_scan_fail(s, p - 1, -OSB_E_TOO_DEEP, "nested too deeply");
        return NULL;
    }
    p = json_scan_blanks(p, s->end);
    if (p < s->end && *p == close)
        return p + 1;
    for (;;) {
        if (is_object)
            p = scan_key(s, p);
        if (p)
            p = json_scan_value(s, p, depth + 1);
        if (!p)
            return NULL;
        p = json_scan_blanks(p, s->end);
        if (p == s->end)
            return fail_at(s, p,
                           is_object ? "the input ends inside an object"
                                     : "the input ends inside an array");
        if (*p == close)
            return p + 1;
        if (*p != ',')
            return fail_at(s, p, "a comma or a closing bracket is due");
        p = json_scan_blanks(p + 1, s->end);
    }
}

const char *json_scan_value(struct json_scan *s, const char *p, int depth)
{
    bool ignored;
    if (p == s->end)
        return fail_at(s, p, END_IN_VALUE);
    switch (*p) {
    case '"':
        return json_scan_string(s, p + 1, &ignored);
    case '{':
        return scan_container(s, p + 1, depth, true);
    case '[':
        return scan_container(s, p + 1, depth, false);
    case 't':
        return json_scan_literal(s, p, OSB_SLICE("true"));
    case 'f':
        return json_scan_literal(s, p, OSB_SLICE("false"));
    case 'n':
        return json_scan_literal(s, p, OSB_SLICE("null"));
    default:
        if (json_scan_starts_number(*p))
            return json_scan_number(s, p, &ignored);
        return fail_at(s, p, "not a value");
    }
}

static size_t encode_utf8(uint32_t c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* *P is behind "\u"; advances it. */
static uint32_t decode_unicode(const char **p, const char *end)
{
    int32_t unit = hex4(*p, end);
    *p += 4;
    if (!is_high_surrogate(unit))
        return (uint32_t)unit;
    int32_t low = hex4(*p + 2, end);
    *p += 6;
    return 0x10000 + ((uint32_t)(unit - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
}

static char simple_escape(char c)
{
    switch (c) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return c; /* the quote, the backslash and the slash stand for themselves */
    }
}

size_t json_scan_decode(struct osb_slice raw, char *out)
{
    const char *p = raw.data;
    const char *end = p + raw.len;
    size_t len = 0;
    while (p < end) {
        const char *backslash = memchr(p, '\\', (size_t)(end - p));
        size_t plain = (size_t)((backslash ? backslash : end) - p);
        memcpy(out + len, p, plain);
        len += plain;
        p += plain;
        if (!backslash)
            break;
        char kind = p[1];
        p += 2;
        if (kind == 'u')
            len += encode_utf8(decode_unicode(&p, end), out + len);
        else
            out[len++] = simple_escape(kind);
    }
    return len;
}
