// SPDX-License-Identifier: Apache-2.0
#include "epoll_set.h"
#include "backend.h"
#include <limits.h>
#include <osb/alloc.h>
#include <osb/clock.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { BATCH = 256 }; /* events a wait */

static uint64_t pack(int fd, uint32_t generation)
{
    return (uint64_t)generation << 32 | (uint32_t)fd;
}

int osb_epoll_set_init(struct osb_epoll_set *set, struct osb_err *err)
{
    *set = (struct osb_epoll_set){.fd = epoll_create1(EPOLL_CLOEXEC)};
    if (set->fd < 0)
        return osb_fail(err, -errno, "epoll_create1: %s", strerror(errno));
    return 0;
}

void osb_epoll_set_done(struct osb_epoll_set *set)
{
    for (size_t i = 0; i < set->slot_count; i++)
        if (set->slots[i].watch)
            osb_watch_forget(set->slots[i].watch);
    free(set->slots);
    if (set->fd >= 0)
        close(set->fd);
}

static struct osb_epoll_slot *slot_of(struct osb_epoll_set *set, int fd)
{
    size_t count = set->slot_count ? set->slot_count : 64;
    while (count <= (size_t)fd)
        count *= 2;
    if (count > set->slot_count) {
        set->slots = osb_realloc(set->slots, count * sizeof(*set->slots));
        memset(set->slots + set->slot_count, 0, (count - set->slot_count) * sizeof(*set->slots));
        set->slot_count = count;
    }
    return &set->slots[fd];
}

static int control(struct osb_epoll_set *set, const struct osb_epoll_slot *slot, int operation,
                   int events)
{
    int fd = slot->watch->fd;
    struct epoll_event event = {
        .events = (events & OSB_READABLE ? (uint32_t)EPOLLIN : 0) |
                  (events & OSB_WRITABLE ? (uint32_t)EPOLLOUT : 0),
        .data.u64 = pack(fd, slot->generation),
    };
    return epoll_ctl(set->fd, operation, fd, &event) < 0 ? -errno : 0;
}

static int add(struct osb_epoll_set *set, struct osb_epoll_slot *slot, struct osb_watch *watch,
               int events)
{
    slot->watch = watch;
    slot->generation++;
    int r = control(set, slot, EPOLL_CTL_ADD, events);
    if (r < 0)
        slot->watch = NULL;
    else
        slot->is_in_kernel = true;
    return r;
}

int osb_epoll_set_arm(struct osb_epoll_set *set, struct osb_watch *watch, int events)
{
    if (watch->fd < 0)
        return -EBADF;
    struct osb_epoll_slot *slot = slot_of(set, watch->fd);
    if (!slot->watch)
        return add(set, slot, watch, events);
    if (slot->watch != watch)
        return -EEXIST;
    /* An empty mask would still report errors and hang-ups, again and again. */
    int operation = events == 0          ? EPOLL_CTL_DEL
                    : slot->is_in_kernel ? EPOLL_CTL_MOD
                                         : EPOLL_CTL_ADD;
    int r = control(set, slot, operation, events);
    if (r == 0)
        slot->is_in_kernel = events != 0;
    return r;
}

void osb_epoll_set_remove(struct osb_epoll_set *set, struct osb_watch *watch)
{
    struct osb_epoll_slot *slot = slot_of(set, watch->fd);
    if (slot->watch != watch)
        return;
    if (slot->is_in_kernel)
        control(set, slot, EPOLL_CTL_DEL, 0);
    slot->watch = NULL;
    slot->is_in_kernel = false;
}

static void dispatch(struct osb_epoll_set *set, const struct epoll_event *event)
{
    int fd = (int)(uint32_t)event->data.u64;
    const struct osb_epoll_slot *slot = slot_of(set, fd);
    int ready = 0;
    if (!slot->watch || event->data.u64 != pack(fd, slot->generation))
        return; /* stopped by an earlier callback of this batch */
    if (event->events & (EPOLLIN | EPOLLERR | EPOLLHUP))
        ready |= OSB_READABLE;
    if (event->events & (EPOLLOUT | EPOLLERR | EPOLLHUP))
        ready |= OSB_WRITABLE;
    osb_watch_dispatch(slot->watch, ready);
}

/* Rounded up, so that a timer is never early. */
static int to_ms(int64_t timeout_ns)
{
    if (timeout_ns < 0)
        return -1;
    int64_t ms = timeout_ns / (int64_t)OSB_NS_PER_MS;
    if (ms >= INT_MAX)
        return INT_MAX;
    return (int)ms + (timeout_ns % (int64_t)OSB_NS_PER_MS ? 1 : 0);
}

int osb_epoll_set_wait(struct osb_epoll_set *set, int64_t timeout_ns, int *ret_count)
{
    struct epoll_event events[BATCH];
    int count = epoll_wait(set->fd, events, BATCH, to_ms(timeout_ns));
    *ret_count = count < 0 ? 0 : count;
    if (count < 0)
        return errno == EINTR ? 0 : -errno;
    for (int i = 0; i < count; i++)
        dispatch(set, &events[i]);
    return 0;
}
