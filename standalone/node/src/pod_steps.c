// SPDX-License-Identifier: Apache-2.0
#include "pod_steps.h"

#include "container_view.h"
#include "cri_build.h"
#include "log_rotation.h"
#include "pod_cgroup.h"
#include "pod_refresh.h"
#include "pod_table.h"
#include "volumes.h"

#include <osb/alloc.h>
#include <osb/log.h>
#include <stdlib.h>
#include <string.h>

enum { STOP_EXTRA_MS = 30000 }; /* beyond the grace period */

static void step_end(struct pod *pod)
{
    pod->is_busy = false;
    pod_report(pod);
    pod_kick(pod);
}

/* Calls CRI for the step; a call that cannot even be started ends like one that failed. */
static void call(struct pod *pod, enum osb_cri_method method,
                 const struct ProtobufCMessage *request, uint64_t timeout_ms, osb_cri_done *done)
{
    struct osb_err err = {0};
    int r =
        osb_cri_call(pod->node->cri, method, request, timeout_ms, done, pod, &pod->cri_call, &err);
    if (r < 0) {
        pod->cri_call = NULL;
        done(r, NULL, &err, pod);
    }
}

static struct container_state *step_state(struct pod *pod)
{
    return &pod->state.containers[pod->index];
}

static const struct container_spec *step_spec(const struct pod *pod)
{
    return &pod->spec->containers[pod->index];
}

/* ---- secrets, fetched once for the steps that lead to a running pod ---- */

static void on_secrets(struct pod_secrets *secrets, int r, const struct osb_err *err, void *arg);

/* True when they are there; else fetches them and starts the step again afterwards. */
static bool has_secrets(struct pod *pod)
{
    struct osb_err err = {0};
    if (pod->secrets || !pod_names_secrets(pod->spec))
        return true;
    int r = pod_secrets_fetch(pod->node, pod->spec, on_secrets, pod, &pod->secrets, &err);
    if (r < 0)
        on_secrets(NULL, r, &err, pod);
    return false;
}

static void sandbox_failed(struct pod *pod, const char *what, const struct osb_err *err)
{
    struct pod_state *state = &pod->state;
    state->sandbox_failures++;
    state->sandbox_retry_ns =
        osb_loop_now_ns(pod->node->loop) + pod_backoff_ms(state->sandbox_failures) * 1000000 / 10;
    free(state->sandbox_message);
    state->sandbox_message = osb_asprintf("%s: %s", what, err->message);
    pod_event(pod, -1, true, what, "%s", err->message);
    osb_log(OSB_LOG_WARN, what, OSB_KV_STR("namespace", pod->spec->namespace_),
            OSB_KV_STR("pod", pod->spec->name), OSB_KV_ERR(err));
    step_end(pod);
}

static void tell_failure(struct pod *pod, const char *reason, const struct osb_err *err)
{
    pod_event(pod, (int)pod->index, true, "Failed", "%s: %s", reason, err->message);
    osb_log(OSB_LOG_WARN, "container step failed", OSB_KV_STR("namespace", pod->spec->namespace_),
            OSB_KV_STR("pod", pod->spec->name), OSB_KV_STR("container", step_spec(pod)->name),
            OSB_KV_STR("reason", reason), OSB_KV_ERR(err));
    step_end(pod);
}

static void container_step_failed(struct pod *pod, const char *reason, const struct osb_err *err)
{
    container_failed(step_state(pod), reason, err->message, osb_loop_now_ns(pod->node->loop));
    tell_failure(pod, reason, err);
}

static void on_secrets(struct pod_secrets *secrets, int r, const struct osb_err *err, void *arg)
{
    struct pod *pod = arg;
    (void)secrets;
    if (r >= 0) {
        pod_step_start(pod);
        return;
    }
    pod_secrets_free(osb_take_ptr(pod->secrets));
    if (pod->action == POD_CREATE)
        container_step_failed(pod, "CreateContainerConfigError", err);
    else
        sandbox_failed(pod, "FailedMount", err);
}

static struct secret_source source_of(struct pod *pod)
{
    static const struct secret_source none;
    return pod->secrets ? pod_secrets_source(pod->secrets) : none;
}

/* ---- volumes and sandbox ---- */

static void prepare_volumes(struct pod *pod)
{
    struct osb_err err = {0};
    if (!has_secrets(pod))
        return;
    struct secret_source source = source_of(pod);
    if (volumes_prepare(pod->node, pod->spec, &source, &err) < 0) {
        pod_secrets_free(osb_take_ptr(pod->secrets)); /* so that a new try sees new ones */
        sandbox_failed(pod, "FailedMount", &err);
        return;
    }
    pod->state.has_volumes = true;
    step_end(pod);
}

static void on_sandbox_address(int r, const struct ProtobufCMessage *response,
                               const struct osb_err *err, void *arg)
{
    struct pod *pod = arg;
    pod->cri_call = NULL;
    if (r == -OSB_E_NOT_FOUND)
        pod->state.sandbox = SANDBOX_PHASE_DEAD;
    if (r < 0) {
        sandbox_failed(pod, "FailedCreatePodSandBox", err);
        return;
    }
    const Runtime__V1__PodSandboxStatus *status =
        ((const Runtime__V1__PodSandboxStatusResponse *)response)->status;
    if (!status || status->state != RUNTIME__V1__POD_SANDBOX_STATE__SANDBOX_READY) {
        pod->state.sandbox = SANDBOX_PHASE_DEAD;
        step_end(pod);
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
    step_end(pod);
}

static void ask_sandbox(struct pod *pod)
{
    Runtime__V1__PodSandboxStatusRequest request = RUNTIME__V1__POD_SANDBOX_STATUS_REQUEST__INIT;
    request.pod_sandbox_id = pod->state.sandbox_id;
    call(pod, OSB_CRI_POD_SANDBOX_STATUS, &request.base, 0, on_sandbox_address);
}

static void on_sandbox_run(int r, const struct ProtobufCMessage *response,
                           const struct osb_err *err, void *arg)
{
    struct pod *pod = arg;
    pod->cri_call = NULL;
    if (r < 0) {
        pod->state.attempt++;
        sandbox_failed(pod, "FailedCreatePodSandBox", err);
        return;
    }
    free(pod->state.sandbox_id);
    pod->state.sandbox_id =
        osb_strdup(((const Runtime__V1__RunPodSandboxResponse *)response)->pod_sandbox_id);
    pod->state.sandbox = SANDBOX_PHASE_UNKNOWN;
    ask_sandbox(pod);
}

static void run_sandbox(struct pod *pod)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    Runtime__V1__RunPodSandboxRequest request = RUNTIME__V1__RUN_POD_SANDBOX_REQUEST__INIT;
    request.config = cri_build_sandbox(&arena, pod->node, pod->spec, pod->state.attempt);
    const char *handler =
        pod->spec->runtime_class ? pod->spec->runtime_class : pod->node->options.runtime_handler;
    if (handler)
        request.runtime_handler = osb_arena_strdup(&arena, handler);
    call(pod, OSB_CRI_RUN_POD_SANDBOX, &request.base, 0, on_sandbox_run);
}

/* ---- images ---- */

static void image_there(struct pod *pod, const char *image_id)
{
    struct container_state *state = step_state(pod);
    state->has_image = true;
    free(state->image_id);
    state->image_id = osb_strdup(image_id);
    state->failures = 0;
    container_clear_waiting(state);
    step_end(pod);
}

static void on_pulled(int r, const struct ProtobufCMessage *response, const struct osb_err *err,
                      void *arg)
{
    struct pod *pod = arg;
    struct container_state *state = step_state(pod);
    pod->cri_call = NULL;
    pod->is_pulling = false;
    if (r < 0) {
        if (state->failures > 0)
            pod_event(pod, (int)pod->index, false, "BackOff", "Back-off pulling image \"%s\"",
                      step_spec(pod)->image);
        container_pull_failed(state, err->message, osb_loop_now_ns(pod->node->loop));
        tell_failure(pod, "ErrImagePull", err);
        return;
    }
    uint64_t ms = (osb_loop_now_ns(pod->node->loop) - pod->step_ns) / 1000000;
    pod_event(pod, (int)pod->index, false, "Pulled", "Successfully pulled image \"%s\" in %llums",
              step_spec(pod)->image, (unsigned long long)ms);
    image_there(pod, ((const Runtime__V1__PullImageResponse *)response)->image_ref);
}

static void pull(struct pod *pod)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    Runtime__V1__PullImageRequest request = RUNTIME__V1__PULL_IMAGE_REQUEST__INIT;
    request.image = cri_build_image(&arena, step_spec(pod)->image);
    request.sandbox_config = cri_build_sandbox(&arena, pod->node, pod->spec, pod->state.attempt);
    pod->is_pulling = true;
    pod_event(pod, (int)pod->index, false, "Pulling", "Pulling image \"%s\"",
              step_spec(pod)->image);
    call(pod, OSB_CRI_PULL_IMAGE, &request.base, 0, on_pulled);
}

static void on_image_status(int r, const struct ProtobufCMessage *response,
                            const struct osb_err *err, void *arg)
{
    struct pod *pod = arg;
    const char *policy = step_spec(pod)->pull_policy;
    pod->cri_call = NULL;
    if (r < 0) {
        container_step_failed(pod, "ImageInspectError", err);
        return;
    }
    const Runtime__V1__Image *image = ((const Runtime__V1__ImageStatusResponse *)response)->image;
    if (image && strcmp(policy, "Always") != 0) {
        pod_event(pod, (int)pod->index, false, "Pulled",
                  "Container image \"%s\" already present on machine", step_spec(pod)->image);
        image_there(pod, image->id);
    } else if (!strcmp(policy, "Never")) {
        struct osb_err absent = {0};
        (void)osb_fail(&absent, -OSB_E_NOT_FOUND,
                       "Container image \"%s\" is not present with pull policy of Never",
                       step_spec(pod)->image);
        container_step_failed(pod, "ErrImageNeverPull", &absent);
    } else {
        pull(pod);
    }
}

static void check_image(struct pod *pod)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    Runtime__V1__ImageStatusRequest request = RUNTIME__V1__IMAGE_STATUS_REQUEST__INIT;
    request.image = cri_build_image(&arena, step_spec(pod)->image);
    call(pod, OSB_CRI_IMAGE_STATUS, &request.base, 0, on_image_status);
}

/* ---- containers ---- */

static void on_created(int r, const struct ProtobufCMessage *response, const struct osb_err *err,
                       void *arg)
{
    struct pod *pod = arg;
    struct container_state *state = step_state(pod);
    pod->cri_call = NULL;
    if (r < 0) {
        state->has_image = false; /* it may have been removed: look again */
        container_step_failed(pod, "CreateContainerError", err);
        return;
    }
    free(state->id);
    state->id = osb_strdup(((const Runtime__V1__CreateContainerResponse *)response)->container_id);
    state->phase = CONTAINER_PHASE_CREATED;
    container_clear_waiting(state);
    pod_event(pod, (int)pod->index, false, "Created", "Created container: %s",
              step_spec(pod)->name);
    step_end(pod);
}

static void create(struct pod *pod)
{
    struct osb_err err = {0};
    _cleanup_arena_ struct osb_arena arena = {0};
    struct resolved_container resolved = {0};
    if (!has_secrets(pod))
        return;
    struct secret_source source = source_of(pod);
    if (container_view_resolve(&arena, pod->node, pod->spec, pod->index, pod->state.ip, &source,
                               &resolved, &err) < 0) {
        pod_secrets_free(osb_take_ptr(pod->secrets));
        container_step_failed(pod, "CreateContainerConfigError", &err);
        return;
    }
    Runtime__V1__CreateContainerRequest request = RUNTIME__V1__CREATE_CONTAINER_REQUEST__INIT;
    request.pod_sandbox_id = pod->state.sandbox_id;
    request.config = cri_build_container(&arena, pod->spec, pod->index, &resolved,
                                         (uint32_t)step_state(pod)->restart_count);
    request.sandbox_config = cri_build_sandbox(&arena, pod->node, pod->spec, pod->state.attempt);
    call(pod, OSB_CRI_CREATE_CONTAINER, &request.base, 0, on_created);
}

static void on_started(int r, const struct ProtobufCMessage *response, const struct osb_err *err,
                       void *arg)
{
    struct pod *pod = arg;
    struct container_state *state = step_state(pod);
    (void)response;
    pod->cri_call = NULL;
    if (r < 0) {
        /* The runtime keeps it as exited with the reason: that is the state to show. */
        pod_event(pod, (int)pod->index, true, "Failed", "%s", err->message);
        state->retry_ns = osb_loop_now_ns(pod->node->loop) + pod_backoff_ms(1) * 1000000;
        pod_refresh_container(pod, pod->index);
        step_end(pod);
        return;
    }
    pod_event(pod, (int)pod->index, false, "Started", "Started container %s", step_spec(pod)->name);
    if (state->phase == CONTAINER_PHASE_CREATED) { /* its end may have been told already */
        state->phase = CONTAINER_PHASE_RUNNING;
        state->started_ns = osb_loop_realtime_ns(pod->node->loop);
    }
    step_end(pod);
}

static void start(struct pod *pod)
{
    Runtime__V1__StartContainerRequest request = RUNTIME__V1__START_CONTAINER_REQUEST__INIT;
    request.container_id = step_state(pod)->id;
    call(pod, OSB_CRI_START_CONTAINER, &request.base, 0, on_started);
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
    if (step_state(pod)->phase != CONTAINER_PHASE_RUNNING) {
        step_end(pod); /* its end was told by an event already */
        return;
    }
    pod->is_busy = false; /* its status, which says how it ended, brings the next step */
    pod_refresh_container(pod, pod->index);
}

static void stop(struct pod *pod)
{
    Runtime__V1__StopContainerRequest request = RUNTIME__V1__STOP_CONTAINER_REQUEST__INIT;
    int64_t grace_s = pod->state.is_deleting ? pod->state.deletion_grace_s : pod->spec->grace_s;
    request.container_id = step_state(pod)->id;
    request.timeout = grace_s;
    pod_event(pod, (int)pod->index, false, "Killing", "Stopping container %s",
              step_spec(pod)->name);
    call(pod, OSB_CRI_STOP_CONTAINER, &request.base, (uint64_t)grace_s * 1000 + STOP_EXTRA_MS,
         on_stopped);
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
    container_next_run(step_state(pod));
    log_remove_old(pod, pod->index);
    step_end(pod);
}

static void remove_container(struct pod *pod)
{
    Runtime__V1__RemoveContainerRequest request = RUNTIME__V1__REMOVE_CONTAINER_REQUEST__INIT;
    request.container_id = step_state(pod)->id;
    call(pod, OSB_CRI_REMOVE_CONTAINER, &request.base, 0, on_container_removed);
}

/* ---- the end of a pod ---- */

static void on_sandbox_stopped(int r, const struct ProtobufCMessage *response,
                               const struct osb_err *err, void *arg)
{
    struct pod *pod = arg;
    (void)response;
    pod->cri_call = NULL;
    if (r < 0 && r != -OSB_E_NOT_FOUND) {
        sandbox_failed(pod, "FailedKillPod", err);
        return;
    }
    pod->state.sandbox = SANDBOX_PHASE_DEAD;
    free(osb_take_ptr(pod->state.ip));
    step_end(pod);
}

static void stop_sandbox(struct pod *pod)
{
    Runtime__V1__StopPodSandboxRequest request = RUNTIME__V1__STOP_POD_SANDBOX_REQUEST__INIT;
    request.pod_sandbox_id = pod->state.sandbox_id;
    call(pod, OSB_CRI_STOP_POD_SANDBOX, &request.base, 0, on_sandbox_stopped);
}

static void on_sandbox_removed(int r, const struct ProtobufCMessage *response,
                               const struct osb_err *err, void *arg)
{
    struct pod *pod = arg;
    (void)response;
    pod->cri_call = NULL;
    if (r < 0 && r != -OSB_E_NOT_FOUND) {
        sandbox_failed(pod, "FailedKillPod", err);
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
        if (state->phase == CONTAINER_PHASE_EXITED && !pod->state.is_deleting &&
            container_restarts(pod->spec, &pod->spec->containers[i], state))
            container_next_run(state);
        log_remove_old(pod, i);
    }
    step_end(pod);
}

static void remove_sandbox(struct pod *pod)
{
    Runtime__V1__RemovePodSandboxRequest request = RUNTIME__V1__REMOVE_POD_SANDBOX_REQUEST__INIT;
    request.pod_sandbox_id = pod->state.sandbox_id;
    call(pod, OSB_CRI_REMOVE_POD_SANDBOX, &request.base, 0, on_sandbox_removed);
}

static void clean_up(struct pod *pod)
{
    struct osb_err err = {0};
    if (volumes_remove(pod->node, pod->spec, &err) < 0)
        osb_log(OSB_LOG_WARN, "pod folders are left", OSB_KV_STR("pod", pod->spec->name),
                OSB_KV_ERR(&err));
    if (pod->node->options.cgroup_parent)
        pod_cgroup_remove("/sys/fs/cgroup", pod->node->options.cgroup_parent, pod->spec->uid);
    pod->state.has_volumes = false;
    step_end(pod);
}

static void on_object_deleted(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct pod *pod = arg;
    (void)body;
    pod->kube_call = NULL;
    if (r >= 0 || r == -OSB_E_NOT_FOUND || r == -OSB_E_CONFLICT) {
        pod->state.is_object_gone = true; /* a conflict: another pod has the name by now */
        step_end(pod);
        return;
    }
    osb_log(OSB_LOG_WARN, "pod object not deleted", OSB_KV_STR("pod", pod->spec->name),
            OSB_KV_ERR(err));
    pod->is_busy = false;
    osb_timer_set(&pod->wake, NODE_OBJECT_RETRY_MS);
}

static void delete_object(struct pod *pod)
{
    struct osb_err err = {0};
    struct osb_kube_delete_options options = {.uid = pod->spec->uid, .grace_seconds = 0};
    int r = osb_kube_delete(pod->node->kube, &osb_kind_pod, pod->spec->namespace_, pod->spec->name,
                            &options, on_object_deleted, pod, &pod->kube_call, &err);
    if (r < 0)
        on_object_deleted(r, OSB_SLICE_NULL, &err, pod);
}

void pod_step_start(struct pod *pod)
{
    switch (pod->action) {
    case POD_WAIT:
        break;
    case POD_PREPARE_VOLUMES:
        prepare_volumes(pod);
        return;
    case POD_RUN_SANDBOX:
        run_sandbox(pod);
        return;
    case POD_ASK_SANDBOX:
        ask_sandbox(pod);
        return;
    case POD_PULL:
        check_image(pod);
        return;
    case POD_CREATE:
        create(pod);
        return;
    case POD_START:
        start(pod);
        return;
    case POD_STOP:
        stop(pod);
        return;
    case POD_REMOVE_CONTAINER:
        remove_container(pod);
        return;
    case POD_STOP_SANDBOX:
        stop_sandbox(pod);
        return;
    case POD_REMOVE_SANDBOX:
        remove_sandbox(pod);
        return;
    case POD_CLEAN_UP:
        clean_up(pod);
        return;
    case POD_DELETE_OBJECT:
        delete_object(pod);
        return;
    case POD_FORGET:
        pod_table_forget(pod->node->pods, pod);
        return;
    }
}

void pod_step_interrupt(struct pod *pod)
{
    bool is_long = pod->is_busy && pod->cri_call &&
                   ((pod->action == POD_PULL && pod->is_pulling) || pod->action == POD_STOP);
    if (!is_long)
        return;
    osb_cri_call_cancel(osb_take_ptr(pod->cri_call));
    pod->is_pulling = false;
    step_end(pod);
}
