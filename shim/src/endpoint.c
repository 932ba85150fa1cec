// SPDX-License-Identifier: Apache-2.0
#include "endpoint.h"

#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <osb/log.h>
#include <osb/metric.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lock_file.h"

enum {
    ACCEPTS_PER_TURN = 64,
    PAUSE_MS = 1000, /* when descriptors run out */
};

struct endpoint {
    struct osb_loop *loop;
    const char *path;
    void (*fn)(int fd, void *arg);
    void *arg;
    int lock;
    int fd; /* listens; -1 when stopped */
    dev_t device;
    ino_t inode;
    struct osb_watch watch;
    struct osb_timer resume;
    struct osb_metric *accepted;
    struct osb_metric *strangers;
    struct osb_metric *over_limit;
};

/* ---- the socket ---- */

static int fill_address(struct sockaddr_un *address, const char *path, struct osb_err *err)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address->sun_path))
        return osb_fail(err, -ENAMETOOLONG, "%s is longer than a socket's name may be", path);
    memcpy(address->sun_path, path, strlen(path));
    return 0;
}

/* 0 when nobody serves PATH and it may be replaced. */
static int check_free(const char *path, struct osb_err *err)
{
    struct sockaddr_un address;
    struct stat st;
    int r = fill_address(&address, path, err);

    if (r < 0)
        return r;
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : osb_fail(err, -errno, "%s: %s", path, strerror(errno));
    if (!S_ISSOCK(st.st_mode))
        return osb_fail(err, -EEXIST, "%s is there and is no socket", path);
    _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return osb_fail(err, -errno, "socket: %s", strerror(errno));
    /* EAGAIN: its queue is full, so somebody has it. */
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 || errno == EAGAIN)
        return osb_fail(err, -EADDRINUSE, "%s is served by another process", path);
    if (errno != ECONNREFUSED && errno != ENOENT)
        return osb_fail(err, -errno, "%s: %s", path, strerror(errno));
    return 0;
}

/*
 * Linux gives the file the socket's mode less the umask, so it is never wider than asked for;
 * chmod() adds what the umask took. It listens before it gets its name.
 */
static int bind_and_listen(const char *path, struct osb_err *err)
{
    struct sockaddr_un address;
    int r = fill_address(&address, path, err);

    if (r < 0)
        return r;
    _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return osb_fail(err, -errno, "socket: %s", strerror(errno));
    if (unlink(path) < 0 && errno != ENOENT)
        return osb_fail(err, -errno, "remove %s: %s", path, strerror(errno));
    if (fchmod(fd, ENDPOINT_MODE) < 0 ||
        bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        chmod(path, ENDPOINT_MODE) < 0 || listen(fd, SOMAXCONN) < 0)
        return osb_fail(err, -errno, "listen on %s: %s", path, strerror(errno));
    return osb_take_fd(&fd);
}

static int open_socket(struct endpoint *endpoint, struct osb_err *err)
{
    _cleanup_free_ char *temporary = osb_asprintf("%s.new", endpoint->path);
    struct stat st;
    int r = check_free(endpoint->path, err);

    if (r < 0)
        return r;
    r = bind_and_listen(temporary, err);
    if (r < 0)
        return r;
    endpoint->fd = r;
    if (stat(temporary, &st) < 0 || rename(temporary, endpoint->path) < 0) {
        r = -errno;
        unlink(temporary);
        return osb_fail(err, r, "put a socket at %s: %s", endpoint->path, strerror(-r));
    }
    endpoint->device = st.st_dev;
    endpoint->inode = st.st_ino;
    return 0;
}

/* ---- accepting ---- */

static bool is_allowed(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
           (peer.uid == 0 || peer.uid == geteuid());
}

static void hand_over(struct endpoint *endpoint, int accepted)
{
    _cleanup_close_ int fd = accepted;

    if (!is_allowed(fd)) {
        osb_metric_add(endpoint->strangers, 1);
        osb_log(OSB_LOG_WARN, "a connection of another user was closed");
        return;
    }
    /* The kernel gives the lowest free number: as many descriptors are open. */
    if (fd >= ENDPOINT_CONNECTIONS_MAX) {
        osb_metric_add(endpoint->over_limit, 1);
        return;
    }
    osb_metric_add(endpoint->accepted, 1);
    endpoint->fn(osb_take_fd(&fd), endpoint->arg);
}

/* True when there may be more to accept. */
static bool accept_one(struct endpoint *endpoint)
{
    int fd = accept4(endpoint->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd >= 0) {
        hand_over(endpoint, fd);
        return true;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        osb_log(OSB_LOG_WARN, "cannot accept", OSB_KV_STR("error", strerror(errno)),
                OSB_KV_INT("delay_ms", PAUSE_MS));
        osb_watch_stop(&endpoint->watch);
        osb_timer_set(&endpoint->resume, PAUSE_MS);
        return false;
    }
    return errno != EAGAIN; /* else of that connection alone (accept(2)) */
}

static void on_readable(struct osb_watch *watch, int events)
{
    struct endpoint *endpoint = watch->arg;

    (void)events;
    for (int i = 0; i < ACCEPTS_PER_TURN && endpoint->fd >= 0; i++)
        if (!accept_one(endpoint))
            break;
}

static void on_resume(struct osb_timer *timer)
{
    struct endpoint *endpoint = timer->arg;

    if (osb_watch_set(&endpoint->watch, OSB_READABLE) < 0)
        osb_timer_set(timer, PAUSE_MS);
}

/* ---- life ---- */

static void raise_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= ENDPOINT_DESCRIPTORS_MAX)
        return;
    limit.rlim_cur =
        limit.rlim_max < ENDPOINT_DESCRIPTORS_MAX ? limit.rlim_max : ENDPOINT_DESCRIPTORS_MAX;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur < ENDPOINT_DESCRIPTORS_MAX)
        osb_log(OSB_LOG_WARN, "fewer descriptors than planned",
                OSB_KV_INT("count", limit.rlim_cur));
}

static void count(struct endpoint *endpoint)
{
    static const char refused[] = "opensandbox_shim_connections_refused_total";
    static const char help[] = "Connections that were closed at once";

    endpoint->accepted = osb_metric_new(OSB_METRIC_COUNTER, "opensandbox_shim_connections_total",
                                        "Connections taken", NULL);
    endpoint->strangers = osb_metric_new(OSB_METRIC_COUNTER, refused, help, "reason=\"user\"");
    endpoint->over_limit = osb_metric_new(OSB_METRIC_COUNTER, refused, help, "reason=\"limit\"");
}

int endpoint_new(struct osb_loop *loop, const char *path, void (*fn)(int fd, void *arg), void *arg,
                 struct endpoint **ret, struct osb_err *err)
{
    _cleanup_free_ char *lock = osb_asprintf("%s.lock", path);
    struct endpoint *endpoint = osb_new(struct endpoint);
    int r;

    *endpoint =
        (struct endpoint){.loop = loop, .path = path, .fn = fn, .arg = arg, .lock = -1, .fd = -1};
    osb_timer_init(&endpoint->resume, loop, on_resume, endpoint);
    count(endpoint);
    raise_descriptors();
    r = lock_file_take(lock, &endpoint->lock, err);
    if (r >= 0)
        r = open_socket(endpoint, err);
    if (r < 0) {
        endpoint_free(endpoint);
        return r;
    }
    *ret = endpoint;
    return 0;
}

int endpoint_start(struct endpoint *endpoint, struct osb_err *err)
{
    int r;

    osb_watch_init(&endpoint->watch, endpoint->loop, endpoint->fd, on_readable, endpoint);
    r = osb_watch_set(&endpoint->watch, OSB_READABLE);
    return r < 0 ? osb_fail(err, r, "watch %s: %s", endpoint->path, strerror(-r)) : 0;
}

static bool owns_path(const struct endpoint *endpoint)
{
    struct stat st;

    return endpoint->inode && lstat(endpoint->path, &st) == 0 && st.st_dev == endpoint->device &&
           st.st_ino == endpoint->inode;
}

void endpoint_stop(struct endpoint *endpoint)
{
    if (endpoint->fd < 0)
        return;
    osb_timer_stop(&endpoint->resume);
    osb_watch_stop(&endpoint->watch);
    if (owns_path(endpoint))
        unlink(endpoint->path);
    close(endpoint->fd);
    endpoint->fd = -1;
}

void endpoint_free(struct endpoint *endpoint)
{
    if (!endpoint)
        return;
    endpoint_stop(endpoint);
    if (endpoint->lock >= 0)
        close(endpoint->lock);
    free(endpoint);
}
