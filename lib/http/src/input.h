// SPDX-License-Identifier: Apache-2.0
/*
 * Read buffers: one spare goes round among the connections of a server or client, so that idle
 * ones hold none and busy ones need no allocation.
 */
#ifndef OSB_HTTP_INPUT_H
#define OSB_HTTP_INPUT_H

#include <osb/buf.h>
#include <osb/stream.h>

enum { HTTP_READ_SIZE = 64 * 1024 }; /* most bytes of one read(2) */

/* Reads once behind what IN holds; as osb_stream_read(), or -ENOMEM. */
ssize_t http_input_read(struct osb_buf *in, struct osb_buf *spare, struct osb_stream *stream);
/* Gives the buffer back when it is empty; a small leftover moves to a buffer of its own size. */
void http_input_park(struct osb_buf *in, struct osb_buf *spare);

#endif
