// SPDX-License-Identifier: Apache-2.0
/*
 * A work queue of keys ("namespace/name"): a key is queued once, never handed out twice at a time,
 * queued again when it was added while being worked on; delays and per-key exponential back-off
 * with jitter. And expectations: creations and deletions that a controller has asked for and not
 * yet seen come back by its watch.
 */
#ifndef OSB_KUBE_QUEUE_H
#define OSB_KUBE_QUEUE_H

#include <osb/loop.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    OSB_QUEUE_BACKOFF_MIN_MS = 5,
    OSB_QUEUE_BACKOFF_MAX_MS = 60000,
    OSB_EXPECTATION_TIMEOUT_MS = 60000,
};

struct osb_kube_queue;

/*
 * WORK is called on the loop for a key, never from inside another call of the queue; it must end
 * with osb_kube_queue_done(), at once or later. KEY is valid until then.
 */
typedef void osb_kube_work_fn(struct osb_kube_queue *queue, const char *key, void *arg);

/* At most CONCURRENCY keys are worked on at a time. SEED makes the jitter repeatable; 0: random. */
struct osb_kube_queue *osb_kube_queue_new(struct osb_loop *loop, int concurrency, uint64_t seed,
                                          osb_kube_work_fn *work, void *arg);
/* Work that has not ended is forgotten: osb_kube_queue_done() must not follow. */
void osb_kube_queue_free(struct osb_kube_queue *queue);
/* Nothing is handed out until resumed; a new queue runs. For caches that are not filled yet. */
void osb_kube_queue_pause(struct osb_kube_queue *queue);
void osb_kube_queue_resume(struct osb_kube_queue *queue);
void osb_kube_queue_add(struct osb_kube_queue *queue, const char *key);
/* Adds after a delay; an earlier pending time wins, and a key that is queued stays so. */
void osb_kube_queue_add_after(struct osb_kube_queue *queue, const char *key, uint64_t delay_ms);
/*
 * Ends the work on KEY: R < 0 queues it again after its back-off, 0 forgets the back-off;
 * REQUEUE_AFTER_MS > 0 also queues it then.
 */
void osb_kube_queue_done(struct osb_kube_queue *queue, const char *key, int r,
                         uint64_t requeue_after_ms);
/* Keys that are ready and wait for a free worker. */
size_t osb_kube_queue_depth(const struct osb_kube_queue *queue);
/* Keys that ended with an error so far. */
uint64_t osb_kube_queue_retries(const struct osb_kube_queue *queue);

struct osb_kube_expectations;

struct osb_kube_expectations *osb_kube_expectations_new(struct osb_loop *loop);
void osb_kube_expectations_free(struct osb_kube_expectations *expectations);
/* OWNER expects to see the creation (or deletion) of CHILD. */
void osb_kube_expect_create(struct osb_kube_expectations *e, const char *owner, const char *child);
void osb_kube_expect_delete(struct osb_kube_expectations *e, const char *owner, const char *child);
void osb_kube_observe_create(struct osb_kube_expectations *e, const char *owner, const char *child);
void osb_kube_observe_delete(struct osb_kube_expectations *e, const char *owner, const char *child);
/* True when nothing is outstanding, or what is has timed out (and is then forgotten). */
bool osb_kube_expectations_are_met(struct osb_kube_expectations *e, const char *owner,
                                   uint64_t *ret_remaining_ms);
void osb_kube_expectations_forget(struct osb_kube_expectations *e, const char *owner);

#endif
