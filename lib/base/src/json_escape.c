// SPDX-License-Identifier: Apache-2.0
/*
 * JSON string escaping. All output of commands passes here, so the common case is a scan of eight
 * bytes at a time and one copy a run.
 */
#include <osb/text.h>

#define EACH_BYTE(c) (0x0101010101010101ULL * (c))

/* Non-zero when one of the eight bytes is zero. */
static inline uint64_t has_zero(uint64_t word)
{
    return (word - EACH_BYTE(0x01)) & ~word & EACH_BYTE(0x80);
}

/* Non-zero when a byte is a control, '"', '\\' or not ASCII. */
static inline uint64_t has_special(uint64_t word)
{
    uint64_t control = (word - EACH_BYTE(0x20)) & ~word & EACH_BYTE(0x80);
    return control | has_zero(word ^ EACH_BYTE('"')) | has_zero(word ^ EACH_BYTE('\\')) |
           (word & EACH_BYTE(0x80));
}

static inline bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

static size_t plain_ascii_run(const char *data, size_t len)
{
    size_t n = 0;
    for (uint64_t word; n + sizeof(word) <= len; n += sizeof(word)) {
        memcpy(&word, data + n, sizeof(word));
        if (has_special(word))
            break;
    }
    while (n < len && is_plain((unsigned char)data[n]))
        n++;
    return n;
}

/* U+0085, U+2028 and U+2029 end a line for clients that split a stream by Unicode's rules. */
static const char *line_splitter_escape(const char *sequence, int length)
{
    if (length == 2 && memcmp(sequence, "\xc2\x85", 2) == 0)
        return "\\u0085";
    if (length == 3 && memcmp(sequence, "\xe2\x80\xa8", 3) == 0)
        return "\\u2028";
    if (length == 3 && memcmp(sequence, "\xe2\x80\xa9", 3) == 0)
        return "\\u2029";
    return NULL;
}

/* Bytes at the start of S that need no change: plain ASCII and well-formed sequences. */
static size_t unchanged_run(struct osb_slice s)
{
    size_t n = 0;
    for (;;) {
        n += plain_ascii_run(s.data + n, s.len - n);
        if (n == s.len || (unsigned char)s.data[n] < 0x80)
            return n;
        int length = osb_utf8_sequence(osb_slice_from(s, n));
        if (length <= 0 || line_splitter_escape(s.data + n, length))
            return n;
        n += (size_t)length;
    }
}

static void escape_control(struct osb_buf *out, unsigned char c)
{
    static const char short_forms[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
                                       ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\'};
    static const char digits[] = "0123456789abcdef";
    if (short_forms[c]) {
        osb_buf_append(out, (const char[]){'\\', short_forms[c]}, 2);
        return;
    }
    osb_buf_append(out, (const char[]){'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]}, 6);
}

/* Appends the replacement of what starts S and returns the bytes that it stands for. */
static size_t escape_one(struct osb_buf *out, struct osb_slice s)
{
    unsigned char c = (unsigned char)s.data[0];
    if (c < 0x80) {
        escape_control(out, c);
        return 1;
    }
    int length = osb_utf8_sequence(s);
    if (length <= 0) {
        osb_buf_append_slice(out, OSB_SLICE("\xef\xbf\xbd"));
        return 1;
    }
    osb_buf_append(out, line_splitter_escape(s.data, length), 6);
    return (size_t)length;
}

void osb_json_escape(struct osb_buf *out, struct osb_slice s)
{
    while (s.len && !out->err) {
        size_t run = unchanged_run(s);
        osb_buf_append(out, s.data, run);
        s = osb_slice_from(s, run);
        if (s.len)
            s = osb_slice_from(s, escape_one(out, s));
    }
}
