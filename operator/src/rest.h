// SPDX-License-Identifier: Apache-2.0
/*
 * The lifecycle REST API: a facade over BatchSandboxes that keeps no state of its own. Reads are
 * answered from the watch cache, writes go to the API server, waits are waits on the cache. All of
 * it belongs to the loop thread.
 */
#ifndef OPERATOR_REST_H
#define OPERATOR_REST_H

#include <osb/err.h>

struct operator;
struct rest;

/*
 * Listens on the configured address. Refuses to start without an API key unless the configuration
 * says that this is wanted. OP must outlive it; call this before the reflectors are started.
 */
int rest_new(struct operator* op, struct rest **ret, struct osb_err *err);
/* The bound port. */
int rest_port(const struct rest *rest);
/*
 * Accepts nothing new, answers what waits (creates: 202 Pending), and calls DONE once all is
 * answered and undone, or when the configured time is over.
 */
void rest_drain(struct rest *rest, void (*done)(void *arg), void *arg);
/* Cuts what still runs. NULL is allowed. No change may reach the caches afterwards. */
void rest_free(struct rest *rest);

#endif
