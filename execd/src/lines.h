// SPDX-License-Identifier: Apache-2.0
/*
 * Splits a byte stream into the texts of output events (execd contract 5.6): LF, CR and CRLF each
 * end a line, a CRLF that two reads share counts once, an unterminated line waits for the end. A
 * line never costs more than LINE_MAX_TEXT bytes of memory: a longer one leaves in pieces that do
 * not cut a UTF-8 sequence.
 *
 * Line ends either stay in the text or are taken off (design 8.14); when taken off, an empty line
 * is the text "\n", so that it is not lost.
 */
#ifndef EXECD_LINES_H
#define EXECD_LINES_H

#include <osb/buf.h>
#include <osb/slice.h>
#include <stdbool.h>

enum { LINE_MAX_TEXT = 1024 * 1024 }; /* bytes of text in one event */

struct lines {
    bool keeps_ends;
    bool is_after_cr;       /* the last byte was a CR that ended a line: an LF belongs to it */
    bool is_cut;            /* a piece of the current line has left already */
    struct osb_buf partial; /* the line that has no end yet */
};

/* TEXT is valid during the call. */
typedef void lines_fn(struct osb_slice text, void *arg);

void lines_init(struct lines *lines, bool keeps_ends);
void lines_done(struct lines *lines);
void lines_feed(struct lines *lines, struct osb_slice data, lines_fn *fn, void *arg);
/* The stream is over: what is left goes out. */
void lines_end(struct lines *lines, lines_fn *fn, void *arg);

#endif
