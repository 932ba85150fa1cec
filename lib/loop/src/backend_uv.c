// SPDX-License-Identifier: Apache-2.0
/*
 * The back end of daemons. libuv waits for descriptors (uv_poll); its timers are used only to
 * bound a wait, because ours order equal deadlines and can be virtual.
 */
#include "backend.h"
#include <limits.h>
#include <osb/alloc.h>
#include <osb/clock.h>
#include <uv.h>

struct uv_backend {
    struct osb_backend base;
    uv_loop_t uv;
    uv_timer_t timeout;
};

/* Outlives its watch until libuv says that the handle is closed. */
struct poll_handle {
    uv_poll_t poll;
    struct osb_watch *watch; /* NULL once removed */
};

static struct uv_backend *downcast(struct osb_backend *backend)
{
    return osb_container_of(backend, struct uv_backend, base);
}

static void on_poll_closed(uv_handle_t *handle)
{
    free(osb_container_of(handle, struct poll_handle, poll));
}

static int start(struct poll_handle *handle, int events);

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct poll_handle *handle = osb_container_of(poll, struct poll_handle, poll);
    struct osb_watch *watch = handle->watch;
    int ready = 0;
    if (events & UV_READABLE)
        ready |= OSB_READABLE;
    if (events & UV_WRITABLE)
        ready |= OSB_WRITABLE;
    if (status < 0) {
        /* libuv stops polling a descriptor in error; a level-triggered watch goes on. */
        ready = OSB_READABLE | OSB_WRITABLE;
        start(handle, watch->armed);
    }
    osb_watch_dispatch(watch, ready);
}

static int start(struct poll_handle *handle, int events)
{
    int wanted = 0;
    if (events & OSB_READABLE)
        wanted |= UV_READABLE;
    if (events & OSB_WRITABLE)
        wanted |= UV_WRITABLE;
    return wanted ? uv_poll_start(&handle->poll, wanted, on_poll) : uv_poll_stop(&handle->poll);
}

static void uv_backend_remove(struct osb_backend *backend, struct osb_watch *watch)
{
    struct poll_handle *handle = watch->backend;
    (void)backend;
    handle->watch = NULL;
    watch->backend = NULL;
    uv_close((uv_handle_t *)&handle->poll, on_poll_closed);
}

static int uv_backend_arm(struct osb_backend *backend, struct osb_watch *watch, int events)
{
    if (watch->is_registered)
        return start(watch->backend, events);
    if (watch->fd < 0)
        return -EBADF;
    struct poll_handle *handle = osb_new(struct poll_handle);
    int r = uv_poll_init(&downcast(backend)->uv, &handle->poll, watch->fd);
    if (r < 0) {
        free(handle);
        return r;
    }
    handle->watch = watch;
    watch->backend = handle;
    r = start(handle, events);
    if (r < 0)
        uv_backend_remove(backend, watch);
    return r;
}

/*
 * uv_run() fires timers before it polls, too. On a slow machine the time may be over by then, and
 * without another timer it would poll for ever: stopping makes that poll one that does not wait.
 */
static void on_timeout(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

static int uv_backend_wait(struct osb_backend *backend, int64_t timeout_ns)
{
    struct uv_backend *self = downcast(backend);
    if (timeout_ns > 0) {
        uint64_t ms = ((uint64_t)timeout_ns + OSB_NS_PER_MS - 1) / OSB_NS_PER_MS;
        uv_update_time(&self->uv);
        uv_timer_start(&self->timeout, on_timeout, ms, 0);
    }
    uv_run(&self->uv, timeout_ns == 0 ? UV_RUN_NOWAIT : UV_RUN_ONCE);
    uv_timer_stop(&self->timeout);
    return 0;
}

static uint64_t uv_now_ns(const struct osb_backend *backend)
{
    (void)backend;
    return osb_monotonic_ns();
}

static int64_t uv_realtime_ns(const struct osb_backend *backend)
{
    (void)backend;
    return osb_realtime_ns();
}

static void close_handle(uv_handle_t *handle, void *arg)
{
    (void)arg;
    if (uv_is_closing(handle))
        return;
    if (handle->type != UV_POLL) {
        uv_close(handle, NULL);
        return;
    }
    struct poll_handle *poll = osb_container_of(handle, struct poll_handle, poll);
    osb_watch_forget(poll->watch);
    uv_close(handle, on_poll_closed);
}

static void uv_backend_free(struct osb_backend *backend)
{
    struct uv_backend *self = downcast(backend);
    uv_walk(&self->uv, close_handle, NULL);
    uv_run(&self->uv, UV_RUN_DEFAULT); /* until the last close was told */
    osb_assert(uv_loop_close(&self->uv) == 0);
    free(self);
}

static const struct osb_backend_ops uv_ops = {
    .arm = uv_backend_arm,
    .remove = uv_backend_remove,
    .wait = uv_backend_wait,
    .now_ns = uv_now_ns,
    .realtime_ns = uv_realtime_ns,
    .free = uv_backend_free,
};

int osb_loop_new_uv(struct osb_loop **ret, struct osb_err *err)
{
    struct uv_backend *self = osb_new(struct uv_backend);
    self->base.ops = &uv_ops;
    int r = uv_loop_init(&self->uv);
    if (r < 0) {
        free(self);
        return osb_fail(err, r, "make a libuv loop: %s", uv_strerror(r));
    }
    uv_timer_init(&self->uv, &self->timeout);
    return osb_loop_new_with(&self->base, ret, err);
}
