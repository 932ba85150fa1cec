// SPDX-License-Identifier: Apache-2.0
#include "address.h"
#include <osb/alloc.h>
#include <osb/stream.h>
#include <string.h>
#include <unistd.h>

enum {
    DEFAULT_TIMEOUT_MS = 10 * 1000,
    UNIX_RETRY_MS = 5, /* a UNIX socket whose queue is full does not say when it has room */
};

struct osb_connect {
    struct osb_loop *loop;
    struct osb_address address;
    int fd;
    int result; /* what the callback will be told */
    osb_connect_fn *fn;
    void *arg;
    struct osb_watch watch;
    struct osb_timer timeout;
    struct osb_timer retry;
    struct osb_defer done;
};

/* Frees the attempt and tells its owner. */
static void finish(struct osb_connect *attempt, int r)
{
    osb_connect_fn *fn = attempt->fn;
    void *arg = attempt->arg;
    struct osb_stream *stream = NULL;
    osb_watch_stop(&attempt->watch);
    if (r == 0) {
        osb_address_tune_tcp(&attempt->address, attempt->fd);
        r = osb_stream_from_fd(attempt->loop, osb_take_fd(&attempt->fd), &stream, NULL);
    }
    osb_connect_cancel(attempt);
    fn(stream, r, arg);
}

static void on_done(struct osb_defer *defer)
{
    struct osb_connect *attempt = defer->arg;
    finish(attempt, attempt->result);
}

static void on_timeout(struct osb_timer *timer)
{
    finish(timer->arg, -OSB_E_TIMEOUT);
}

static void on_writable(struct osb_watch *watch, int events)
{
    int error = 0;
    socklen_t len = sizeof(error);
    (void)events;
    if (getsockopt(watch->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        error = errno;
    finish(watch->arg, -error);
}

/* The result is never told from here: connect calls must return first. */
static void try_connect(struct osb_connect *attempt)
{
    int r = connect(attempt->fd, &attempt->address.any, attempt->address.len) < 0 ? -errno : 0;
    if (r == -EAGAIN) {
        osb_timer_set(&attempt->retry, UNIX_RETRY_MS);
        return;
    }
    if (r == -EINPROGRESS || r == -EINTR) {
        r = osb_watch_set(&attempt->watch, OSB_WRITABLE);
        if (r == 0)
            return;
    }
    attempt->result = r;
    osb_defer_post(&attempt->done);
}

static void on_retry(struct osb_timer *timer)
{
    try_connect(timer->arg);
}

static int start(struct osb_loop *loop, const struct osb_address *address, uint64_t timeout_ms,
                 osb_connect_fn *fn, void *arg, struct osb_connect **ret, struct osb_err *err)
{
    int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return osb_fail(err, -errno, "make a socket: %s", strerror(errno));
    struct osb_connect *attempt = osb_new(struct osb_connect);
    *attempt =
        (struct osb_connect){.loop = loop, .address = *address, .fd = fd, .fn = fn, .arg = arg};
    osb_watch_init(&attempt->watch, loop, fd, on_writable, attempt);
    osb_timer_init(&attempt->timeout, loop, on_timeout, attempt);
    osb_timer_init(&attempt->retry, loop, on_retry, attempt);
    osb_defer_init(&attempt->done, loop, on_done, attempt);
    osb_timer_set(&attempt->timeout, timeout_ms ? timeout_ms : DEFAULT_TIMEOUT_MS);
    try_connect(attempt);
    *ret = attempt;
    return 0;
}

int osb_connect_tcp(struct osb_loop *loop, const char *address, int port, uint64_t timeout_ms,
                    osb_connect_fn *fn, void *arg, struct osb_connect **ret, struct osb_err *err)
{
    struct osb_address parsed;
    int r = osb_address_parse_ip(&parsed, address, port, err);
    return r < 0 ? r : start(loop, &parsed, timeout_ms, fn, arg, ret, err);
}

int osb_connect_unix(struct osb_loop *loop, const char *path, uint64_t timeout_ms,
                     osb_connect_fn *fn, void *arg, struct osb_connect **ret, struct osb_err *err)
{
    struct osb_address parsed;
    int r = osb_address_parse_path(&parsed, path, err);
    return r < 0 ? r : start(loop, &parsed, timeout_ms, fn, arg, ret, err);
}

void osb_connect_cancel(struct osb_connect *attempt)
{
    if (!attempt)
        return;
    osb_watch_stop(&attempt->watch);
    osb_timer_stop(&attempt->timeout);
    osb_timer_stop(&attempt->retry);
    osb_defer_cancel(&attempt->done);
    if (attempt->fd >= 0)
        close(attempt->fd);
    free(attempt);
}
