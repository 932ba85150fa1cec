// SPDX-License-Identifier: Apache-2.0
/*
 * What the parts of the operator share: one loop, one API client, the caches of BatchSandboxes and
 * Pods, the configuration. Built by main.c from the bottom up, torn down in the other order. All of
 * it belongs to the loop thread.
 */
#ifndef OPERATOR_OPERATOR_H
#define OPERATOR_OPERATOR_H

#include <osb/kube_client.h>
#include <osb/kube_events.h>
#include <osb/kube_queue.h>
#include <osb/kube_reflector.h>
#include <osb/kube_store.h>
#include <osb/loop.h>

#include "batchsandbox.h"
#include "config.h"
#include "ping.h"
#include "pod.h"

/* Ports and names that the parts of a sandbox agree on (docs/interfaces.md). */
#define EXECD_PORT  44772
#define EGRESS_PORT 18080
#define LAUNCHER    "/opt/opensandbox/bootstrap.sh"

/* Annotations of ours. */
#define ANNOTATION_INJECT "opensandbox.io/inject" /* pod template; value "execd" */
/* Of pods whose node puts execd in: what is asked of it, and the container that gets it. A template
 * may name the container, however execd is put in. */
#define ANNOTATION_INJECT_VERSION   "opensandbox.io/inject-version"
#define ANNOTATION_INJECT_CONTAINER "opensandbox.io/inject-container"
#define INJECT_VERSION              "1"
#define ANNOTATION_ENTRYPOINT       "opensandbox.io/entrypoint"
#define ANNOTATION_REQUEST_ID       "opensandbox.io/request-id"
#define ANNOTATION_TRACEPARENT      "opensandbox.io/traceparent"
#define ANNOTATION_IDEMPOTENCY      "opensandbox.io/idempotency-sha256"

struct sandbox_controller;
struct leader;
struct rest;

struct operator
{
    struct config *config;
    struct osb_loop *loop;
    struct osb_kube_client *client;
    const char *namespace_; /* where REST makes sandboxes; the config's or kubeconfig's */
    struct osb_kube_store *batchsandboxes; /* struct batchsandbox */
    struct osb_kube_store *pods;           /* struct pod: those of BatchSandboxes */
    struct osb_kube_reflector *batchsandbox_reflector;
    struct osb_kube_reflector *pod_reflector;
    struct osb_kube_events *events;
    struct ping *ping;
    struct sandbox_controller *sandboxes;
    struct leader *leader;
    struct rest *rest; /* NULL until the facade is started */
    bool is_stopping;
};

/* True once both caches hold what the API server has. */
static inline bool operator_is_synced(const struct operator* op)
{
    return osb_kube_reflector_is_synced(op->batchsandbox_reflector) &&
           osb_kube_reflector_is_synced(op->pod_reflector);
}

#endif
