// SPDX-License-Identifier: Apache-2.0
#include "writer.h"

#include <osb/alloc.h>
#include <osb/log.h>
#include <osb/metric.h>

enum { COMMIT_KEY = 1 /* commits run one after the other */ };

struct writer {
    struct writer_options o;
    struct osb_list queue; /* not yet evaluated */
    size_t queued;
    struct osb_list batch; /* evaluated, being committed */
    struct txn txn;
    struct osb_defer defer;
    struct store_change *changes;
    uint64_t revision; /* last one given out, also to a batch that failed */
    bool is_committing;
    struct osb_err err; /* written by the worker */
    struct osb_metric *commits, *writes, *failures;
};

static void start_batch(struct writer *w);

static void on_defer(struct osb_defer *defer)
{
    start_batch(defer->arg);
}

struct writer *writer_new(const struct writer_options *options)
{
    struct writer *w = osb_new(struct writer);
    w->o = *options;
    w->revision = options->cache->revision;
    osb_list_init(&w->queue);
    osb_list_init(&w->batch);
    osb_defer_init(&w->defer, options->loop, on_defer, w);
    w->commits = osb_metric_new(OSB_METRIC_COUNTER, "apiserver_store_commits_total",
                                "Transactions on disk", NULL);
    w->writes =
        osb_metric_new(OSB_METRIC_COUNTER, "apiserver_store_events_total", "Changes on disk", NULL);
    w->failures = osb_metric_new(OSB_METRIC_COUNTER, "apiserver_store_failures_total",
                                 "Transactions that failed", NULL);
    return w;
}

static void finish(struct write *write, int result)
{
    osb_list_remove(&write->link);
    write->done(write, result);
}

void writer_free(struct writer *w)
{
    if (!w)
        return;
    osb_defer_cancel(&w->defer);
    struct write *write, *next;
    osb_list_foreach_safe (write, next, &w->batch, link)
        finish(write, refuse(&write->refusal, 503, "ServiceUnavailable", "shutting down"));
    osb_list_foreach_safe (write, next, &w->queue, link)
        finish(write, refuse(&write->refusal, 503, "ServiceUnavailable", "shutting down"));
    txn_done(&w->txn);
    free(w->changes);
    free(w);
}

bool writer_is_idle(const struct writer *w)
{
    return !w->is_committing && osb_list_is_empty(&w->queue);
}

/* On the worker: no loop state is touched. */
static int commit_work(void *arg)
{
    struct writer *w = arg;
    return store_commit(w->o.store, w->changes, (int)w->txn.count, &w->err);
}

static void answer_batch(struct writer *w, int r)
{
    struct write *write, *next;
    osb_list_foreach_safe (write, next, &w->batch, link) {
        if (r < 0 && write->has_changed)
            write->result = refuse_err(&write->refusal, &w->err);
        finish(write, write->result);
    }
}

static void commit_done(int r, void *arg)
{
    struct writer *w = arg;
    uint64_t sequence = w->o.history->next;
    w->is_committing = false;
    free(w->changes);
    w->changes = NULL;
    if (r >= 0) {
        osb_metric_add(w->commits, 1);
        osb_metric_add(w->writes, (int64_t)w->txn.count);
        txn_apply(&w->txn, w->o.cache, w->o.history);
    } else {
        osb_metric_add(w->failures, 1);
        if (!w->err.code)
            osb_fail(&w->err, r, "the store was stopped");
        osb_log(OSB_LOG_ERROR, "commit failed", OSB_KV_ERR(&w->err),
                OSB_KV_INT("count", w->txn.count));
        txn_done(&w->txn);
    }
    answer_batch(w, r);
    if (r >= 0)
        w->o.on_committed(sequence, w->o.arg);
    if (!osb_list_is_empty(&w->queue))
        osb_defer_post(&w->defer);
}

static void make_changes(struct writer *w)
{
    w->changes = osb_calloc(w->txn.count, sizeof(*w->changes));
    for (size_t i = 0; i < w->txn.count; i++) {
        const struct event *event = &w->txn.events[i];
        w->changes[i] = (struct store_change){
            .type = event->type,
            .revision = event->revision,
            .resource = event->object->resource->storage_name,
            .key = event->object->key,
            .object = event->object->text,
            .previous = event->previous ? event->previous->text : OSB_SLICE_NULL,
        };
    }
}

static void evaluate(struct writer *w, struct write *write)
{
    size_t before = w->txn.count;
    osb_list_remove(&write->link);
    w->queued--;
    osb_list_append(&w->batch, &write->link);
    write->result = write->evaluate(write, &w->txn);
    write->has_changed = w->txn.count != before;
    osb_assert(write->result >= 0 || !write->has_changed);
}

static void start_batch(struct writer *w)
{
    if (w->is_committing || osb_list_is_empty(&w->queue))
        return;
    txn_init(&w->txn, w->o.cache, w->revision, osb_loop_realtime_ns(w->o.loop));
    for (int n = 0; n < WRITER_MAX_BATCH && !osb_list_is_empty(&w->queue); n++)
        evaluate(w, osb_list_first(&w->queue, struct write, link));
    w->revision = w->txn.revision;
    w->err = (struct osb_err){0};
    w->is_committing = true;
    if (!w->txn.count) { /* only refusals and changes that change nothing */
        commit_done(0, w);
        return;
    }
    make_changes(w);
    int r = osb_workers_submit(w->o.workers, COMMIT_KEY, commit_work, commit_done, w);
    if (r < 0) {
        osb_fail(&w->err, r, "the commit worker takes no more work");
        commit_done(r, w);
    }
}

void writer_submit(struct writer *w, struct write *write)
{
    if (w->queued >= WRITER_MAX_QUEUE) {
        write->done(write, refuse(&write->refusal, 429, "TooManyRequests",
                                  "too many writes wait, try again later"));
        return;
    }
    osb_list_append(&w->queue, &write->link);
    w->queued++;
    if (!w->is_committing)
        osb_defer_post(&w->defer);
}
