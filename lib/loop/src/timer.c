// SPDX-License-Identifier: Apache-2.0
/* A binary heap ordered by deadline, then by the order in which timers were set. */
#include "core.h"
#include <osb/alloc.h>
#include <osb/clock.h>

static bool is_before(const struct osb_timer *a, const struct osb_timer *b)
{
    if (a->deadline_ns != b->deadline_ns)
        return a->deadline_ns < b->deadline_ns;
    return a->order < b->order;
}

static void put(struct osb_loop *loop, size_t at, struct osb_timer *timer)
{
    loop->heap[at] = timer;
    timer->heap_index = at + 1;
}

static void sift_up(struct osb_loop *loop, size_t at, struct osb_timer *timer)
{
    while (at > 0) {
        size_t parent = (at - 1) / 2;
        if (!is_before(timer, loop->heap[parent]))
            break;
        put(loop, at, loop->heap[parent]);
        at = parent;
    }
    put(loop, at, timer);
}

static void sift_down(struct osb_loop *loop, size_t at, struct osb_timer *timer)
{
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= loop->heap_len)
            break;
        if (child + 1 < loop->heap_len && is_before(loop->heap[child + 1], loop->heap[child]))
            child++;
        if (!is_before(loop->heap[child], timer))
            break;
        put(loop, at, loop->heap[child]);
        at = child;
    }
    put(loop, at, timer);
}

void osb_timer_init(struct osb_timer *timer, struct osb_loop *loop,
                    void (*fn)(struct osb_timer *timer), void *arg)
{
    *timer = (struct osb_timer){.loop = loop, .fn = fn, .arg = arg};
}

void osb_timer_set_at(struct osb_timer *timer, uint64_t deadline_ns)
{
    struct osb_loop *loop = timer->loop;
    uint64_t now_ns = osb_loop_now_ns(loop);
    osb_timer_stop(timer);
    /* Never in the past: else one that is set again and again would always be the first. */
    timer->deadline_ns = deadline_ns > now_ns ? deadline_ns : now_ns;
    timer->order = loop->timer_order++;
    osb_grow(loop->heap, loop->heap_len, loop->heap_cap);
    sift_up(loop, loop->heap_len++, timer);
}

void osb_timer_set(struct osb_timer *timer, uint64_t delay_ms)
{
    uint64_t delay_ns;
    uint64_t deadline_ns;
    if (__builtin_mul_overflow(delay_ms, OSB_NS_PER_MS, &delay_ns) ||
        __builtin_add_overflow(osb_loop_now_ns(timer->loop), delay_ns, &deadline_ns))
        deadline_ns = UINT64_MAX;
    osb_timer_set_at(timer, deadline_ns);
}

void osb_timer_stop(struct osb_timer *timer)
{
    if (timer->heap_index == 0)
        return;
    struct osb_loop *loop = timer->loop;
    size_t at = timer->heap_index - 1;
    struct osb_timer *last = loop->heap[--loop->heap_len];
    timer->heap_index = 0;
    if (last == timer)
        return;
    if (at > 0 && is_before(last, loop->heap[(at - 1) / 2]))
        sift_up(loop, at, last);
    else
        sift_down(loop, at, last);
}

bool osb_timer_is_set(const struct osb_timer *timer)
{
    return timer->heap_index != 0;
}

int64_t osb_timers_wait_ns(const struct osb_loop *loop)
{
    if (loop->heap_len == 0)
        return -1;
    uint64_t deadline_ns = loop->heap[0]->deadline_ns;
    if (deadline_ns <= loop->now_ns)
        return 0;
    uint64_t wait_ns = deadline_ns - loop->now_ns;
    return wait_ns > INT64_MAX ? INT64_MAX : (int64_t)wait_ns;
}

void osb_timers_fire(struct osb_loop *loop)
{
    uint64_t end = loop->timer_order;
    while (loop->heap_len > 0) {
        struct osb_timer *timer = loop->heap[0];
        if (timer->deadline_ns > loop->now_ns || timer->order >= end)
            break;
        osb_timer_stop(timer);
        loop->callbacks++;
        timer->fn(timer);
    }
}

void osb_timers_done(struct osb_loop *loop)
{
    for (size_t i = 0; i < loop->heap_len; i++)
        loop->heap[i]->heap_index = 0;
    loop->heap_len = 0;
}
