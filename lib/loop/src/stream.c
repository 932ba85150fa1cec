// SPDX-License-Identifier: Apache-2.0
/* The calls of every stream; what they do is in stream_fd.c, stream_pair.c and lib/tls. */
#include <osb/stream.h>

void osb_stream_set_callback(struct osb_stream *stream, osb_stream_fn *fn, void *arg)
{
    stream->fn = fn;
    stream->arg = arg;
}

int osb_stream_want(struct osb_stream *stream, int events)
{
    osb_assert(events == 0 || stream->fn);
    int r = stream->ops->want(stream, events);
    if (r == 0)
        stream->events = events;
    return r;
}

ssize_t osb_stream_read(struct osb_stream *stream, void *buffer, size_t len)
{
    return stream->ops->read(stream, buffer, len);
}

ssize_t osb_stream_write(struct osb_stream *stream, struct osb_slice data)
{
    struct iovec iov = {.iov_base = (void *)data.data, .iov_len = data.len};
    return stream->ops->writev(stream, &iov, 1);
}

ssize_t osb_stream_writev(struct osb_stream *stream, const struct iovec *iov, int count)
{
    return stream->ops->writev(stream, iov, count);
}

ssize_t osb_stream_sendfile(struct osb_stream *stream, int fd, off_t *offset, size_t len)
{
    if (!stream->ops->sendfile)
        return -OSB_E_UNSUPPORTED;
    return stream->ops->sendfile(stream, fd, offset, len);
}

int osb_stream_shutdown(struct osb_stream *stream)
{
    return stream->ops->shutdown(stream);
}

void osb_stream_close(struct osb_stream *stream)
{
    if (stream)
        stream->ops->close(stream);
}
