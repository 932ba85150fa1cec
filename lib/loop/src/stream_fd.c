// SPDX-License-Identifier: Apache-2.0
/* Streams over sockets, pipes and terminals. */
#include "core.h"
#include <limits.h>
#include <osb/alloc.h>
#include <osb/fd.h>
#include <osb/stream.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct fd_stream {
    struct osb_stream base;
    int fd; /* -1 once a pipe was shut down */
    bool is_socket;
    bool is_terminal;
    struct osb_watch watch;
};

static struct fd_stream *downcast(struct osb_stream *stream)
{
    return osb_container_of(stream, struct fd_stream, base);
}

static ssize_t fd_read(struct osb_stream *stream, void *buffer, size_t len)
{
    struct fd_stream *self = downcast(stream);
    ssize_t got;
    do
        got = read(self->fd, buffer, len);
    while (got < 0 && errno == EINTR);
    if (got >= 0)
        return got;
    /* What a terminal's master says once the last process has closed the other side. */
    return self->is_terminal && errno == EIO ? 0 : -errno;
}

/* send() for the common single vector: the kernel copies no header for it. */
static ssize_t put_socket(int fd, const struct iovec *iov, int count)
{
    struct msghdr message = {.msg_iov = (struct iovec *)iov, .msg_iovlen = (size_t)count};
    return count == 1 ? send(fd, iov->iov_base, iov->iov_len, MSG_NOSIGNAL)
                      : sendmsg(fd, &message, MSG_NOSIGNAL);
}

static ssize_t fd_writev(struct osb_stream *stream, const struct iovec *iov, int count)
{
    struct fd_stream *self = downcast(stream);
    ssize_t put;
    if (count > IOV_MAX)
        count = IOV_MAX;
    do
        put = self->is_socket ? put_socket(self->fd, iov, count) : writev(self->fd, iov, count);
    while (put < 0 && errno == EINTR);
    return put < 0 ? -errno : put;
}

static ssize_t fd_sendfile(struct osb_stream *stream, int fd, off_t *offset, size_t len)
{
    ssize_t put;
    do
        put = sendfile(downcast(stream)->fd, fd, offset, len);
    while (put < 0 && errno == EINTR);
    if (put >= 0)
        return put;
    return errno == EINVAL || errno == ENOSYS ? -OSB_E_UNSUPPORTED : -errno;
}

static int fd_want(struct osb_stream *stream, int events)
{
    struct fd_stream *self = downcast(stream);
    if (events != 0)
        return self->fd < 0 ? -EBADF : osb_watch_set(&self->watch, events);
    osb_watch_pause(&self->watch);
    return 0;
}

static void close_fd(struct fd_stream *self)
{
    osb_watch_stop(&self->watch);
    if (self->fd >= 0)
        close(self->fd);
    self->fd = -1;
}

static int fd_shutdown(struct osb_stream *stream)
{
    struct fd_stream *self = downcast(stream);
    if (self->is_socket)
        return shutdown(self->fd, SHUT_WR) < 0 ? -errno : 0;
    if (self->is_terminal) /* its end of input is a character, not a state */
        return -OSB_E_UNSUPPORTED;
    close_fd(self); /* a pipe's end has only one side */
    return 0;
}

static void fd_close(struct osb_stream *stream)
{
    struct fd_stream *self = downcast(stream);
    close_fd(self);
    free(self);
}

static const struct osb_stream_ops fd_ops = {
    .read = fd_read,
    .writev = fd_writev,
    .sendfile = fd_sendfile,
    .want = fd_want,
    .shutdown = fd_shutdown,
    .close = fd_close,
};

static void on_ready(struct osb_watch *watch, int events)
{
    struct fd_stream *self = osb_container_of(watch, struct fd_stream, watch);
    self->base.fn(&self->base, events, self->base.arg);
}

int osb_stream_from_fd(struct osb_loop *loop, int fd, struct osb_stream **ret, struct osb_err *err)
{
    _cleanup_close_ int owned = fd;
    struct stat st;
    if (fstat(fd, &st) < 0)
        return osb_fail(err, -errno, "stream of descriptor %d: %s", fd, strerror(errno));
    if (!S_ISSOCK(st.st_mode) && !S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode))
        return osb_fail(err, -OSB_E_UNSUPPORTED,
                        "stream of descriptor %d: neither a socket, a pipe nor a terminal", fd);
    int r = osb_set_nonblocking(fd, true);
    if (r < 0)
        return osb_fail(err, r, "make descriptor %d non-blocking: %s", fd, strerror(-r));
    struct fd_stream *self = osb_new(struct fd_stream);
    self->base.ops = &fd_ops;
    self->base.loop = loop;
    self->fd = osb_take_fd(&owned);
    self->is_socket = S_ISSOCK(st.st_mode);
    self->is_terminal = S_ISCHR(st.st_mode);
    osb_watch_init(&self->watch, loop, fd, on_ready, NULL);
    *ret = &self->base;
    return 0;
}

int osb_stream_fd(const struct osb_stream *stream)
{
    if (stream->ops != &fd_ops)
        return -1;
    return osb_container_of(stream, const struct fd_stream, base)->fd;
}
