// SPDX-License-Identifier: Apache-2.0
/*
 * The BatchSandbox controller: hears changes of BatchSandboxes, their pods and their execds, gives
 * the core what is observed, and carries out what it decides.
 *
 *     watch events, execd answers --> queue --> core (sandbox_reconcile.c) --> plan -->
 * sandbox_work.c
 *
 * What it keeps in memory only saves work: after a restart it learns the same again.
 */
#ifndef OPERATOR_SANDBOX_CONTROLLER_H
#define OPERATOR_SANDBOX_CONTROLLER_H

#include <osb/kube_queue.h>
#include <osb/list.h>
#include <osb/map.h>

#include "operator.h"

enum {
    SANDBOX_WRITES_AT_A_TIME = 16,  /* of one reconcile */
    SANDBOX_STALE_RETRY_MS = 1000,  /* the cache does not show our own write yet */
    SANDBOX_STALE_LIMIT_MS = 10000, /* then go on with what it shows */
};

/* What is remembered of one object between reconciles. */
struct sandbox_memory {
    char *create_reason; /* why pods could not be made; NULL when they could */
    char *create_error;
    uint64_t written_version; /* of our newest write; the cache must not be older */
    uint64_t written_ns;      /* loop time of it */
};

struct sandbox_controller {
    struct operator* op;
    struct osb_kube_queue *queue;
    struct osb_kube_expectations *expectations;
    struct osb_map memories; /* key to struct sandbox_memory */
    struct osb_map pulls;    /* pod UID to struct pull_watch */
    struct osb_list works;   /* what is being carried out */
    uint64_t seed;           /* of the queue's jitter */
    bool leads;
};

struct sandbox_controller *sandbox_controller_new(struct operator* op, uint64_t seed);
/* Cancels what is being carried out. */
void sandbox_controller_free(struct sandbox_controller *controller);
/*
 * A new controller only listens. While it leads, it reconciles everything there is and asks every
 * execd; both caches must be filled. When it leads no more, what is being carried out is cancelled
 * before this returns.
 */
void sandbox_controller_lead(struct sandbox_controller *controller, bool leads);
/* Something new is known of an execd of this object. */
void sandbox_controller_told(const char *namespace_, const char *owner_name, void *controller);
/* Gauges that are read when metrics are. */
void sandbox_controller_sample_metrics(const struct sandbox_controller *controller);

/* For sandbox_work.c. */
struct sandbox_memory *sandbox_memory_of(struct sandbox_controller *controller, const char *key);
void sandbox_memory_set_error(struct sandbox_memory *memory, const char *reason,
                              const char *message);

#endif
