// SPDX-License-Identifier: Apache-2.0
#include "container_view.h"
#include "cri_build.h"
#include "log_rotation.h"
#include "pod_refresh.h"
#include "step.h"

#include <osb/alloc.h>
#include <osb/log.h>
#include <stdlib.h>

enum { STOP_EXTRA_MS = 30000 }; /* beyond the grace period */

static void on_created(int r, const struct ProtobufCMessage *response, const struct osb_err *err,
                       void *arg)
{
    struct pod *pod = arg;
    struct container_state *state = pod_step_container(pod);
    pod->cri_call = NULL;
    if (r < 0) {
        state->has_image = false; /* it may have been removed: look again */
        pod_container_failed(pod, "CreateContainerError", err);
        return;
    }
    free(state->id);
    state->id = osb_strdup(((const Runtime__V1__CreateContainerResponse *)response)->container_id);
    state->phase = CONTAINER_PHASE_CREATED;
    container_clear_waiting(state);
    pod_event(pod, (int)pod->index, false, "Created", "Created container: %s",
              pod_step_spec(pod)->name);
    pod_step_end(pod);
}

void pod_create(struct pod *pod)
{
    struct osb_err err = {0};
    _cleanup_arena_ struct osb_arena arena = {0};
    struct resolved_container resolved = {0};
    if (!pod_has_secrets(pod))
        return;
    struct secret_source source = pod_secret_source(pod);
    if (container_view_resolve(&arena, pod->node, pod->spec, pod->index, pod->state.ip, &source,
                               &resolved, &err) < 0) {
        pod_secrets_free(osb_take_ptr(pod->secrets));
        pod_container_failed(pod, "CreateContainerConfigError", &err);
        return;
    }
    Runtime__V1__CreateContainerRequest request = RUNTIME__V1__CREATE_CONTAINER_REQUEST__INIT;
    request.pod_sandbox_id = pod->state.sandbox_id;
    request.config = cri_build_container(&arena, pod->spec, pod->index, &resolved,
                                         (uint32_t)pod_step_container(pod)->restart_count);
    request.sandbox_config = cri_build_sandbox(&arena, pod->node, pod->spec, pod->state.attempt);
    pod_step_call(pod, OSB_CRI_CREATE_CONTAINER, &request.base, 0, on_created);
}

static void on_started(int r, const struct ProtobufCMessage *response, const struct osb_err *err,
                       void *arg)
{
    struct pod *pod = arg;
    struct container_state *state = pod_step_container(pod);
    (void)response;
    pod->cri_call = NULL;
    if (r < 0) {
        /* The runtime keeps it as exited with the reason: that is the state to show. */
        pod_event(pod, (int)pod->index, true, "Failed", "%s", err->message);
        state->retry_ns = osb_loop_now_ns(pod->node->loop) + pod_backoff_ms(1) * 1000000;
        pod_refresh_container(pod, pod->index);
        pod_step_end(pod);
        return;
    }
    pod_event(pod, (int)pod->index, false, "Started", "Started container %s",
              pod_step_spec(pod)->name);
    if (state->phase == CONTAINER_PHASE_CREATED) { /* its end may have been told already */
        state->phase = CONTAINER_PHASE_RUNNING;
        state->started_ns = osb_loop_realtime_ns(pod->node->loop);
    }
    pod_step_end(pod);
}

void pod_start(struct pod *pod)
{
    Runtime__V1__StartContainerRequest request = RUNTIME__V1__START_CONTAINER_REQUEST__INIT;
    request.container_id = pod_step_container(pod)->id;
    pod_step_call(pod, OSB_CRI_START_CONTAINER, &request.base, 0, on_started);
}

static void on_stopped(int r, const struct ProtobufCMessage *response, const struct osb_err *err,
                       void *arg)
{
    struct pod *pod = arg;
    (void)response;
    pod->cri_call = NULL;
    if (r < 0 && r != -OSB_E_NOT_FOUND)
        osb_log(OSB_LOG_WARN, "stop container", OSB_KV_STR("pod", pod->spec->name),
                OSB_KV_ERR(err));
    if (r < 0)
        pod_container_lost(pod, pod->index);
    if (pod_step_container(pod)->phase != CONTAINER_PHASE_RUNNING) {
        pod_step_end(pod); /* its end was told by an event already */
        return;
    }
    pod->is_busy = false; /* its status, which says how it ended, brings the next step */
    pod_refresh_container(pod, pod->index);
}

void pod_stop(struct pod *pod)
{
    Runtime__V1__StopContainerRequest request = RUNTIME__V1__STOP_CONTAINER_REQUEST__INIT;
    int64_t grace_s = pod->state.is_deleting ? pod->state.deletion_grace_s : pod->spec->grace_s;
    request.container_id = pod_step_container(pod)->id;
    request.timeout = grace_s;
    pod_event(pod, (int)pod->index, false, "Killing", "Stopping container %s",
              pod_step_spec(pod)->name);
    pod_step_call(pod, OSB_CRI_STOP_CONTAINER, &request.base,
                  (uint64_t)grace_s * 1000 + STOP_EXTRA_MS, on_stopped);
}

static void on_container_removed(int r, const struct ProtobufCMessage *response,
                                 const struct osb_err *err, void *arg)
{
    struct pod *pod = arg;
    (void)response;
    pod->cri_call = NULL;
    if (r < 0 && r != -OSB_E_NOT_FOUND)
        osb_log(OSB_LOG_WARN, "remove container", OSB_KV_STR("pod", pod->spec->name),
                OSB_KV_ERR(err));
    if (pod_step_container(pod)->phase == CONTAINER_PHASE_CUT)
        container_unmake(pod_step_container(pod));
    else
        container_next_run(pod_step_container(pod));
    log_remove_old(pod, pod->index);
    pod_step_end(pod);
}

void pod_remove_container(struct pod *pod)
{
    Runtime__V1__RemoveContainerRequest request = RUNTIME__V1__REMOVE_CONTAINER_REQUEST__INIT;
    request.container_id = pod_step_container(pod)->id;
    pod_step_call(pod, OSB_CRI_REMOVE_CONTAINER, &request.base, 0, on_container_removed);
}
