// SPDX-License-Identifier: Apache-2.0
// Files as answers: sendfile(2) where the stream has it, else by way of the output buffer.
#include "server.h"

#include <unistd.h>

/* A file that has become shorter than its announced length breaks the answer. */
int http_exchange_copy_file(struct osb_http_exchange *x)
{
    size_t want = x->file_left < HTTP_READ_SIZE ? (size_t)x->file_left : HTTP_READ_SIZE;
    if (want == 0)
        return 0;
    struct osb_buf *out = &x->conn->out.buf;
    char *room = osb_buf_reserve(out, want);
    if (!room)
        return out->err;
    ssize_t n;
    do {
        n = pread(x->file_fd, room, want, x->file_offset);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    if (n == 0)
        return -OSB_E_CLOSED;
    osb_buf_commit(out, (size_t)n);
    x->file_offset += n;
    x->file_left -= (size_t)n;
    return 0;
}

static int copy_some(struct osb_http_exchange *x)
{
    struct http_out *out = &x->conn->out;
    for (size_t sent = 0; x->file_left > 0 && sent < HTTP_SENDFILE_MAX; sent += HTTP_READ_SIZE) {
        int r = http_exchange_copy_file(x);
        if (r >= 0)
            r = http_out_flush(out);
        if (r < 0)
            return r;
        if (out->is_blocked)
            break;
    }
    return 0;
}

int http_exchange_send_file(struct osb_http_exchange *x)
{
    struct http_out *out = &x->conn->out;
    size_t budget = HTTP_SENDFILE_MAX;
    while (x->file_left > 0 && budget > 0) {
        size_t want = x->file_left < budget ? (size_t)x->file_left : budget;
        ssize_t n = osb_stream_sendfile(out->stream, x->file_fd, &x->file_offset, want);
        if (n == -OSB_E_UNSUPPORTED || n == -EINVAL || n == -ENOSYS)
            return copy_some(x);
        if (n == 0)
            return -OSB_E_CLOSED;
        if (n < 0 && n != -EAGAIN)
            return (int)n;
        if (n == -EAGAIN) {
            out->is_blocked = true;
            return 0;
        }
        out->is_progress = true;
        budget -= (size_t)n;
        x->file_left -= (size_t)n;
    }
    return 0;
}
