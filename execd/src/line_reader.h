// SPDX-License-Identifier: Apache-2.0
/*
 * Download of lines (execd contract 9.6): `offset` is the first line from 1, `limit` their number.
 * Lines are joined by LF without one at the end, CRs before an LF are dropped. The file is read as
 * the client takes it.
 */
#ifndef EXECD_LINE_READER_H
#define EXECD_LINE_READER_H

#include <osb/err.h>
#include <osb/http_server.h>
#include <stdint.h>

struct line_window {
    bool is_set;
    uint64_t first; /* from 1 */
    uint64_t count; /* UINT64_MAX: all */
};

/* Reads the query of X; -OSB_E_INVALID for what is no positive number. */
int line_window_parse(struct osb_http_exchange *x, struct line_window *ret, struct osb_err *err);
/* Answers; takes FD. */
void line_reader_start(struct osb_http_exchange *x, int fd, const struct line_window *window);

/* The core: picks the window's lines out of the bytes that are fed. */
struct line_picker {
    struct line_window window;
    uint64_t line;      /* of the next byte, from 1 */
    size_t pending_crs; /* CRs that may belong to a line end */
    bool has_begun;     /* a picked line went out: an LF goes before the next */
    bool is_in_line;    /* the present line has bytes or was opened */
};

void line_picker_feed(struct line_picker *picker, struct osb_slice data, struct osb_buf *out);
/* True when no later byte can belong to the window. */
bool line_picker_is_done(const struct line_picker *picker);

#endif
