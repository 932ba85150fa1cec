// SPDX-License-Identifier: Apache-2.0
#include <osb/err.h>
#include <osb/text.h>

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int osb_percent_decode(struct osb_buf *out, struct osb_slice in, bool plus_is_space)
{
    char *to = osb_buf_reserve(out, in.len);
    if (!to)
        return 0; /* sticky in OUT */
    size_t len = 0;
    for (size_t i = 0; i < in.len; i++) {
        char c = in.data[i];
        if (c == '%') {
            size_t left = in.len - i;
            int high = left > 2 ? hex_value(in.data[i + 1]) : -1;
            int low = left > 2 ? hex_value(in.data[i + 2]) : -1;
            if (high < 0 || low < 0)
                return -OSB_E_SYNTAX;
            c = (char)(high << 4 | low);
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        to[len++] = c;
    }
    osb_buf_commit(out, len);
    return 0;
}

/* RFC 3986 section 2.3. */
static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

void osb_percent_encode(struct osb_buf *out, struct osb_slice in)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < in.len; i++) {
        unsigned char c = (unsigned char)in.data[i];
        if (is_unreserved((char)c))
            osb_buf_append_char(out, (char)c);
        else
            osb_buf_append(out, (const char[]){'%', digits[c >> 4], digits[c & 15]}, 3);
    }
}
