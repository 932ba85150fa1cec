// SPDX-License-Identifier: Apache-2.0
/*
 * Which of several operators reconciles: the one that holds the Lease of the public controller's
 * name, so that the two never lead at once. The others serve REST from their own caches. Without
 * election the only operator leads from the start.
 */
#ifndef OPERATOR_LEADER_H
#define OPERATOR_LEADER_H

#include "operator.h"
#include "options.h"

#define LEADER_LEASE "2fa1c467.opensandbox.io"

struct leader;

/*
 * KUBE is borrowed: where the lease is, in its namespace ($POD_NAMESPACE wins). The lease has
 * connections of its own, so that no other traffic can keep a renewal waiting.
 */
int leader_new(struct operator* op, const struct osb_kube_config *kube,
               const struct options_election *election, const char *user_agent, struct leader **ret,
               struct osb_err *err);
void leader_free(struct leader *leader);
/* For when the caches are filled: who leads must know what there is. */
void leader_start(struct leader *leader);
/* Leads no more, and lets another take over at once. DONE runs later. */
void leader_release(struct leader *leader, void (*done)(void *arg), void *arg);
/* Gauges that are read when metrics are. */
void leader_sample_metrics(const struct leader *leader);

#endif
