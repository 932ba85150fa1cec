// SPDX-License-Identifier: Apache-2.0
/*
 * The operator's own port: /livez and /healthz (the loop turns), /readyz (the caches are filled),
 * /metrics (Prometheus text). No credentials, nothing of a sandbox.
 */
#ifndef OPERATOR_HEALTH_H
#define OPERATOR_HEALTH_H

#include "operator.h"

struct health;

int health_new(struct operator* op, struct health **ret, struct osb_err *err);
void health_free(struct health *health);
int health_port(const struct health *health);

#endif
