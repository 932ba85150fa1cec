// SPDX-License-Identifier: Apache-2.0
/*
 * Asks the execd of each marked pod whether it is there, as soon as the pod has an address: sooner
 * than the kubelet would say Ready. A restarted container is asked anew. Bounded: so many questions
 * at a time, retries after 20 ms with a back-off to one second, forgotten with the pod.
 */
#ifndef OPERATOR_PING_H
#define OPERATOR_PING_H

#include <osb/loop.h>
#include <stdbool.h>
#include <stdint.h>

#include "pod.h"

enum {
    PING_CONCURRENCY = 64,
    PING_TIMEOUT_MS = 1000,
    PING_BACKOFF_MIN_MS = 20,
    PING_BACKOFF_MAX_MS = 1000,
};

struct ping;

/*
 * Asks once: DONE gets 0 when the answer was 200, never from inside. Returns a handle for CANCEL or
 * NULL when it could not even begin (DONE does not run then).
 */
struct ping_asker {
    void *(*ask)(const char *address, void (*done)(int r, void *arg), void *arg, void *context);
    void (*cancel)(void *handle, void *context);
    void *context;
};

/*
 * TOLD is called when the execd of a pod has answered, and when it has not at the first question:
 * both end a time in which nothing was known of it.
 */
struct ping *ping_new(struct osb_loop *loop, const struct ping_asker *asker,
                      void (*told)(const char *namespace_, const char *owner_name, void *arg),
                      void *arg);
void ping_free(struct ping *ping);
/* Looks at a pod that was added or changed. */
void ping_observe(struct ping *ping, const struct pod *pod);
/* The pod is gone. */
void ping_forget(struct ping *ping, const char *pod_uid);
/* True when the execd of this pod, as it runs now, has answered. */
bool ping_has_answered(const struct ping *ping, const struct pod *pod);
/* True while the first question to it is on its way: nothing is known yet. */
bool ping_is_first(const struct ping *ping, const struct pod *pod);

#endif
