// SPDX-License-Identifier: Apache-2.0
/* The back end of programs whose size counts, as execd. */
#include "backend.h"
#include "epoll_set.h"
#include <osb/alloc.h>
#include <osb/clock.h>

struct epoll_backend {
    struct osb_backend base;
    struct osb_epoll_set set;
};

static struct epoll_backend *downcast(struct osb_backend *backend)
{
    return osb_container_of(backend, struct epoll_backend, base);
}

static int epoll_arm(struct osb_backend *backend, struct osb_watch *watch, int events)
{
    return osb_epoll_set_arm(&downcast(backend)->set, watch, events);
}

static void epoll_remove(struct osb_backend *backend, struct osb_watch *watch)
{
    osb_epoll_set_remove(&downcast(backend)->set, watch);
}

static int epoll_backend_wait(struct osb_backend *backend, int64_t timeout_ns)
{
    int count;
    return osb_epoll_set_wait(&downcast(backend)->set, timeout_ns, &count);
}

static uint64_t epoll_now_ns(const struct osb_backend *backend)
{
    (void)backend;
    return osb_monotonic_ns();
}

static int64_t epoll_realtime_ns(const struct osb_backend *backend)
{
    (void)backend;
    return osb_realtime_ns();
}

static void epoll_free(struct osb_backend *backend)
{
    struct epoll_backend *self = downcast(backend);
    osb_epoll_set_done(&self->set);
    free(self);
}

static const struct osb_backend_ops epoll_ops = {
    .arm = epoll_arm,
    .remove = epoll_remove,
    .wait = epoll_backend_wait,
    .now_ns = epoll_now_ns,
    .realtime_ns = epoll_realtime_ns,
    .free = epoll_free,
};

int osb_loop_new_epoll(struct osb_loop **ret, struct osb_err *err)
{
    struct epoll_backend *self = osb_new(struct epoll_backend);
    self->base.ops = &epoll_ops;
    int r = osb_epoll_set_init(&self->set, err);
    if (r < 0) {
        free(self);
        return r;
    }
    return osb_loop_new_with(&self->base, ret, err);
}
