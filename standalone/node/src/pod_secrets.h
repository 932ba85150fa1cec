// SPDX-License-Identifier: Apache-2.0
/* The Secrets a pod names, fetched together and kept only as long as a step needs them. */
#ifndef NODE_POD_SECRETS_H
#define NODE_POD_SECRETS_H

#include "node.h"
#include "pod_spec.h"
#include "volumes.h"

struct pod_secrets;

/* DONE runs on the loop, also when there is nothing to fetch. A missing Secret is no error here. */
int pod_secrets_fetch(struct node *node, const struct pod_spec *spec,
                      void (*done)(struct pod_secrets *secrets, int r, const struct osb_err *err,
                                   void *arg),
                      void *arg, struct pod_secrets **ret, struct osb_err *err);
/* Cancels and wipes. NULL is allowed. */
void pod_secrets_free(struct pod_secrets *secrets);
/* How volumes_prepare() and container_view_resolve() read them. */
struct secret_source pod_secrets_source(struct pod_secrets *secrets);
bool pod_names_secrets(const struct pod_spec *spec);

#endif
