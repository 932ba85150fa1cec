// SPDX-License-Identifier: Apache-2.0
#include <osb/text.h>

#include "utf8.h"

int osb_utf8_sequence(struct osb_slice s)
{
    return utf8_sequence(s.data, s.len);
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
        int length = utf8_sequence(s.data, s.len);
        if (length <= 0)
            return false;
        s = osb_slice_from(s, (size_t)length);
    }
}
