// SPDX-License-Identifier: Apache-2.0
/*
 * The sending side of a connection, shared by server and client. Small pieces gather in a buffer
 * until their owner flushes at the end of the loop turn; from HTTP_OUT_DIRECT_MIN on, what has
 * gathered and the new pieces go to the stream in one writev(2) without being copied, and only
 * what the peer does not take is kept.
 */
#ifndef OSB_HTTP_OUT_H
#define OSB_HTTP_OUT_H

#include <osb/buf.h>
#include <osb/stream.h>

enum {
    HTTP_OUT_DIRECT_MIN = 16 * 1024, /* bytes worth a system call of their own */
    HTTP_OUT_MAX_PIECES = 4,
    HTTP_CHUNK_LINE_MAX = 20, /* a 64-bit size in hex and CRLF */
};

struct http_out {
    struct osb_stream *stream; /* borrowed */
    struct osb_buf buf;
    bool is_blocked;  /* the peer took less than there was: wait for OSB_WRITABLE */
    bool is_retry;    /* OSB_WRITABLE came, nothing was written since */
    bool is_progress; /* bytes were taken, or it was not blocked, since the owner last looked */
};

/* Queues and perhaps writes PIECES; 0 or the stream's error, or -ENOMEM. */
int http_out_send(struct http_out *out, const struct iovec *pieces, int count);
/* Writes what has gathered, as far as the peer takes it; 0 or the stream's error. */
int http_out_flush(struct http_out *out);
/* Writes "SIZE CRLF" into BUFFER and returns it as a slice. */
struct osb_slice http_chunk_line(char buffer[static HTTP_CHUNK_LINE_MAX], size_t size);
struct iovec http_iov(struct osb_slice s);

#endif
