// SPDX-License-Identifier: Apache-2.0
/*
 * Watches in an epoll instance. A watch is memory of the caller and may be freed while its event
 * sits in a batch that was already fetched; therefore the kernel holds no pointer but descriptor
 * and generation, and a table says which watch that is, if any still.
 */
#ifndef OSB_LOOP_EPOLL_SET_H
#define OSB_LOOP_EPOLL_SET_H

#include <osb/loop.h>
#include <stdint.h>

struct osb_epoll_slot {
    struct osb_watch *watch; /* NULL: free */
    uint32_t generation;     /* rises with each watch of this descriptor */
    bool is_in_kernel;
};

struct osb_epoll_set {
    int fd;
    struct osb_epoll_slot *slots; /* by descriptor */
    size_t slot_count;
};

int osb_epoll_set_init(struct osb_epoll_set *set, struct osb_err *err);
void osb_epoll_set_done(struct osb_epoll_set *set);
int osb_epoll_set_arm(struct osb_epoll_set *set, struct osb_watch *watch, int events);
void osb_epoll_set_remove(struct osb_epoll_set *set, struct osb_watch *watch);
/* Waits and dispatches; *RET_COUNT is the number of events fetched. */
int osb_epoll_set_wait(struct osb_epoll_set *set, int64_t timeout_ns, int *ret_count);

#endif
