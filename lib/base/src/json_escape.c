// SPDX-License-Identifier: Apache-2.0
/*
 * JSON string escaping. All output of commands passes here, so the common case is a scan of eight
 * bytes at a time and one copy a run; short runs and escapes are collected on the stack first.
 */
#include <osb/text.h>

#include "utf8.h"

enum {
    SINK_SIZE = 2048,
    SINK_DIRECT = 512, /* a run of this length is worth an append of its own */
};

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
static inline const char *line_splitter_escape(const char *sequence, int length)
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
        if (n < s.len && (unsigned char)s.data[n] < 0x80)
            n += plain_ascii_run(s.data + n, s.len - n);
        if (n == s.len || (unsigned char)s.data[n] < 0x80)
            return n;
        int length = utf8_sequence(s.data + n, s.len - n);
        if (length <= 0 || line_splitter_escape(s.data + n, length))
            return n;
        n += (size_t)length;
    }
}

struct sink {
    struct osb_buf *out;
    size_t len;
    char bytes[SINK_SIZE];
};

static void flush(struct sink *sink)
{
    osb_buf_append(sink->out, sink->bytes, sink->len);
    sink->len = 0;
}

static inline void put(struct sink *sink, const char *data, size_t len)
{
    if (len > SINK_SIZE - sink->len)
        flush(sink);
    memcpy(sink->bytes + sink->len, data, len);
    sink->len += len;
}

static void put_run(struct sink *sink, const char *data, size_t len)
{
    if (len < SINK_DIRECT) {
        put(sink, data, len);
        return;
    }
    flush(sink);
    osb_buf_append(sink->out, data, len);
}

static void put_control(struct sink *sink, unsigned char c)
{
    static const char short_forms[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
                                       ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\'};
    static const char digits[] = "0123456789abcdef";
    if (short_forms[c])
        put(sink, (const char[]){'\\', short_forms[c]}, 2);
    else
        put(sink, (const char[]){'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]}, 6);
}

/* Puts the replacement of what starts S and returns the bytes that it stands for. */
static size_t put_escape(struct sink *sink, struct osb_slice s)
{
    unsigned char c = (unsigned char)s.data[0];
    if (c < 0x80) {
        put_control(sink, c);
        return 1;
    }
    int length = utf8_sequence(s.data, s.len);
    if (length <= 0) {
        put(sink, "\xef\xbf\xbd", 3);
        return 1;
    }
    put(sink, line_splitter_escape(s.data, length), 6);
    return (size_t)length;
}

void osb_json_escape(struct osb_buf *out, struct osb_slice s)
{
    struct sink sink;
    sink.out = out;
    sink.len = 0;
    while (s.len && !out->err) {
        size_t run = unchanged_run(s);
        put_run(&sink, s.data, run);
        s = osb_slice_from(s, run);
        if (s.len)
            s = osb_slice_from(s, put_escape(&sink, s));
    }
    flush(&sink);
}
