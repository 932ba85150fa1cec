// SPDX-License-Identifier: Apache-2.0
/* The projection of a Pod that belongs to a BatchSandbox. */
#ifndef OPERATOR_POD_H
#define OPERATOR_POD_H

#include <osb/kube_store.h>

#include "batchsandbox.h"
#include "pairs.h"

#define LABEL_POD_INDEX "batch-sandbox.sandbox.opensandbox.io/pod-index"
#define LABEL_POD_NAME  "batch-sandbox.sandbox.opensandbox.io/name"

/* The container that runs the caller's entrypoint, unless `opensandbox.io/inject-container` names
 * another one; a pod that has none of this name: its first. */
#define MAIN_CONTAINER "sandbox"

enum { POD_MAX_CONTAINERS = 64 };

enum pod_index { POD_BY_OWNER }; /* "namespace/name" of the controlling BatchSandbox */

enum pod_phase { POD_PENDING, POD_RUNNING, POD_SUCCEEDED, POD_FAILED, POD_UNKNOWN };

enum container_state {
    CONTAINER_UNKNOWN, /* no status yet */
    CONTAINER_WAITING,
    CONTAINER_RUNNING,
    CONTAINER_TERMINATED
};

struct container {
    char *name;
    bool is_init;
    enum container_state state;
    char *reason;      /* of waiting and terminated; NULL when absent */
    char *message;     /* likewise */
    int64_t exit_code; /* of terminated */
    int64_t restart_count;
    bool has_ended_before; /* lastState.terminated is there, and says: */
    char *last_reason;     /* NULL when absent */
    char *last_message;    /* likewise */
    int64_t last_exit_code;
};

struct pod {
    struct osb_kube_object object;
    int64_t created_ns;
    bool is_deleting;
    bool is_injected_by_node; /* asks its node for execd */
    bool has_execd;           /* carries the mark: ready when its execd answered */
    char *main_name;          /* the main container where it is not MAIN_CONTAINER; else NULL */
    int index;                /* of its slot; -1 when it cannot be told */
    char *owner_name;         /* the controlling BatchSandbox; NULL when it has none */
    char *owner_uid;
    char *node_name; /* NULL while not bound */
    char *address;   /* status.podIP; NULL while there is none */
    enum pod_phase phase;
    char *reason;        /* status.reason, as Evicted */
    char *message;       /* status.message */
    bool is_ready;       /* condition Ready */
    char *unschedulable; /* message of PodScheduled=False; NULL when scheduled */
    enum restart_policy restart_policy;
    bool is_platform_bound; /* its node selector names operating system or architecture, no more */
    struct container *containers; /* init containers first */
    size_t container_count;
    size_t container_cap;
};

extern const struct osb_kube_projection pod_projection;

static inline const struct pod *pod_of(const struct osb_kube_object *object)
{
    return (const struct pod *)object;
}

/*
 * Takes over the address of BEFORE, the same pod a moment ago, where POD has none: a kubelet that
 * is behind writes a status without the one that the node's shim has told. Only while the pod can
 * still come up, and of a pod whose node injects; true when it did.
 */
bool pod_keep_address(struct pod *pod, const struct pod *before);
/* The main container's status; NULL while there is none. */
const struct container *pod_main_container(const struct pod *pod);
/* The pods of the BatchSandbox OWNER ("namespace/name"), whatever its UID; start with NULL. */
const struct pod *pod_next_of(const struct osb_kube_store *pods, const char *owner,
                              const struct pod *pod);

#endif
