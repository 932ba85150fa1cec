// SPDX-License-Identifier: Apache-2.0
/* The work queue. A key has an item while it is queued, delayed, worked on or backing off. */
#include <osb/alloc.h>
#include <osb/kube_queue.h>
#include <osb/map.h>
#include <osb/uuid.h>

#include <stdlib.h>
#include <string.h>

#include "jitter.h"

struct item {
    struct osb_kube_queue *queue;
    char *key;
    struct osb_list link; /* in `ready` */
    struct osb_timer timer;
    int failures; /* in a row */
    bool is_ready;
    bool is_working;
    bool is_dirty; /* added while being worked on */
};

struct osb_kube_queue {
    struct osb_loop *loop;
    osb_kube_work_fn *work;
    void *arg;
    struct osb_map items;
    struct osb_list ready;
    size_t ready_count;
    int concurrency;
    int working_count;
    bool is_paused;
    struct osb_defer dispatch;
    uint64_t random;
    uint64_t retries;
};

static void run_ready(struct osb_defer *defer);

struct osb_kube_queue *osb_kube_queue_new(struct osb_loop *loop, int concurrency, uint64_t seed,
                                          osb_kube_work_fn *work, void *arg)
{
    osb_assert(concurrency > 0);
    struct osb_kube_queue *queue = osb_new(struct osb_kube_queue);
    queue->loop = loop;
    queue->work = work;
    queue->arg = arg;
    queue->concurrency = concurrency;
    queue->random = jitter_seed(seed);
    osb_list_init(&queue->ready);
    osb_defer_init(&queue->dispatch, loop, run_ready, queue);
    return queue;
}

static void item_free(void *value)
{
    struct item *item = value;
    osb_timer_stop(&item->timer);
    osb_list_remove(&item->link);
    free(item->key);
    free(item);
}

void osb_kube_queue_free(struct osb_kube_queue *queue)
{
    if (!queue)
        return;
    osb_defer_cancel(&queue->dispatch);
    osb_map_done(&queue->items, item_free);
    free(queue);
}

/* Frees an item that holds nothing any more. */
static void forget_idle(struct osb_kube_queue *queue, struct item *item)
{
    if (item->is_ready || item->is_working || item->failures || osb_timer_is_set(&item->timer))
        return;
    osb_map_remove(&queue->items, osb_slice_str(item->key));
    item_free(item);
}

static void make_ready(struct item *item)
{
    osb_timer_stop(&item->timer);
    if (item->is_working) {
        item->is_dirty = true;
        return;
    }
    if (item->is_ready)
        return;
    item->is_ready = true;
    osb_list_append(&item->queue->ready, &item->link);
    item->queue->ready_count++;
    osb_defer_post(&item->queue->dispatch);
}

static void on_due(struct osb_timer *timer)
{
    make_ready(timer->arg);
}

static struct item *item_of(struct osb_kube_queue *queue, const char *key)
{
    struct item *item = osb_map_get(&queue->items, osb_slice_str(key));
    if (item)
        return item;
    item = osb_new(struct item);
    item->queue = queue;
    item->key = osb_strdup(key);
    osb_timer_init(&item->timer, queue->loop, on_due, item);
    osb_map_set(&queue->items, osb_slice_str(key), item);
    return item;
}

void osb_kube_queue_add(struct osb_kube_queue *queue, const char *key)
{
    make_ready(item_of(queue, key));
}

static void delay(struct item *item, uint64_t delay_ms)
{
    if (item->is_ready || item->is_dirty)
        return;
    uint64_t deadline_ns = osb_loop_now_ns(item->queue->loop) + delay_ms * 1000000ULL;
    if (osb_timer_is_set(&item->timer) && item->timer.deadline_ns <= deadline_ns)
        return;
    osb_timer_set_at(&item->timer, deadline_ns);
}

void osb_kube_queue_add_after(struct osb_kube_queue *queue, const char *key, uint64_t delay_ms)
{
    struct item *item = item_of(queue, key);
    if (delay_ms == 0)
        make_ready(item);
    else
        delay(item, delay_ms);
}

static void run_ready(struct osb_defer *defer)
{
    struct osb_kube_queue *queue = defer->arg;
    while (!queue->is_paused && queue->working_count < queue->concurrency) {
        struct item *item = osb_list_first(&queue->ready, struct item, link);
        if (!item)
            return;
        osb_list_remove(&item->link);
        queue->ready_count--;
        item->is_ready = false;
        item->is_working = true;
        queue->working_count++;
        queue->work(queue, item->key, queue->arg);
    }
}

void osb_kube_queue_done(struct osb_kube_queue *queue, const char *key, int r,
                         uint64_t requeue_after_ms)
{
    struct item *item = osb_map_get(&queue->items, osb_slice_str(key));
    osb_assert(item && item->is_working);
    item->is_working = false;
    queue->working_count--;
    if (r < 0) {
        queue->retries++;
        delay(item, jitter_backoff_ms(&queue->random, item->failures++, OSB_QUEUE_BACKOFF_MIN_MS,
                                      OSB_QUEUE_BACKOFF_MAX_MS));
    } else {
        item->failures = 0;
    }
    if (requeue_after_ms > 0)
        delay(item, requeue_after_ms);
    if (item->is_dirty) {
        item->is_dirty = false;
        make_ready(item);
    }
    osb_defer_post(&queue->dispatch);
    forget_idle(queue, item);
}

void osb_kube_queue_pause(struct osb_kube_queue *queue)
{
    queue->is_paused = true;
}

void osb_kube_queue_resume(struct osb_kube_queue *queue)
{
    queue->is_paused = false;
    osb_defer_post(&queue->dispatch);
}

size_t osb_kube_queue_depth(const struct osb_kube_queue *queue)
{
    return queue->ready_count;
}

uint64_t osb_kube_queue_retries(const struct osb_kube_queue *queue)
{
    return queue->retries;
}
