// SPDX-License-Identifier: Apache-2.0
#include "pod_refresh.h"

#include <osb/alloc.h>
#include <osb/log.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_UNKNOWN = 137 }; /* as the kubelet reports a container that vanished */

/* A status call in flight; index -1 is the sandbox. */
struct refresh {
    struct pod *pod;
    struct refresh *next;
    struct osb_cri_call *call;
    int index;
};

static void refresh_end(struct refresh *refresh)
{
    struct pod *pod = refresh->pod;
    struct refresh **link = &pod->refreshes;
    while (*link != refresh)
        link = &(*link)->next;
    *link = refresh->next;
    if (!pod->refreshes && pod->is_adopting) {
        pod->is_adopting = false;
        pod_kick(pod);
    }
    free(refresh);
}

void pod_refresh_cancel_all(struct pod *pod)
{
    while (pod->refreshes) {
        osb_cri_call_cancel(pod->refreshes->call);
        refresh_end(pod->refreshes);
    }
}

static bool is_refreshing(const struct pod *pod, int index)
{
    for (const struct refresh *refresh = pod->refreshes; refresh; refresh = refresh->next) {
        if (refresh->index == index)
            return true;
    }
    return false;
}

static void container_exited(struct pod *pod, size_t index, const char *id, int exit_code,
                             const char *reason, const char *message, int64_t started_ns,
                             int64_t finished_ns)
{
    struct container_state *state = &pod->state.containers[index];
    termination_done(&state->end);
    state->end = (struct termination){
        .container_id = osb_asprintf("containerd://%s", id),
        .exit_code = exit_code,
        .started_ns = started_ns,
        .finished_ns = finished_ns,
        .reason = osb_strdup(reason && *reason ? reason
                             : exit_code       ? "Error"
                                               : "Completed"),
        .message = message && *message ? osb_strdup(message) : NULL,
    };
    state->phase = CONTAINER_PHASE_EXITED;
    state->is_end_told = false;
    container_clear_waiting(state);
    if (pod->state.is_deleting ||
        !container_restarts(pod->spec, &pod->spec->containers[index], state))
        return;
    /* It will run again: at once the first time, then with a growing delay. */
    int64_t ran_ns = finished_ns - started_ns;
    if (started_ns && ran_ns > (int64_t)POD_BACKOFF_RESET_MS * 1000000)
        state->failures = 0;
    if (state->failures++ == 0)
        return;
    char text[256];
    uint64_t delay_ms = pod_backoff_ms(state->failures - 1);
    snprintf(text, sizeof(text), "back-off %llus restarting container %s of pod %s",
             (unsigned long long)delay_ms / 1000, pod->spec->containers[index].name,
             pod->spec->name);
    state->retry_ns = osb_loop_now_ns(pod->node->loop) + delay_ms * 1000000;
    state->waiting_reason = osb_strdup("CrashLoopBackOff");
    state->waiting_message = osb_strdup(text);
    pod_event(pod, (int)index, true, "BackOff", "%s", text);
}

void pod_container_lost(struct pod *pod, size_t index)
{
    struct container_state *state = &pod->state.containers[index];
    if (!state->id || state->phase == CONTAINER_PHASE_EXITED)
        return;
    container_exited(pod, index, state->id, EXIT_UNKNOWN, "ContainerStatusUnknown",
                     "the container was gone when it was looked for", state->started_ns,
                     osb_loop_realtime_ns(pod->node->loop));
    pod_report(pod);
    pod_kick(pod);
}

/*
 * containerd gives a start up when the caller goes away in the middle, which is what happens when
 * this program is killed. Nothing of the container has run then, so it is no end of the pod's.
 */
static bool is_start_cut(const Runtime__V1__ContainerStatus *status)
{
    return status->reason && !strcmp(status->reason, "StartError") && status->message &&
           strstr(status->message, "context canceled");
}

bool pod_apply_container(struct pod *pod, size_t index, const Runtime__V1__ContainerStatus *status)
{
    struct container_state *state = &pod->state.containers[index];
    if (status->image_ref && *status->image_ref && !state->image_id)
        state->image_id = osb_strdup(status->image_ref);
    switch (status->state) {
    case RUNTIME__V1__CONTAINER_STATE__CONTAINER_EXITED:
        if (state->phase == CONTAINER_PHASE_EXITED || state->phase == CONTAINER_PHASE_CUT)
            return false;
        if (is_start_cut(status)) {
            state->phase = CONTAINER_PHASE_CUT;
            state->is_end_told = false;
            return true;
        }
        container_exited(pod, index, status->id, status->exit_code, status->reason, status->message,
                         status->started_at, status->finished_at);
        return true;
    case RUNTIME__V1__CONTAINER_STATE__CONTAINER_RUNNING:
        state->started_ns = status->started_at;
        if (state->phase == CONTAINER_PHASE_RUNNING || state->phase == CONTAINER_PHASE_EXITED)
            return false;
        state->phase = CONTAINER_PHASE_RUNNING;
        return true;
    case RUNTIME__V1__CONTAINER_STATE__CONTAINER_CREATED:
        if (state->phase != CONTAINER_PHASE_NONE)
            return false;
        state->phase = CONTAINER_PHASE_CREATED;
        return true;
    default:
        return false;
    }
}

static void on_container(int r, const struct ProtobufCMessage *response, const struct osb_err *err,
                         void *arg)
{
    struct refresh *refresh = arg;
    struct pod *pod = refresh->pod;
    size_t index = (size_t)refresh->index;
    refresh_end(refresh);
    if (r == -OSB_E_NOT_FOUND) {
        pod_container_lost(pod, index);
        return;
    }
    if (r < 0) {
        osb_log(OSB_LOG_WARN, "container status", OSB_KV_STR("pod", pod->spec->name),
                OSB_KV_ERR(err));
        return; /* the slow relist comes again */
    }
    const Runtime__V1__ContainerStatus *status =
        ((const Runtime__V1__ContainerStatusResponse *)response)->status;
    const char *id = pod->state.containers[index].id;
    if (status && id && !strcmp(id, status->id) && pod_apply_container(pod, index, status)) {
        pod_report(pod);
        pod_kick(pod);
    }
    if (pod->state.containers[index].is_end_told)
        osb_timer_set(&pod->recheck, NODE_RECHECK_MS);
}

static void on_sandbox(int r, const struct ProtobufCMessage *response, const struct osb_err *err,
                       void *arg)
{
    struct refresh *refresh = arg;
    struct pod *pod = refresh->pod;
    (void)err;
    refresh_end(refresh);
    const Runtime__V1__PodSandboxStatus *status =
        r < 0 ? NULL : ((const Runtime__V1__PodSandboxStatusResponse *)response)->status;
    if (pod->state.sandbox != SANDBOX_PHASE_READY || (r < 0 && r != -OSB_E_NOT_FOUND))
        return;
    if (status && status->state == RUNTIME__V1__POD_SANDBOX_STATE__SANDBOX_READY)
        return;
    pod->state.sandbox = SANDBOX_PHASE_DEAD;
    free(osb_take_ptr(pod->state.ip));
    pod_event(pod, -1, false, "SandboxChanged", "the pod sandbox ended");
    pod_report(pod);
    pod_kick(pod);
}

static void refresh_start(struct pod *pod, int index, enum osb_cri_method method,
                          const struct ProtobufCMessage *request, osb_cri_done *done)
{
    struct refresh *refresh = osb_new(struct refresh);
    refresh->pod = pod;
    refresh->index = index;
    refresh->next = pod->refreshes;
    pod->refreshes = refresh;
    if (osb_cri_call(pod->node->cri, method, request, 0, done, refresh, &refresh->call, NULL) < 0)
        refresh_end(refresh);
}

void pod_refresh_container(struct pod *pod, size_t index)
{
    Runtime__V1__ContainerStatusRequest request = RUNTIME__V1__CONTAINER_STATUS_REQUEST__INIT;
    if (!pod->state.containers[index].id || is_refreshing(pod, (int)index))
        return;
    request.container_id = pod->state.containers[index].id;
    refresh_start(pod, (int)index, OSB_CRI_CONTAINER_STATUS, &request.base, on_container);
}

void pod_refresh_sandbox(struct pod *pod)
{
    Runtime__V1__PodSandboxStatusRequest request = RUNTIME__V1__POD_SANDBOX_STATUS_REQUEST__INIT;
    if (!pod->state.sandbox_id || is_refreshing(pod, -1))
        return;
    request.pod_sandbox_id = pod->state.sandbox_id;
    refresh_start(pod, -1, OSB_CRI_POD_SANDBOX_STATUS, &request.base, on_sandbox);
}
