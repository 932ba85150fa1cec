// SPDX-License-Identifier: Apache-2.0
/*
 * The node runner: a small kubelet for sandboxes. It watches pods, carries them out over CRI, one
 * worker a pod, and reports their status. All on one loop; containerd does the work that blocks.
 */
#ifndef NODE_NODE_H
#define NODE_NODE_H

#include <osb/cri.h>
#include <osb/kube_client.h>
#include <osb/kube_events.h>
#include <osb/loop.h>
#include <osb/map.h>
#include <stdbool.h>

enum {
    NODE_RELIST_MS = 10000,                /* slow relist beside the events */
    NODE_LOG_MAX_BYTES = 10 * 1024 * 1024, /* of one container log before it is rotated */
    NODE_RECHECK_MS = 10,                  /* of an end that CRI does not know yet */
    NODE_OBJECT_RETRY_MS = 1000,           /* status writes and deletions that failed */
};

struct node_options {
    const char *kubeconfig;
    const char *node_name;
    const char *cri;
    const char *root; /* absolute */
    const char *socket;
    const char *execd;
    const char *bootstrap;
    const char *runtime_handler;
    const char *cgroup_parent;
    int ready_fd; /* -1 for none */
};

struct pod_table;

struct node {
    struct osb_loop *loop;
    struct node_options options;
    struct osb_kube_config config; /* read by the transport as long as it lives */
    struct osb_kube_client *kube;
    struct osb_kube_events *events;
    struct osb_cri_client *cri;
    struct pod_table *pods;
    char *host_ip;
};

#endif
