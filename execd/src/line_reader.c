// SPDX-License-Identifier: Apache-2.0
#include "line_reader.h"

#include <osb/alloc.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    READER_PIECE = 64 * 1024,
    READER_HIGH_WATER = 128 * 1024, /* bytes queued for a client before reading goes on */
    READER_STEPS = 32,              /* pieces passed over in one go: others want a turn too */
};

static int parse_positive(struct osb_http_exchange *x, const char *name, uint64_t *ret,
                          bool *ret_is_set, struct osb_err *err)
{
    struct osb_slice text;

    if (!osb_http_query(x, name, &text) || text.len == 0)
        return 0;
    if (osb_slice_to_u64(text, ret) < 0 || *ret == 0)
        return osb_fail(err, -OSB_E_INVALID, "%s must be a positive number", name);
    *ret_is_set = true;
    return 0;
}

int line_window_parse(struct osb_http_exchange *x, struct line_window *ret, struct osb_err *err)
{
    *ret = (struct line_window){.first = 1, .count = UINT64_MAX};
    int r = parse_positive(x, "offset", &ret->first, &ret->is_set, err);
    if (r == 0)
        r = parse_positive(x, "limit", &ret->count, &ret->is_set, err);
    return r;
}

bool line_picker_is_done(const struct line_picker *picker)
{
    return picker->line >= picker->window.first &&
           picker->line - picker->window.first >= picker->window.count;
}

static bool is_picked(const struct line_picker *picker)
{
    return picker->line >= picker->window.first && !line_picker_is_done(picker);
}

/* The LF before a line is written when the line begins: so none comes behind the last. */
static void open_line(struct line_picker *picker, struct osb_buf *out)
{
    if (picker->is_in_line)
        return;
    picker->is_in_line = true;
    if (picker->has_begun)
        osb_buf_append_char(out, '\n');
    picker->has_begun = true;
}

static void put(struct line_picker *picker, struct osb_slice text, struct osb_buf *out)
{
    if (!is_picked(picker) || text.len == 0)
        return;
    open_line(picker, out);
    size_t crs = 0;
    while (crs < text.len && text.data[text.len - crs - 1] == '\r')
        crs++;
    if (crs < text.len) { /* earlier CRs are no part of a line end after all */
        for (; picker->pending_crs > 0; picker->pending_crs--)
            osb_buf_append_char(out, '\r');
    }
    osb_buf_append_slice(out, osb_slice_first(text, text.len - crs));
    picker->pending_crs += crs;
}

void line_picker_feed(struct line_picker *picker, struct osb_slice data, struct osb_buf *out)
{
    while (data.len > 0 && !line_picker_is_done(picker)) {
        ptrdiff_t lf = osb_slice_find(data, '\n');
        put(picker, lf < 0 ? data : osb_slice_first(data, (size_t)lf), out);
        if (lf < 0)
            return;
        if (is_picked(picker))
            open_line(picker, out);
        picker->is_in_line = false;
        picker->pending_crs = 0;
        picker->line++;
        data = osb_slice_from(data, (size_t)lf + 1);
    }
}

struct line_reader {
    struct osb_http_exchange *x;
    int fd;
    struct line_picker picker;
    struct osb_defer again;
};

static void on_close(struct osb_http_exchange *x, bool is_complete, void *arg)
{
    struct line_reader *reader = arg;

    (void)x;
    (void)is_complete;
    osb_defer_cancel(&reader->again);
    close(reader->fd);
    free(reader);
}

static void send_some(struct osb_http_exchange *x, void *arg)
{
    struct line_reader *reader = arg;
    _cleanup_buf_ struct osb_buf out = {0};
    static char piece[READER_PIECE];
    ssize_t n = 1;

    for (int i = 0; i < READER_STEPS && out.len < READER_HIGH_WATER; i++) {
        n = line_picker_is_done(&reader->picker) ? 0 : read(reader->fd, piece, sizeof(piece));
        if (n <= 0)
            break;
        line_picker_feed(&reader->picker, osb_slice(piece, (size_t)n), &out);
    }
    if (n < 0) {
        osb_http_abort(x);
        return;
    }
    size_t queued = osb_http_reply_write(x, osb_buf_slice(&out));
    if (n == 0)
        osb_http_reply_end(x);
    else if (queued == 0)
        osb_defer_post(&reader->again); /* nothing to drain: nobody would call again */
}

static void on_again(struct osb_defer *defer)
{
    struct line_reader *reader = defer->arg;

    send_some(reader->x, reader);
}

void line_reader_start(struct osb_http_exchange *x, int fd, const struct line_window *window)
{
    struct line_reader *reader = osb_new(struct line_reader);

    reader->x = x;
    reader->fd = fd;
    reader->picker = (struct line_picker){.window = *window, .line = 1};
    osb_defer_init(&reader->again, osb_http_loop(x), on_again, reader);
    osb_http_on_close(x, on_close, reader);
    osb_http_on_drain(x, send_some, reader);
    osb_http_reply_start(x, 200, "text/plain; charset=utf-8", -1);
    send_some(x, reader);
}
