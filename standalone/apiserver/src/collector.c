// SPDX-License-Identifier: Apache-2.0
#include "collector.h"
#include "event_expiry.h"
#include "gc.h"

#include <osb/alloc.h>
#include <osb/log.h>

enum {
    STEPS_PER_WRITE = 64,  /* objects of one write, so that clients get their turn between */
    RETRY_DELAY_MS = 1000, /* after a commit that failed */
};

struct collector {
    struct cluster *cluster;
    struct osb_map wanted; /* UIDs to look at; the values say nothing */
    struct osb_map busy;   /* UIDs of the write in flight, to be wanted again if it fails */
    struct write write;
    bool is_writing;
    struct osb_timer retry;
    struct osb_timer sweep;
    bool is_sweep_due; /* expired events are to be removed by the next write */
};

static void submit(struct collector *c);

static void on_retry(struct osb_timer *timer)
{
    submit(timer->arg);
}

static void on_sweep(struct osb_timer *timer)
{
    struct collector *c = timer->arg;
    c->is_sweep_due = true;
    osb_timer_set(timer, EVENT_SWEEP_MS);
    submit(c);
}

struct collector *collector_new(struct cluster *cluster)
{
    struct collector *c = osb_new(struct collector);
    c->cluster = cluster;
    osb_timer_init(&c->retry, cluster->loop, on_retry, c);
    osb_timer_init(&c->sweep, cluster->loop, on_sweep, c);
    osb_timer_set(&c->sweep, EVENT_SWEEP_MS);
    return c;
}

void collector_free(struct collector *c)
{
    if (!c)
        return;
    osb_timer_stop(&c->retry);
    osb_timer_stop(&c->sweep);
    osb_map_done(&c->wanted, NULL);
    osb_map_done(&c->busy, NULL);
    refusal_done(&c->write.refusal);
    free(c);
}

static int evaluate(struct write *write, struct txn *txn)
{
    struct collector *c = osb_container_of(write, struct collector, write);
    struct osb_map_entry *cursor = NULL;
    struct osb_slice key;
    if (c->is_sweep_due)
        events_expire(txn, &c->cluster->registry);
    c->is_sweep_due = false;
    for (int n = 0; n < STEPS_PER_WRITE; n++) {
        cursor = NULL;
        if (!osb_map_next(&c->wanted, &cursor, &key, NULL))
            break;
        _cleanup_free_ char *uid = osb_slice_dup(key);
        osb_map_remove(&c->wanted, osb_slice_str(uid));
        osb_map_set(&c->busy, osb_slice_str(uid), c);
        gc_step(txn, &c->cluster->registry, uid);
    }
    return 0;
}

static void done(struct write *write, int result)
{
    struct collector *c = osb_container_of(write, struct collector, write);
    c->is_writing = false;
    if (result < 0) {
        struct osb_map_entry *cursor = NULL;
        struct osb_slice key;
        while (osb_map_next(&c->busy, &cursor, &key, NULL))
            osb_map_set(&c->wanted, key, c);
        osb_timer_set(&c->retry, RETRY_DELAY_MS);
    }
    osb_map_done(&c->busy, NULL);
    refusal_done(&write->refusal);
    write->refusal = (struct refusal){0};
    if (result >= 0)
        submit(c);
}

static void submit(struct collector *c)
{
    bool has_work = c->wanted.count || c->is_sweep_due;
    if (c->is_writing || !has_work || osb_timer_is_set(&c->retry))
        return;
    c->is_writing = true;
    c->write.evaluate = evaluate;
    c->write.done = done;
    writer_submit(c->cluster->writer, &c->write);
}

static void want(const char *uid, void *arg)
{
    struct collector *c = arg;
    osb_map_set(&c->wanted, osb_slice_str(uid), c);
}

void collector_look(struct collector *c, uint64_t sequence)
{
    const struct event *event;
    for (; (event = history_at(&c->cluster->history, sequence)); sequence++)
        gc_affected(event, &c->cluster->cache, &c->cluster->registry, want, c);
    submit(c);
}

void collector_look_at_all(struct collector *c)
{
    for (int i = 0; i < c->cluster->registry.count; i++) {
        const struct collection *all =
            cache_list(&c->cluster->cache, c->cluster->registry.items[i]);
        for (size_t k = 0; k < all->count; k++)
            if (all->items[k]->owners[0] || all->items[k]->is_deleting)
                want(all->items[k]->uid, c);
    }
    submit(c);
}
