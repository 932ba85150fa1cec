// SPDX-License-Identifier: Apache-2.0
/*
 * A virtual clock. Descriptors are real (pipes, children and posts of other threads work in tests)
 * but never waited for while a timer is set: waiting means that the clock jumps.
 */
#include "core.h"
#include "epoll_set.h"
#include <osb/alloc.h>
#include <osb/clock.h>

enum {
    SIM_START_S = 1000,         /* not 0, so that "never" and "at the start" differ */
    SIM_MAX_TURNS = 1000 * 1000 /* of one settle: beyond it something spins */
};

#define SIM_EPOCH_NS (INT64_C(1767225600) * INT64_C(1000000000)) /* 2026-01-01T00:00:00Z */

struct sim_backend {
    struct osb_backend base;
    struct osb_epoll_set set;
    uint64_t now_ns;
};

static struct sim_backend *downcast(struct osb_backend *backend)
{
    return osb_container_of(backend, struct sim_backend, base);
}

static int sim_arm(struct osb_backend *backend, struct osb_watch *watch, int events)
{
    return osb_epoll_set_arm(&downcast(backend)->set, watch, events);
}

static void sim_remove(struct osb_backend *backend, struct osb_watch *watch)
{
    osb_epoll_set_remove(&downcast(backend)->set, watch);
}

static int sim_wait(struct osb_backend *backend, int64_t timeout_ns)
{
    struct sim_backend *self = downcast(backend);
    int count;
    int r = osb_epoll_set_wait(&self->set, timeout_ns < 0 ? -1 : 0, &count);
    if (r == 0 && count == 0 && timeout_ns > 0)
        self->now_ns += (uint64_t)timeout_ns;
    return r;
}

static uint64_t sim_now_ns(const struct osb_backend *backend)
{
    return osb_container_of(backend, const struct sim_backend, base)->now_ns;
}

static int64_t sim_realtime_ns(const struct osb_backend *backend)
{
    uint64_t since_start_ns = sim_now_ns(backend) - SIM_START_S * OSB_NS_PER_S;
    return SIM_EPOCH_NS + (int64_t)since_start_ns;
}

static void sim_free(struct osb_backend *backend)
{
    struct sim_backend *self = downcast(backend);
    osb_epoll_set_done(&self->set);
    free(self);
}

static const struct osb_backend_ops sim_ops = {
    .arm = sim_arm,
    .remove = sim_remove,
    .wait = sim_wait,
    .now_ns = sim_now_ns,
    .realtime_ns = sim_realtime_ns,
    .free = sim_free,
};

int osb_loop_new_sim(struct osb_loop **ret, struct osb_err *err)
{
    struct sim_backend *self = osb_new(struct sim_backend);
    self->base.ops = &sim_ops;
    self->now_ns = SIM_START_S * OSB_NS_PER_S;
    int r = osb_epoll_set_init(&self->set, err);
    if (r < 0) {
        free(self);
        return r;
    }
    return osb_loop_new_with(&self->base, ret, err);
}

int osb_loop_sim_settle(struct osb_loop *loop)
{
    osb_assert(loop->backend->ops == &sim_ops);
    int total = 0;
    int turns = 0;
    for (int ran; (ran = osb_loop_turn(loop, 0)) > 0; total += ran)
        osb_assert(++turns < SIM_MAX_TURNS);
    return total;
}

void osb_loop_sim_advance(struct osb_loop *loop, uint64_t delta_ns)
{
    struct sim_backend *self = downcast(loop->backend);
    uint64_t end_ns = self->now_ns + delta_ns;
    osb_loop_sim_settle(loop);
    while (loop->heap_len > 0 && loop->heap[0]->deadline_ns <= end_ns) {
        self->now_ns = loop->heap[0]->deadline_ns;
        osb_loop_sim_settle(loop);
    }
    self->now_ns = end_ns;
    osb_loop_sim_settle(loop);
}
