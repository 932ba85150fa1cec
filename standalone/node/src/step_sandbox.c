// SPDX-License-Identifier: Apache-2.0
#include "cri_build.h"
#include "log_rotation.h"
#include "pod_refresh.h"
#include "step.h"

#include <osb/alloc.h>
#include <stdlib.h>

void pod_prepare_volumes(struct pod *pod)
{
    struct osb_err err = {0};
    if (!pod_has_secrets(pod))
        return;
    struct secret_source source = pod_secret_source(pod);
    if (volumes_prepare(pod->node, pod->spec, &source, &err) < 0) {
        pod_secrets_free(osb_take_ptr(pod->secrets)); /* so that a new try sees new ones */
        pod_sandbox_failed(pod, "FailedMount", &err);
        return;
    }
    pod->state.has_volumes = true;
    pod_step_end(pod);
}

static void on_sandbox_address(int r, const struct ProtobufCMessage *response,
                               const struct osb_err *err, void *arg)
{
    struct pod *pod = arg;
    pod->cri_call = NULL;
    if (r == -OSB_E_NOT_FOUND)
        pod->state.sandbox = SANDBOX_PHASE_DEAD;
    if (r < 0) {
        pod_sandbox_failed(pod, "FailedCreatePodSandBox", err);
        return;
    }
    const Runtime__V1__PodSandboxStatus *status =
        ((const Runtime__V1__PodSandboxStatusResponse *)response)->status;
    if (!status || status->state != RUNTIME__V1__POD_SANDBOX_STATE__SANDBOX_READY) {
        pod->state.sandbox = SANDBOX_PHASE_DEAD;
        pod_step_end(pod);
        return;
    }
    const char *ip = status && status->network ? status->network->ip : NULL;
    if (pod->spec->is_host_network)
        ip = pod->node->host_ip;
    free(pod->state.ip);
    pod->state.ip = ip && *ip ? osb_strdup(ip) : NULL;
    pod->state.sandbox = SANDBOX_PHASE_READY;
    pod->state.sandbox_failures = 0;
    free(osb_take_ptr(pod->state.sandbox_message));
    pod_step_end(pod);
}

void pod_ask_sandbox(struct pod *pod)
{
    Runtime__V1__PodSandboxStatusRequest request = RUNTIME__V1__POD_SANDBOX_STATUS_REQUEST__INIT;
    request.pod_sandbox_id = pod->state.sandbox_id;
    pod_step_call(pod, OSB_CRI_POD_SANDBOX_STATUS, &request.base, 0, on_sandbox_address);
}

static void on_sandbox_run(int r, const struct ProtobufCMessage *response,
                           const struct osb_err *err, void *arg)
{
    struct pod *pod = arg;
    pod->cri_call = NULL;
    if (r < 0) {
        pod->state.attempt++;
        pod_sandbox_failed(pod, "FailedCreatePodSandBox", err);
        return;
    }
    free(pod->state.sandbox_id);
    pod->state.sandbox_id =
        osb_strdup(((const Runtime__V1__RunPodSandboxResponse *)response)->pod_sandbox_id);
    pod->state.sandbox = SANDBOX_PHASE_UNKNOWN;
    pod_ask_sandbox(pod);
}

void pod_run_sandbox(struct pod *pod)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    Runtime__V1__RunPodSandboxRequest request = RUNTIME__V1__RUN_POD_SANDBOX_REQUEST__INIT;
    request.config = cri_build_sandbox(&arena, pod->node, pod->spec, pod->state.attempt);
    const char *handler =
        pod->spec->runtime_class ? pod->spec->runtime_class : pod->node->options.runtime_handler;
    if (handler)
        request.runtime_handler = osb_arena_strdup(&arena, handler);
    pod_step_call(pod, OSB_CRI_RUN_POD_SANDBOX, &request.base, 0, on_sandbox_run);
}

static void on_sandbox_stopped(int r, const struct ProtobufCMessage *response,
                               const struct osb_err *err, void *arg)
{
    struct pod *pod = arg;
    (void)response;
    pod->cri_call = NULL;
    if (r < 0 && r != -OSB_E_NOT_FOUND) {
        pod_sandbox_failed(pod, "FailedKillPod", err);
        return;
    }
    pod->state.sandbox = SANDBOX_PHASE_DEAD;
    free(osb_take_ptr(pod->state.ip));
    pod_step_end(pod);
}

void pod_stop_sandbox(struct pod *pod)
{
    Runtime__V1__StopPodSandboxRequest request = RUNTIME__V1__STOP_POD_SANDBOX_REQUEST__INIT;
    request.pod_sandbox_id = pod->state.sandbox_id;
    pod_step_call(pod, OSB_CRI_STOP_POD_SANDBOX, &request.base, 0, on_sandbox_stopped);
}

static void on_sandbox_removed(int r, const struct ProtobufCMessage *response,
                               const struct osb_err *err, void *arg)
{
    struct pod *pod = arg;
    (void)response;
    pod->cri_call = NULL;
    if (r < 0 && r != -OSB_E_NOT_FOUND) {
        pod_sandbox_failed(pod, "FailedKillPod", err);
        return;
    }
    pod->state.sandbox = SANDBOX_PHASE_NONE;
    free(osb_take_ptr(pod->state.sandbox_id));
    free(osb_take_ptr(pod->state.ip));
    pod->state.attempt++;
    /* Its containers went with it: those that may run again do so in the next sandbox. */
    for (size_t i = 0; i < pod->spec->container_count; i++) {
        struct container_state *state = &pod->state.containers[i];
        pod_container_lost(pod, i);
        if (state->phase == CONTAINER_PHASE_CUT)
            container_unmake(state);
        if (state->phase == CONTAINER_PHASE_EXITED && !pod->state.is_deleting &&
            container_restarts(pod->spec, &pod->spec->containers[i], state))
            container_next_run(state);
        log_remove_old(pod, i);
    }
    pod_step_end(pod);
}

void pod_remove_sandbox(struct pod *pod)
{
    Runtime__V1__RemovePodSandboxRequest request = RUNTIME__V1__REMOVE_POD_SANDBOX_REQUEST__INIT;
    request.pod_sandbox_id = pod->state.sandbox_id;
    pod_step_call(pod, OSB_CRI_REMOVE_POD_SANDBOX, &request.base, 0, on_sandbox_removed);
}
