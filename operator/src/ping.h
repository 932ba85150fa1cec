// SPDX-License-Identifier: Apache-2.0
/*
 * Asks the execd of each marked pod whether it is there, as soon as the pod has an address: sooner
 * than the kubelet would say Ready. A restarted container is asked anew, and so is one that the
 * kubelet, or the node's controller, no longer calls Ready.
 *
 * The kubelet tells what it did up to a second late, so it is the questions that must come close
 * together when an execd may be starting, without asking a slow one all the time: the pause before
 * the next one is an eighth of the time since the pod last got on (an address, an init container
 * that ended, a main container that runs), within limits. Many that wait share a rate. A question
 * that gets no answer at all (no route yet, a lost packet) is given up early at first.
 */
#ifndef OPERATOR_PING_H
#define OPERATOR_PING_H

#include <osb/loop.h>
#include <stdbool.h>
#include <stdint.h>

#include "pod.h"

enum {
    PING_CONCURRENCY = 64,
    PING_TIMEOUT_MIN_MS = 150,
    PING_TIMEOUT_MAX_MS = 1000, /* half of the time since the pod last got on, in between */
    PING_PAUSE_MIN_MS = 15,
    PING_PAUSE_EARLY_MS = 100, /* at least, while the init container that brings execd runs */
    PING_PAUSE_MAX_MS = 1000,
    PING_PAUSE_SHARE = 8,
    PING_GAP_MS = 2, /* between two questions, on average, when many wait */
};

struct ping;

/*
 * Asks once: DONE gets 0 when the answer was 200, never from inside. Returns a handle for CANCEL or
 * NULL when it could not even begin (DONE does not run then).
 */
struct ping_asker {
    void *(*ask)(const char *address, uint64_t timeout_ms, void (*done)(int r, void *arg),
                 void *arg, void *context);
    void (*cancel)(void *handle, void *context);
    void *context;
};

/*
 * TOLD is called when the execd of a pod has answered, when it has not at the first question (both
 * end a time in which nothing was known of it), and when it no longer does.
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
