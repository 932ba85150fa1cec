// SPDX-License-Identifier: Apache-2.0
#include "lines.h"

#include <osb/text.h>

void lines_init(struct lines *lines, bool keeps_ends)
{
    *lines = (struct lines){.keeps_ends = keeps_ends};
}

void lines_done(struct lines *lines)
{
    osb_buf_done(&lines->partial);
}

/* The end of the first line of DATA: the offset of its LF or CR, or -1. */
static ptrdiff_t find_end(struct osb_slice data)
{
    ptrdiff_t lf = osb_slice_find(data, '\n');
    ptrdiff_t cr = osb_slice_find(lf < 0 ? data : osb_slice_first(data, (size_t)lf), '\r');
    return cr >= 0 ? cr : lf;
}

/* Bytes of the terminator at the start of REST: 2 for a CRLF that is whole. */
static size_t terminator_len(struct osb_slice rest)
{
    return rest.data[0] == '\r' && rest.len > 1 && rest.data[1] == '\n' ? 2 : 1;
}

/* LINE with its terminator of END bytes goes out as one text. */
static void emit(struct lines *lines, struct osb_slice line, size_t end, lines_fn *fn, void *arg)
{
    struct osb_slice text = lines->keeps_ends ? line : osb_slice_first(line, line.len - end);

    if (text.len > 0)
        fn(text, arg);
    else if (!lines->is_cut)
        fn(OSB_SLICE("\n"), arg);
    lines->is_cut = false;
}

/* Length of TEXT less a UTF-8 sequence that its end cuts; TEXT when it is all one cut sequence. */
static size_t whole_sequences(struct osb_slice text)
{
    for (size_t back = 1; back <= 3 && back < text.len; back++) {
        if (((unsigned char)text.data[text.len - back] & 0xc0) == 0x80)
            continue;
        if (osb_utf8_sequence(osb_slice_from(text, text.len - back)) == -1)
            return text.len - back;
        break;
    }
    return text.len;
}

/* Keeps the start of a line; sends pieces of LINE_MAX_TEXT bytes ahead. */
static void keep_partial(struct lines *lines, struct osb_slice data, lines_fn *fn, void *arg)
{
    while (data.len > 0) {
        struct osb_slice piece = osb_slice_first(data, LINE_MAX_TEXT - lines->partial.len);
        osb_buf_append_slice(&lines->partial, piece);
        data = osb_slice_from(data, piece.len);
        if (lines->partial.len < LINE_MAX_TEXT)
            continue;
        size_t whole = whole_sequences(osb_buf_slice(&lines->partial));
        fn(osb_slice_first(osb_buf_slice(&lines->partial), whole), arg);
        osb_buf_consume(&lines->partial, whole);
        lines->is_cut = true;
    }
}

void lines_feed(struct lines *lines, struct osb_slice data, lines_fn *fn, void *arg)
{
    if (lines->is_after_cr && data.len > 0) {
        lines->is_after_cr = false;
        if (data.data[0] == '\n') {
            if (lines->keeps_ends)
                fn(OSB_SLICE("\n"), arg);
            data = osb_slice_from(data, 1);
        }
    }
    while (data.len > 0) {
        ptrdiff_t at = find_end(data);
        if (at < 0)
            break;
        size_t end = terminator_len(osb_slice_from(data, (size_t)at));
        size_t len = (size_t)at + end;
        if (lines->partial.len + len > LINE_MAX_TEXT) {
            keep_partial(lines, osb_slice_first(data, (size_t)at), fn, arg);
            data = osb_slice_from(data, (size_t)at);
            len = end;
        }
        struct osb_slice line = osb_slice_first(data, len);
        if (lines->partial.len > 0) {
            osb_buf_append_slice(&lines->partial, line);
            line = osb_buf_slice(&lines->partial);
        }
        emit(lines, line, end, fn, arg);
        osb_buf_clear(&lines->partial);
        lines->is_after_cr = data.data[len - 1] == '\r' && len == data.len;
        data = osb_slice_from(data, len);
    }
    keep_partial(lines, data, fn, arg);
}

void lines_end(struct lines *lines, lines_fn *fn, void *arg)
{
    if (lines->partial.len > 0)
        fn(osb_buf_slice(&lines->partial), arg);
    osb_buf_clear(&lines->partial);
}
