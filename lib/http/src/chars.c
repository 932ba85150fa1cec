// SPDX-License-Identifier: Apache-2.0
#include "chars.h"

/* One bit a byte value, lowest bit of the first word is NUL. */
static const uint32_t sets[][8] = {
    [HTTP_CHARS_TOKEN] = {0, 0x03ff6cfau, 0xc7fffffeu, 0x57ffffffu, 0, 0, 0, 0},
    [HTTP_CHARS_VALUE] = {0x00000200u, 0xffffffffu, 0xffffffffu, 0x7fffffffu, 0xffffffffu,
                          0xffffffffu, 0xffffffffu, 0xffffffffu},
    [HTTP_CHARS_TARGET] = {0, 0xfffffff6u, 0xffffffffu, 0x7fffffffu, 0, 0, 0, 0},
    [HTTP_CHARS_HOST] = {0, 0x2fff6ff2u, 0xaffffffeu, 0x47fffffeu, 0, 0, 0, 0},
};

bool http_char_is(enum http_chars set, unsigned char c)
{
    return sets[set][c >> 5] >> (c & 31) & 1;
}

bool http_chars_all(enum http_chars set, struct osb_slice s)
{
    const uint32_t *bits = sets[set];
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.data[i];
        if (!(bits[c >> 5] >> (c & 31) & 1))
            return false;
    }
    return true;
}

bool http_is_token(struct osb_slice s)
{
    return s.len > 0 && http_chars_all(HTTP_CHARS_TOKEN, s);
}

int http_hex_digit(unsigned char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}
