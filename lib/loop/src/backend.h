// SPDX-License-Identifier: Apache-2.0
/*
 * What differs between epoll, libuv and the simulation: a clock and waiting for descriptors.
 * Timers, deferred calls, posts, signals and children are built once above this (loop.c and
 * friends), so that all back ends behave alike.
 */
#ifndef OSB_LOOP_BACKEND_H
#define OSB_LOOP_BACKEND_H

#include <osb/loop.h>
#include <stdint.h>

struct osb_backend;

struct osb_backend_ops {
    /*
     * Makes the kernel report EVENTS of the watch's descriptor; the first call registers it.
     * EVENTS 0 keeps the registration but reports nothing. A second watch of the same descriptor
     * is -EEXIST.
     */
    int (*arm)(struct osb_backend *backend, struct osb_watch *watch, int events);
    /* Forgets the watch; it must not be touched afterwards, also when its event is at hand. */
    void (*remove)(struct osb_backend *backend, struct osb_watch *watch);
    /*
     * Waits at most TIMEOUT_NS (0: not at all, -1: for ever) and calls osb_watch_dispatch() for
     * what is ready. May return early with nothing. 0 or -errno.
     */
    int (*wait)(struct osb_backend *backend, int64_t timeout_ns);
    uint64_t (*now_ns)(const struct osb_backend *backend);
    int64_t (*realtime_ns)(const struct osb_backend *backend);
    /* Also marks watches that are still registered as stopped. */
    void (*free)(struct osb_backend *backend);
};

/* The first member of each back end's own struct. */
struct osb_backend {
    const struct osb_backend_ops *ops;
};

/* Makes a loop around BACKEND, which it takes in every case. */
int osb_loop_new_with(struct osb_backend *backend, struct osb_loop **ret, struct osb_err *err);
/* Called by a back end: READY of OSB_READABLE and OSB_WRITABLE. The watch may be freed after. */
void osb_watch_dispatch(struct osb_watch *watch, int ready);
/* Called by a back end that goes away while WATCH is registered. */
void osb_watch_forget(struct osb_watch *watch);

#endif
