// SPDX-License-Identifier: Apache-2.0
#include "out.h"

#include <osb/err.h>

struct iovec http_iov(struct osb_slice s)
{
    return (struct iovec){.iov_base = (void *)(uintptr_t)s.data, .iov_len = s.len};
}

static size_t length_of(const struct iovec *pieces, int count)
{
    size_t total = 0;
    for (int i = 0; i < count; i++)
        total += pieces[i].iov_len;
    return total;
}

/* Keeps the part of PIECES behind the first TAKEN bytes. */
static int keep_rest(struct http_out *out, const struct iovec *pieces, int count, size_t taken)
{
    size_t rest = length_of(pieces, count) - taken;
    char *room = rest > 0 ? osb_buf_reserve(&out->buf, rest) : NULL;
    if (!room)
        return out->buf.err;
    for (int i = 0; i < count; i++) {
        size_t skip = taken < pieces[i].iov_len ? taken : pieces[i].iov_len;
        size_t len = pieces[i].iov_len - skip;
        taken -= skip;
        if (len == 0)
            continue;
        memcpy(room, (const char *)pieces[i].iov_base + skip, len);
        room += len;
    }
    osb_buf_commit(&out->buf, rest);
    return 0;
}

/* Writes the buffer and PIECES in one call. */
static int write_through(struct http_out *out, const struct iovec *pieces, int count)
{
    struct iovec iov[HTTP_OUT_MAX_PIECES + 1];
    int n = 0;
    size_t total = out->buf.len + length_of(pieces, count);
    if (out->buf.len > 0)
        iov[n++] = http_iov(osb_buf_slice(&out->buf));
    for (int i = 0; i < count; i++)
        iov[n++] = pieces[i];
    if (total == 0)
        return 0;
    ssize_t r = osb_stream_writev(out->stream, iov, n);
    if (r < 0 && r != -EAGAIN)
        return (int)r;
    size_t taken = r > 0 ? (size_t)r : 0;
    size_t from_buf = taken < out->buf.len ? taken : out->buf.len;
    osb_buf_consume(&out->buf, from_buf);
    out->is_blocked = taken < total;
    out->is_progress |= taken > 0;
    return keep_rest(out, pieces, count, taken - from_buf);
}

int http_out_send(struct http_out *out, const struct iovec *pieces, int count)
{
    osb_assert(count <= HTTP_OUT_MAX_PIECES);
    size_t total = out->buf.len + length_of(pieces, count);
    if (!out->is_blocked && total >= HTTP_OUT_DIRECT_MIN) {
        out->is_progress = true;
        return write_through(out, pieces, count);
    }
    return keep_rest(out, pieces, count, 0);
}

int http_out_flush(struct http_out *out)
{
    if (out->is_blocked || out->buf.len == 0)
        return out->buf.err;
    return write_through(out, NULL, 0);
}

struct osb_slice http_chunk_line(char buffer[static HTTP_CHUNK_LINE_MAX], size_t size)
{
    char *end = buffer + HTTP_CHUNK_LINE_MAX;
    char *p = end;
    *--p = '\n';
    *--p = '\r';
    do {
        *--p = "0123456789abcdef"[size & 15];
        size >>= 4;
    } while (size > 0);
    return osb_slice(p, (size_t)(end - p));
}
