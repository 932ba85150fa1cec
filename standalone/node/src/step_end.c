// SPDX-License-Identifier: Apache-2.0
#include "pod_cgroup.h"
#include "step.h"

#include <osb/log.h>

void pod_clean_up(struct pod *pod)
{
    struct osb_err err = {0};
    if (volumes_remove(pod->node, pod->spec, &err) < 0)
        osb_log(OSB_LOG_WARN, "pod folders are left", OSB_KV_STR("pod", pod->spec->name),
                OSB_KV_ERR(&err));
    if (pod->node->options.cgroup_parent)
        pod_cgroup_remove("/sys/fs/cgroup", pod->node->options.cgroup_parent, pod->spec->uid);
    pod->state.has_volumes = false;
    pod_step_end(pod);
}

static void on_object_deleted(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct pod *pod = arg;
    (void)body;
    pod->kube_call = NULL;
    if (r >= 0 || r == -OSB_E_NOT_FOUND || r == -OSB_E_CONFLICT) {
        pod->state.is_object_gone = true; /* a conflict: another pod has the name by now */
        pod_step_end(pod);
        return;
    }
    osb_log(OSB_LOG_WARN, "pod object not deleted", OSB_KV_STR("pod", pod->spec->name),
            OSB_KV_ERR(err));
    pod->is_busy = false;
    osb_timer_set(&pod->wake, NODE_OBJECT_RETRY_MS);
}

void pod_delete_object(struct pod *pod)
{
    struct osb_err err = {0};
    struct osb_kube_delete_options options = {.uid = pod->spec->uid, .grace_seconds = 0};
    int r = osb_kube_delete(pod->node->kube, &osb_kind_pod, pod->spec->namespace_, pod->spec->name,
                            &options, on_object_deleted, pod, &pod->kube_call, &err);
    if (r < 0)
        on_object_deleted(r, OSB_SLICE_NULL, &err, pod);
}
