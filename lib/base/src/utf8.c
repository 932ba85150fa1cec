// SPDX-License-Identifier: Apache-2.0
#include <osb/text.h>

/*
 * What RFC 3629 section 4 allows behind each first byte: the length, and the range of the second
 * byte, which is where overlong forms, surrogates and values above U+10FFFF are told apart.
 */
struct lead {
    int length;
    unsigned char second_min, second_max;
};

static struct lead classify(unsigned char c)
{
    if (c < 0x80)
        return (struct lead){1, 0, 0};
    if (c < 0xc2)
        return (struct lead){0, 0, 0};
    if (c < 0xe0)
        return (struct lead){2, 0x80, 0xbf};
    if (c == 0xe0)
        return (struct lead){3, 0xa0, 0xbf};
    if (c == 0xed)
        return (struct lead){3, 0x80, 0x9f};
    if (c < 0xf0)
        return (struct lead){3, 0x80, 0xbf};
    if (c == 0xf0)
        return (struct lead){4, 0x90, 0xbf};
    if (c < 0xf4)
        return (struct lead){4, 0x80, 0xbf};
    if (c == 0xf4)
        return (struct lead){4, 0x80, 0x8f};
    return (struct lead){0, 0, 0};
}

int osb_utf8_sequence(struct osb_slice s)
{
    if (s.len == 0)
        return -1;
    struct lead lead = classify((unsigned char)s.data[0]);
    for (int i = 1; i < lead.length; i++) {
        if ((size_t)i == s.len)
            return -1;
        unsigned char c = (unsigned char)s.data[i];
        if (c < (i == 1 ? lead.second_min : 0x80) || c > (i == 1 ? lead.second_max : 0xbf))
            return 0;
    }
    return lead.length;
}

static size_t ascii_run(struct osb_slice s)
{
    size_t n = 0;
    for (uint64_t word; n + sizeof(word) <= s.len; n += sizeof(word)) {
        memcpy(&word, s.data + n, sizeof(word));
        if (word & 0x8080808080808080ULL)
            break;
    }
    while (n < s.len && (unsigned char)s.data[n] < 0x80)
        n++;
    return n;
}

bool osb_utf8_is_valid(struct osb_slice s)
{
    for (;;) {
        s = osb_slice_from(s, ascii_run(s));
        if (s.len == 0)
            return true;
        int length = osb_utf8_sequence(s);
        if (length <= 0)
            return false;
        s = osb_slice_from(s, (size_t)length);
    }
}
