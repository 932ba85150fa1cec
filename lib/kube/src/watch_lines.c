// SPDX-License-Identifier: Apache-2.0
#include "watch_lines.h"

#include <osb/err.h>

void watch_lines_init(struct watch_lines *lines, size_t limit)
{
    osb_buf_init(&lines->partial, limit);
    lines->limit = limit;
}

void watch_lines_done(struct watch_lines *lines)
{
    osb_buf_done(&lines->partial);
}

static int emit(struct osb_slice line, int (*fn)(struct osb_slice line, void *arg), void *arg)
{
    if (line.len > 0 && line.data[line.len - 1] == '\r')
        line.len--;
    return line.len > 0 ? fn(line, arg) : 0;
}

int watch_lines_feed(struct watch_lines *lines, struct osb_slice data,
                     int (*fn)(struct osb_slice line, void *arg), void *arg)
{
    while (data.len > 0) {
        ptrdiff_t end = osb_slice_find(data, '\n');
        size_t len = end < 0 ? data.len : (size_t)end;
        if (lines->partial.len + len > lines->limit)
            return -OSB_E_TOO_LARGE;
        int r = 0;
        if (end >= 0 && lines->partial.len == 0) {
            r = emit(osb_slice(data.data, len), fn, arg);
        } else {
            osb_buf_append(&lines->partial, data.data, len);
            if (lines->partial.err)
                return lines->partial.err;
            if (end >= 0) {
                r = emit(osb_buf_slice(&lines->partial), fn, arg);
                osb_buf_clear(&lines->partial);
            }
        }
        if (r < 0)
            return r;
        data = osb_slice_from(data, end < 0 ? len : len + 1);
    }
    return 0;
}

bool watch_lines_reset(struct watch_lines *lines)
{
    bool was_cut = lines->partial.len > 0;
    osb_buf_clear(&lines->partial);
    return was_cut;
}
