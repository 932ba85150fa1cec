// SPDX-License-Identifier: Apache-2.0
/* The one definition of well-formed UTF-8, inline because JSON escaping calls it a character. */
#ifndef OSB_BASE_UTF8_H
#define OSB_BASE_UTF8_H

#include <osb/slice.h>

static inline bool utf8_is_between(unsigned char c, unsigned char min, unsigned char max)
{
    return c >= min && c <= max;
}

/*
 * What RFC 3629 section 4 allows as the second byte: that is where overlong forms, surrogates and
 * values above U+10FFFF are told apart.
 */
static inline bool utf8_is_second(unsigned char first, unsigned char second)
{
    switch (first) {
    case 0xe0:
        return utf8_is_between(second, 0xa0, 0xbf);
    case 0xed:
        return utf8_is_between(second, 0x80, 0x9f);
    case 0xf0:
        return utf8_is_between(second, 0x90, 0xbf);
    case 0xf4:
        return utf8_is_between(second, 0x80, 0x8f);
    default:
        return utf8_is_between(second, 0x80, 0xbf);
    }
}

/* osb_utf8_sequence() of LEN bytes. */
static inline int utf8_sequence(const char *data, size_t len)
{
    if (len == 0)
        return -1;
    unsigned char first = (unsigned char)data[0];
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    int length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (len == 1)
        return -1;
    if (!utf8_is_second(first, (unsigned char)data[1]))
        return 0;
    for (int i = 2; i < length; i++) {
        if ((size_t)i == len)
            return -1;
        if (!utf8_is_between((unsigned char)data[i], 0x80, 0xbf))
            return 0;
    }
    return length;
}

#endif
