// SPDX-License-Identifier: Apache-2.0
/*
 * Tells the API server the address of a sandbox's pod when its container is created. The kubelet
 * does so too, but only once it has looked around, which is up to a second later; the operator asks
 * execd as soon as it knows where.
 *
 * The kubeconfig may be the kubelet's own: the node authorizer lets that identity write the status
 * of the pods of this node, and of no other. What is told is podIP and podIPs, nothing else; a
 * report that fails is dropped, because the kubelet's follows.
 */
#ifndef SHIM_POD_REPORT_H
#define SHIM_POD_REPORT_H

#include <osb/buf.h>
#include <osb/err.h>
#include <osb/loop.h>
#include <stdbool.h>

#include "runtime_v1.pb-c.h"

enum {
    POD_REPORTS_MAX = 64, /* under way at a time; more are dropped */
    POD_REPORT_TIMEOUT_MS = 2000,
    POD_REPORT_RETRY_MS = 5000, /* until a kubeconfig that could not be read is tried again */
};

struct pod_report;

/*
 * KUBECONFIG is a file, which need not be there yet: without it nothing is told, and the log says
 * so. BACKEND is the runtime's endpoint.
 */
int pod_report_new(struct osb_loop *loop, const char *kubeconfig, const char *backend,
                   struct pod_report **ret, struct osb_err *err);
/* What is under way is dropped. Safe on NULL. */
void pod_report_free(struct pod_report *report);
/* On the loop: asks the runtime for the address of the pod sandbox and tells it. */
void pod_report_send(struct pod_report *report, const char *namespace_, const char *pod,
                     const char *sandbox_id);

/*
 * The merge patch for a PodSandboxStatus answer, in OUT; false when it names no pod or no address.
 * Free of I/O, for tests.
 */
bool pod_report_patch(const Runtime__V1__PodSandboxStatusResponse *answer, struct osb_buf *out);

#endif
