// SPDX-License-Identifier: Apache-2.0
/*
 * The shim's own port: /healthz and /livez (the loop turns), /readyz (it serves and the runtime can
 * be reached), /metrics (Prometheus text). No credentials, nothing of a pod.
 */
#ifndef SHIM_HEALTH_H
#define SHIM_HEALTH_H

#include <osb/err.h>
#include <osb/loop.h>
#include <osb/rpc.h>
#include <stdbool.h>

struct health;

/* BACKEND is borrowed. PORT 0 takes a free one. */
int health_new(struct osb_loop *loop, const char *host, int port, struct osb_rpc_channel *backend,
               struct health **ret, struct osb_err *err);
int health_port(const struct health *health);
/* From now on /readyz says no. */
void health_stopping(struct health *health);
/* NULL is allowed. */
void health_free(struct health *health);

#endif
