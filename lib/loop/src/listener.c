// SPDX-License-Identifier: Apache-2.0
#include "address.h"
#include <netinet/in.h>
#include <osb/alloc.h>
#include <osb/fd.h>
#include <osb/stream.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ACCEPTS_PER_TURN = 64, /* so that a flood of connections leaves time for those there are */
    PAUSE_MS = 1000,       /* when descriptors or memory run out */
};

struct osb_listener {
    struct osb_loop *loop;
    int fd;
    int port;
    osb_accept_fn *fn;
    void *arg;
    struct osb_watch watch;
    struct osb_timer resume;
    char *path; /* of a UNIX socket that we made */
    dev_t device;
    ino_t inode;
    bool *is_freed; /* set while accepting: a callback may free the listener */
};

/* ---- accepting ---- */

static void hand_over(struct osb_listener *listener, int fd, const struct osb_address *address)
{
    char peer[OSB_PEER_MAX];
    struct osb_stream *stream;
    osb_address_tune_tcp(address, fd);
    osb_address_format_peer(address, fd, peer);
    if (osb_stream_from_fd(listener->loop, fd, &stream, NULL) == 0)
        listener->fn(stream, peer, listener->arg);
}

/* True when there may be more to accept. */
static bool accept_one(struct osb_listener *listener)
{
    struct osb_address address = {.len = sizeof(address.storage)};
    int fd = accept4(listener->fd, &address.any, &address.len, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        hand_over(listener, fd, &address);
        return true;
    }
    switch (errno) {
    case EAGAIN:
        return false;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
        osb_watch_stop(&listener->watch);
        osb_timer_set(&listener->resume, PAUSE_MS);
        return false;
    default: /* of that connection alone (accept(2)): ECONNABORTED, EPROTO, ENETDOWN, … */
        return true;
    }
}

static void on_readable(struct osb_watch *watch, int events)
{
    struct osb_listener *listener = watch->arg;
    bool is_freed = false;
    (void)events;
    listener->is_freed = &is_freed;
    for (int i = 0; i < ACCEPTS_PER_TURN; i++)
        if (!accept_one(listener) || is_freed)
            break;
    if (!is_freed)
        listener->is_freed = NULL;
}

static void on_resume(struct osb_timer *timer)
{
    struct osb_listener *listener = timer->arg;
    if (osb_watch_set(&listener->watch, OSB_READABLE) < 0)
        osb_timer_set(timer, PAUSE_MS);
}

/* ---- making ---- */

int osb_listener_new_fd(struct osb_loop *loop, int fd, osb_accept_fn *fn, void *arg,
                        struct osb_listener **ret, struct osb_err *err)
{
    _cleanup_close_ int owned = fd;
    struct osb_address bound = {.len = sizeof(bound.storage)};
    int r = osb_set_nonblocking(fd, true);
    if (r == 0 && getsockname(fd, &bound.any, &bound.len) < 0)
        r = -errno;
    if (r < 0)
        return osb_fail(err, r, "listen on descriptor %d: %s", fd, strerror(-r));
    struct osb_listener *listener = osb_new(struct osb_listener);
    listener->loop = loop;
    listener->fn = fn;
    listener->arg = arg;
    listener->fd = osb_take_fd(&owned);
    listener->port = osb_address_port(&bound);
    osb_timer_init(&listener->resume, loop, on_resume, listener);
    osb_watch_init(&listener->watch, loop, fd, on_readable, listener);
    r = osb_watch_set(&listener->watch, OSB_READABLE);
    if (r < 0) {
        osb_listener_free(listener);
        return osb_fail(err, r, "watch listening descriptor %d: %s", fd, strerror(-r));
    }
    *ret = listener;
    return 0;
}

static int bind_tcp(const struct osb_address *address)
{
    _cleanup_close_ int fd =
        socket(address->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int yes = 1;
    int no = 0;
    if (fd < 0)
        return -errno;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) < 0)
        return -errno;
    if (address->any.sa_family == AF_INET6 &&
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no)) < 0)
        return -errno;
    if (bind(fd, &address->any, address->len) < 0 || listen(fd, SOMAXCONN) < 0)
        return -errno;
    return osb_take_fd(&fd);
}

int osb_listener_new_tcp(struct osb_loop *loop, const char *address, int port, osb_accept_fn *fn,
                         void *arg, struct osb_listener **ret, struct osb_err *err)
{
    struct osb_address parsed;
    int r = osb_address_parse_ip(&parsed, address, port, err);
    if (r < 0)
        return r;
    int fd = bind_tcp(&parsed);
    if (fd < 0)
        return osb_fail(err, fd, "listen on %s port %d: %s", address, port, strerror(-fd));
    return osb_listener_new_fd(loop, fd, fn, arg, ret, err);
}

/* Removes the socket of a process that is gone; one that is served is -EADDRINUSE. */
static int clear_path(const struct osb_address *address)
{
    struct stat st;
    if (lstat(address->un.sun_path, &st) < 0)
        return errno == ENOENT ? 0 : -errno;
    if (!S_ISSOCK(st.st_mode))
        return -EEXIST;
    _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (connect(fd, &address->any, address->len) == 0 || errno == EAGAIN) /* or its queue is full */
        return -EADDRINUSE;
    if (errno != ECONNREFUSED)
        return errno == ENOENT ? 0 : -errno;
    return unlink(address->un.sun_path) < 0 && errno != ENOENT ? -errno : 0;
}

static int bind_unix(const struct osb_address *address, mode_t mode)
{
    const char *path = address->un.sun_path;
    int r = clear_path(address);
    if (r < 0)
        return r;
    _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    /*
     * Linux gives the file the socket's mode less the umask: so it is never wider than asked for,
     * and chmod() adds what the umask took. Nobody can connect before listen().
     */
    if (fchmod(fd, mode) < 0 || bind(fd, &address->any, address->len) < 0)
        return -errno;
    if (chmod(path, mode) < 0 || listen(fd, SOMAXCONN) < 0) {
        r = -errno;
        unlink(path);
        return r;
    }
    return osb_take_fd(&fd);
}

int osb_listener_new_unix(struct osb_loop *loop, const char *path, mode_t mode, osb_accept_fn *fn,
                          void *arg, struct osb_listener **ret, struct osb_err *err)
{
    struct osb_address address;
    struct osb_listener *listener;
    struct stat st;
    int r = osb_address_parse_path(&address, path, err);
    if (r < 0)
        return r;
    int fd = bind_unix(&address, mode);
    if (fd < 0)
        return osb_fail(err, fd, "listen on %s: %s", path, strerror(-fd));
    r = osb_listener_new_fd(loop, fd, fn, arg, &listener, err);
    if (r < 0) {
        unlink(path);
        return r;
    }
    if (stat(path, &st) == 0) {
        listener->path = osb_strdup(path);
        listener->device = st.st_dev;
        listener->inode = st.st_ino;
    }
    *ret = listener;
    return 0;
}

int osb_listener_port(const struct osb_listener *listener)
{
    return listener->port;
}

/* A successor may have put its own socket there already. */
static bool owns_path(const struct osb_listener *listener)
{
    struct stat st;
    return listener->path && lstat(listener->path, &st) == 0 && st.st_dev == listener->device &&
           st.st_ino == listener->inode;
}

void osb_listener_free(struct osb_listener *listener)
{
    if (!listener)
        return;
    if (listener->is_freed)
        *listener->is_freed = true;
    osb_timer_stop(&listener->resume);
    osb_watch_stop(&listener->watch);
    if (owns_path(listener))
        unlink(listener->path);
    close(listener->fd);
    free(listener->path);
    free(listener);
}
