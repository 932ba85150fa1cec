// SPDX-License-Identifier: Apache-2.0
/*
 * Leader election: of several candidates one holds a Lease of coordination.k8s.io/v1, renews it,
 * and lets go of it in time when it cannot. The rules and the fields are those of the Kubernetes
 * client library, so that candidates of both kinds take turns.
 *
 * No clock of another machine is trusted: a holder is given up when the object has not changed for
 * the lease's duration by our own clock. A holder leads until its renewal deadline after the moment
 * at which it asked for its last renewal, which is before anybody can have begun to count.
 */
#ifndef OSB_KUBE_LEASE_H
#define OSB_KUBE_LEASE_H

#include <osb/kube_client.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    OSB_LEASE_DURATION_MS = 15000,
    OSB_LEASE_MIN_DURATION_MS = 1000, /* the object counts in seconds */
    OSB_LEASE_RENEW_DEADLINE_MS = 10000,
    OSB_LEASE_RETRY_MS = 2000,
    OSB_LEASE_RELEASE_TIMEOUT_MS = 2000,
    /* A record of somebody else cannot make us wait for longer. */
    OSB_LEASE_MAX_DURATION_MS = 3600 * 1000,
};

struct osb_kube_lease_options {
    const char *namespace_;
    const char *name;
    const char *identity; /* of this candidate; no other may have it */
    /* 0: as above. The deadline is shorter than the duration, the retry shorter than that. */
    uint64_t duration_ms;
    uint64_t renew_deadline_ms;
    uint64_t retry_ms;
    uint64_t seed; /* of the jitter; 0: random */
    /* Loop thread. Once it says that we do not lead, nothing may be written any more. */
    void (*on_change)(bool leads, void *arg);
    /* An attempt failed, or another holds the lease since (R 0, ERR NULL); may be NULL. */
    void (*on_note)(int r, const char *holder, const struct osb_err *err, void *arg);
    void *arg;
};

struct osb_kube_lease;

/* Strings are copied, CLIENT is borrowed. Nothing is sent before osb_kube_lease_start(). */
struct osb_kube_lease *osb_kube_lease_new(struct osb_loop *loop, struct osb_kube_client *client,
                                          const struct osb_kube_lease_options *options);
void osb_kube_lease_start(struct osb_kube_lease *lease);
/* Free without release keeps others waiting for the lease's duration. */
void osb_kube_lease_free(struct osb_kube_lease *lease);
bool osb_kube_lease_leads(const struct osb_kube_lease *lease);
/* The last holder seen; "" when there is none. Valid until the next turn of the loop. */
const char *osb_kube_lease_holder(const struct osb_kube_lease *lease);
/* How often this candidate has begun to lead. */
uint64_t osb_kube_lease_terms(const struct osb_kube_lease *lease);
/*
 * Leads no more (on_change is told first) and gives the lease back, so that another takes it at
 * once. DONE runs later, never from inside, after OSB_LEASE_RELEASE_TIMEOUT_MS at the latest.
 */
void osb_kube_lease_release(struct osb_kube_lease *lease, void (*done)(void *arg), void *arg);

#endif
