// SPDX-License-Identifier: Apache-2.0
#include "pod_steps.h"

#include "pod_table.h"
#include "step.h"

#include <osb/alloc.h>
#include <osb/log.h>
#include <stdlib.h>

void pod_step_end(struct pod *pod)
{
    pod->is_busy = false;
    pod_report(pod);
    pod_kick(pod);
}

/* Calls CRI for the step; a call that cannot even be started ends like one that failed. */
void pod_step_call(struct pod *pod, enum osb_cri_method method,
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

struct container_state *pod_step_container(struct pod *pod)
{
    return &pod->state.containers[pod->index];
}

const struct container_spec *pod_step_spec(const struct pod *pod)
{
    return &pod->spec->containers[pod->index];
}

void pod_sandbox_failed(struct pod *pod, const char *what, const struct osb_err *err)
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
    pod_step_end(pod);
}

void pod_tell_failure(struct pod *pod, const char *reason, const struct osb_err *err)
{
    pod_event(pod, (int)pod->index, true, "Failed", "%s: %s", reason, err->message);
    osb_log(OSB_LOG_WARN, "container step failed", OSB_KV_STR("namespace", pod->spec->namespace_),
            OSB_KV_STR("pod", pod->spec->name), OSB_KV_STR("container", pod_step_spec(pod)->name),
            OSB_KV_STR("reason", reason), OSB_KV_ERR(err));
    pod_step_end(pod);
}

void pod_container_failed(struct pod *pod, const char *reason, const struct osb_err *err)
{
    container_failed(pod_step_container(pod), reason, err->message,
                     osb_loop_now_ns(pod->node->loop));
    pod_tell_failure(pod, reason, err);
}

/* ---- secrets, fetched once for the steps that lead to a running pod ---- */

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
        pod_container_failed(pod, "CreateContainerConfigError", err);
    else
        pod_sandbox_failed(pod, "FailedMount", err);
}

/* True when they are there; else fetches them and starts the step again afterwards. */
bool pod_has_secrets(struct pod *pod)
{
    struct osb_err err = {0};
    if (pod->secrets || !pod_names_secrets(pod->spec))
        return true;
    int r = pod_secrets_fetch(pod->node, pod->spec, on_secrets, pod, &pod->secrets, &err);
    if (r < 0)
        on_secrets(NULL, r, &err, pod);
    return false;
}

struct secret_source pod_secret_source(struct pod *pod)
{
    static const struct secret_source none;
    return pod->secrets ? pod_secrets_source(pod->secrets) : none;
}

/* ---- which step ---- */

void pod_step_start(struct pod *pod)
{
    switch (pod->action) {
    case POD_WAIT:
        break;
    case POD_PREPARE_VOLUMES:
        pod_prepare_volumes(pod);
        return;
    case POD_RUN_SANDBOX:
        pod_run_sandbox(pod);
        return;
    case POD_ASK_SANDBOX:
        pod_ask_sandbox(pod);
        return;
    case POD_PULL:
        pod_pull(pod);
        return;
    case POD_CREATE:
        pod_create(pod);
        return;
    case POD_START:
        pod_start(pod);
        return;
    case POD_STOP:
        pod_stop(pod);
        return;
    case POD_REMOVE_CONTAINER:
        pod_remove_container(pod);
        return;
    case POD_STOP_SANDBOX:
        pod_stop_sandbox(pod);
        return;
    case POD_REMOVE_SANDBOX:
        pod_remove_sandbox(pod);
        return;
    case POD_CLEAN_UP:
        pod_clean_up(pod);
        return;
    case POD_DELETE_OBJECT:
        pod_delete_object(pod);
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
    pod_step_end(pod);
}
