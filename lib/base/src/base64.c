// SPDX-License-Identifier: Apache-2.0
#include <osb/err.h>
#include <osb/text.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void encode_group(char *to, const unsigned char *from, size_t n)
{
    unsigned bits = (unsigned)from[0] << 16;
    if (n > 1)
        bits |= (unsigned)from[1] << 8;
    if (n > 2)
        bits |= from[2];
    to[0] = alphabet[bits >> 18];
    to[1] = alphabet[bits >> 12 & 63];
    to[2] = '=';
    to[3] = '=';
    if (n > 1)
        to[2] = alphabet[bits >> 6 & 63];
    if (n > 2)
        to[3] = alphabet[bits & 63];
}

void osb_base64_encode(struct osb_buf *out, struct osb_slice in)
{
    size_t groups = in.len / 3 + (in.len % 3 != 0);
    char *to = osb_buf_reserve(out, groups * 4);
    if (!to)
        return;
    const unsigned char *from = (const unsigned char *)in.data;
    for (size_t left = in.len; left; to += 4) {
        size_t n = left < 3 ? left : 3;
        encode_group(to, from, n);
        from += n;
        left -= n;
    }
    osb_buf_commit(out, groups * 4);
}

static int digit_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+')
        return 62;
    return c == '/' ? 63 : -1;
}

/*
 * Four characters of which the last PADDING are '='. The bits that padding leaves over must be
 * zero (RFC 4648 section 3.5), so that one value has one text.
 */
static int decode_group(char *to, const char *from, int padding)
{
    uint32_t bits = 0;
    for (int i = 0; i < 4; i++) {
        int value = i < 4 - padding ? digit_value(from[i]) : 0;
        if (value < 0)
            return -OSB_E_SYNTAX;
        bits = bits << 6 | (uint32_t)value;
    }
    if (bits & ((1u << (8 * padding)) - 1))
        return -OSB_E_SYNTAX;
    for (int i = 0; i < 3 - padding; i++)
        to[i] = (char)(bits >> (16 - 8 * i) & 0xff);
    return 0;
}

int osb_base64_decode(struct osb_buf *out, struct osb_slice in)
{
    if (in.len % 4 != 0)
        return -OSB_E_SYNTAX;
    if (in.len == 0)
        return 0;
    int padding = in.data[in.len - 1] != '=' ? 0 : in.data[in.len - 2] != '=' ? 1 : 2;
    size_t len = in.len / 4 * 3 - (size_t)padding;
    char *to = osb_buf_reserve(out, len);
    if (!to)
        return 0; /* sticky in OUT */
    for (size_t i = 0; i < in.len; i += 4) {
        int r = decode_group(to + i / 4 * 3, in.data + i, i + 4 == in.len ? padding : 0);
        if (r < 0)
            return r;
    }
    osb_buf_commit(out, len);
    return 0;
}
