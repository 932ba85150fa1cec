// SPDX-License-Identifier: Apache-2.0
#include <osb/slice.h>

#include <osb/alloc.h>
#include <osb/err.h>

/* memcmp() may not be given NULL, not even for no bytes. */
static int compare(const char *a, const char *b, size_t len)
{
    return len ? memcmp(a, b, len) : 0;
}

bool osb_slice_eq(struct osb_slice a, struct osb_slice b)
{
    return a.len == b.len && compare(a.data, b.data, a.len) == 0;
}

bool osb_slice_eq_str(struct osb_slice a, const char *b)
{
    return osb_slice_eq(a, osb_slice_str(b));
}

static unsigned char lower(char c)
{
    unsigned char u = (unsigned char)c;
    return u >= 'A' && u <= 'Z' ? (unsigned char)(u | 0x20) : u;
}

bool osb_slice_ieq(struct osb_slice a, struct osb_slice b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        if (lower(a.data[i]) != lower(b.data[i]))
            return false;
    }
    return true;
}

bool osb_slice_ieq_str(struct osb_slice a, const char *b)
{
    return osb_slice_ieq(a, osb_slice_str(b));
}

int osb_slice_cmp(struct osb_slice a, struct osb_slice b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    int order = compare(a.data, b.data, common);
    if (order)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

bool osb_slice_starts(struct osb_slice s, struct osb_slice prefix)
{
    return s.len >= prefix.len && compare(s.data, prefix.data, prefix.len) == 0;
}

bool osb_slice_ends(struct osb_slice s, struct osb_slice suffix)
{
    if (suffix.len == 0)
        return true;
    return s.len >= suffix.len && memcmp(s.data + s.len - suffix.len, suffix.data, suffix.len) == 0;
}

ptrdiff_t osb_slice_find(struct osb_slice s, char c)
{
    const char *at = s.len ? memchr(s.data, c, s.len) : NULL;
    return at ? at - s.data : -1;
}

ptrdiff_t osb_slice_find_slice(struct osb_slice s, struct osb_slice needle)
{
    if (needle.len == 0)
        return 0;
    if (needle.len > s.len)
        return -1;
    const char *at = memmem(s.data, s.len, needle.data, needle.len);
    return at ? at - s.data : -1;
}

struct osb_slice osb_slice_from(struct osb_slice s, size_t offset)
{
    if (offset >= s.len)
        return osb_slice(s.data ? s.data + s.len : NULL, 0);
    return osb_slice(s.data + offset, s.len - offset);
}

struct osb_slice osb_slice_first(struct osb_slice s, size_t len)
{
    return osb_slice(s.data, len < s.len ? len : s.len);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct osb_slice osb_slice_trim(struct osb_slice s)
{
    while (s.len && is_blank(s.data[0]))
        s = osb_slice_from(s, 1);
    while (s.len && is_blank(s.data[s.len - 1]))
        s.len--;
    return s;
}

/*
 * A used-up REST has no data. "a," must still give the empty piece behind the comma, so a rest
 * that is merely empty keeps its pointer.
 */
bool osb_slice_split(struct osb_slice *rest, char separator, struct osb_slice *ret_piece)
{
    if (!rest->data)
        return false;
    ptrdiff_t at = osb_slice_find(*rest, separator);
    if (at < 0) {
        *ret_piece = *rest;
        *rest = OSB_SLICE_NULL;
        return true;
    }
    *ret_piece = osb_slice_first(*rest, (size_t)at);
    *rest = osb_slice_from(*rest, (size_t)at + 1);
    return true;
}

char *osb_slice_dup(struct osb_slice s)
{
    return osb_strndup(s.data ? s.data : "", s.len);
}

int osb_slice_to_u64(struct osb_slice s, uint64_t *ret_value)
{
    if (s.len == 0)
        return -OSB_E_SYNTAX;
    uint64_t value = 0;
    bool is_overflow = false;
    for (size_t i = 0; i < s.len; i++) {
        unsigned digit = (unsigned)(unsigned char)s.data[i] - '0';
        if (digit > 9)
            return -OSB_E_SYNTAX;
        is_overflow |= __builtin_mul_overflow(value, (uint64_t)10, &value);
        is_overflow |= __builtin_add_overflow(value, (uint64_t)digit, &value);
    }
    if (is_overflow)
        return -ERANGE;
    *ret_value = value;
    return 0;
}

int osb_slice_to_i64(struct osb_slice s, int64_t *ret_value)
{
    bool is_negative = s.len && s.data[0] == '-';
    uint64_t magnitude;
    int r = osb_slice_to_u64(is_negative ? osb_slice_from(s, 1) : s, &magnitude);
    if (r < 0)
        return r;
    if (magnitude > (uint64_t)INT64_MAX + (is_negative ? 1 : 0))
        return -ERANGE;
    *ret_value = is_negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return 0;
}

bool osb_slice_eq_secret(struct osb_slice a, struct osb_slice b)
{
    if (a.len != b.len)
        return false;
    volatile unsigned char difference = 0;
    for (size_t i = 0; i < a.len; i++)
        difference |= (unsigned char)(a.data[i] ^ b.data[i]);
    return difference == 0;
}
