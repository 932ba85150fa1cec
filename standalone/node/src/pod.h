// SPDX-License-Identifier: Apache-2.0
/*
 * One pod on this node: its spec, its state, and the worker that brings the one in line with the
 * other. A worker has at most one step in flight; pod_kick() starts the next.
 */
#ifndef NODE_POD_H
#define NODE_POD_H

#include "node.h"
#include "pod_core.h"
#include "pod_secrets.h"
#include "pod_status.h"

#define POD_DEADLINE_REASON "DeadlineExceeded"

struct pod {
    struct node *node;
    struct pod_spec *spec;
    struct pod_state state;
    struct pod_times times;

    /* the step in flight */
    bool is_busy;
    enum pod_action action;
    size_t index; /* container of the step */
    struct osb_cri_call *cri_call;
    struct osb_kube_call *kube_call;
    struct pod_secrets *secrets;
    bool is_pulling; /* second half of POD_PULL */
    uint64_t step_ns;

    /* waiting */
    struct osb_timer wake;
    struct osb_defer kick;
    struct osb_timer deadline; /* activeDeadlineSeconds */

    /* a container or sandbox being looked at again, beside the step */
    struct refresh *refreshes;
    bool is_adopting;         /* no step before those asked for at adoption have been answered */
    struct osb_timer recheck; /* of containers whose end was told */

    /* status writes */
    struct osb_defer report;
    struct osb_timer report_retry;
    struct osb_buf reported; /* last text that the API server took */
    struct osb_buf sending;
    struct osb_kube_call *report_call;
};

/* Takes SPEC. */
struct pod *pod_new(struct node *node, struct pod_spec *spec);
/* Stops everything that is in flight; the world stays as it is. */
void pod_free(struct pod *pod);
/* Soon: looks for the next step. */
void pod_kick(struct pod *pod);
/* Soon: writes the status when it differs from the last one written. */
void pod_report(struct pod *pod);
/* The deletion of the object was asked for, or has happened. */
void pod_set_deleting(struct pod *pod, int64_t grace_s, bool is_object_gone);
/* activeDeadlineSeconds are over: the pod has failed. */
void pod_set_past_deadline(struct pod *pod);
/* (Re)arms the timer of activeDeadlineSeconds, which count from the pod's start. */
void pod_arm_deadline(struct pod *pod);
/* Asks CRI for the state of a container (or of the sandbox), then kicks. */
void pod_refresh_container(struct pod *pod, size_t index);
void pod_refresh_sandbox(struct pod *pod);
/* containerd says that a container has ended: asks CRI until it knows, too. */
void pod_container_end_told(struct pod *pod, size_t index);
/* The container of that id; -1 when it is none of the pod's. */
int pod_find_container(const struct pod *pod, const char *id);
/* An event about the pod, or about its container INDEX (>= 0). */
void pod_event(struct pod *pod, int index, bool is_warning, const char *reason, const char *format,
               ...) __attribute__((format(printf, 5, 6)));

#endif
