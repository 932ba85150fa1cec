// SPDX-License-Identifier: Apache-2.0
#include "pod.h"

#include "pod_refresh.h"
#include "pod_steps.h"

#include <osb/alloc.h>
#include <osb/log.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pod_event(struct pod *pod, int index, bool is_warning, const char *reason, const char *format,
               ...)
{
    char message[1024], field[160] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    if (index >= 0)
        snprintf(field, sizeof(field), "spec.%s{%s}",
                 (size_t)index < pod->spec->init_count ? "initContainers" : "containers",
                 pod->spec->containers[index].name);
    struct osb_kube_ref ref = {
        .kind = &osb_kind_pod,
        .namespace_ = pod->spec->namespace_,
        .name = pod->spec->name,
        .uid = pod->spec->uid,
        .field_path = index >= 0 ? field : NULL,
    };
    osb_kube_event(pod->node->events, &ref, is_warning, reason, "%s", message);
}

int pod_find_container(const struct pod *pod, const char *id)
{
    for (size_t i = 0; i < pod->spec->container_count; i++) {
        if (pod->state.containers[i].id && !strcmp(pod->state.containers[i].id, id))
            return (int)i;
    }
    return -1;
}

/* ---- status writes ---- */

static void on_reported(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct pod *pod = arg;
    (void)body;
    pod->report_call = NULL;
    if (r == -OSB_E_NOT_FOUND || r == -OSB_E_CONFLICT) { /* or another pod has the name */
        pod_set_deleting(pod, POD_FORCED_GRACE_S, true);
        return;
    }
    if (r < 0) {
        osb_log(OSB_LOG_WARN, "pod status not written",
                OSB_KV_STR("namespace", pod->spec->namespace_), OSB_KV_STR("pod", pod->spec->name),
                OSB_KV_ERR(err));
        osb_timer_set(&pod->report_retry, NODE_OBJECT_RETRY_MS);
        return;
    }
    osb_buf_clear(&pod->reported);
    osb_buf_append_slice(&pod->reported, osb_buf_slice(&pod->sending));
    pod_report(pod); /* in case it has changed meanwhile */
}

static void write_status(struct pod *pod)
{
    struct osb_err err = {0};
    if (pod->report_call || pod->state.is_object_gone || osb_timer_is_set(&pod->report_retry))
        return;
    osb_buf_clear(&pod->sending);
    pod_status_print(pod->spec, &pod->state, &pod->times, osb_loop_realtime_ns(pod->node->loop),
                     pod->node->host_ip, &pod->sending);
    if (osb_slice_eq(osb_buf_slice(&pod->sending), osb_buf_slice(&pod->reported)))
        return;
    int r = osb_kube_patch(pod->node->kube, &osb_kind_pod, pod->spec->namespace_, pod->spec->name,
                           "status", OSB_KUBE_PATCH_MERGE, osb_buf_slice(&pod->sending),
                           on_reported, pod, &pod->report_call, &err);
    if (r < 0)
        osb_timer_set(&pod->report_retry, NODE_OBJECT_RETRY_MS);
}

static void on_report(struct osb_defer *defer)
{
    write_status(defer->arg);
}

static void on_report_retry(struct osb_timer *timer)
{
    write_status(timer->arg);
}

void pod_report(struct pod *pod)
{
    osb_defer_post(&pod->report);
}

/* ---- deciding ---- */

static void on_kick(struct osb_defer *defer)
{
    struct pod *pod = defer->arg;
    uint64_t wake_ns = 0;
    if (pod->is_busy || pod->is_adopting)
        return;
    osb_timer_stop(&pod->wake);
    uint64_t now = osb_loop_now_ns(pod->node->loop);
    if (pod_put_off(pod->spec, &pod->state, now))
        pod_report(pod);
    enum pod_action action = pod_next_action(pod->spec, &pod->state, now, &pod->index, &wake_ns);
    if (action == POD_WAIT) {
        pod_secrets_free(osb_take_ptr(pod->secrets));
        if (wake_ns)
            osb_timer_set_at(&pod->wake, wake_ns);
        return;
    }
    pod->is_busy = true;
    pod->action = action;
    pod->step_ns = now;
    pod_step_start(pod);
}

static void on_wake(struct osb_timer *timer)
{
    pod_kick(timer->arg);
}

void pod_kick(struct pod *pod)
{
    osb_defer_post(&pod->kick);
}

static void on_recheck(struct osb_timer *timer)
{
    struct pod *pod = timer->arg;
    for (size_t i = 0; i < pod->spec->container_count; i++) {
        if (pod->state.containers[i].is_end_told)
            pod_refresh_container(pod, i);
    }
}

void pod_container_end_told(struct pod *pod, size_t index)
{
    pod->state.containers[index].is_end_told = true;
    pod_refresh_container(pod, index);
}

void pod_set_past_deadline(struct pod *pod)
{
    pod->state.is_past_deadline = true;
    pod->state.failed_reason = osb_strdup(POD_DEADLINE_REASON);
    pod->state.failed_message =
        osb_strdup("the pod was active on the node longer than its activeDeadlineSeconds");
}

static void on_deadline(struct osb_timer *timer)
{
    struct pod *pod = timer->arg;
    if (pod_is_finished(pod->spec, &pod->state))
        return;
    pod_set_past_deadline(pod);
    pod_step_interrupt(pod);
    pod_report(pod);
    pod_kick(pod);
}

void pod_set_deleting(struct pod *pod, int64_t grace_s, bool is_object_gone)
{
    struct pod_state *state = &pod->state;
    bool is_news = !state->is_deleting || grace_s < state->deletion_grace_s ||
                   (is_object_gone && !state->is_object_gone);
    state->is_deleting = true;
    state->is_object_gone |= is_object_gone;
    if (!is_news)
        return;
    state->deletion_grace_s = grace_s;
    pod_step_interrupt(pod);
    pod_kick(pod);
}

void pod_arm_deadline(struct pod *pod)
{
    int64_t deadline_s = pod->spec->deadline_s;
    if (deadline_s <= 0)
        return;
    int64_t ran_ms = (osb_loop_realtime_ns(pod->node->loop) - pod->times.start_ns) / 1000000;
    int64_t left_ms = deadline_s > INT64_MAX / 1000 ? INT64_MAX : deadline_s * 1000;
    left_ms = ran_ms < left_ms ? left_ms - (ran_ms > 0 ? ran_ms : 0) : 0;
    osb_timer_set(&pod->deadline, (uint64_t)left_ms);
}

struct pod *pod_new(struct node *node, struct pod_spec *spec)
{
    struct pod *pod = osb_new(struct pod);
    pod->node = node;
    pod->spec = spec;
    pod->times.start_ns = osb_loop_realtime_ns(node->loop);
    osb_timer_init(&pod->wake, node->loop, on_wake, pod);
    osb_defer_init(&pod->kick, node->loop, on_kick, pod);
    osb_defer_init(&pod->report, node->loop, on_report, pod);
    osb_timer_init(&pod->report_retry, node->loop, on_report_retry, pod);
    osb_timer_init(&pod->deadline, node->loop, on_deadline, pod);
    osb_timer_init(&pod->recheck, node->loop, on_recheck, pod);
    return pod;
}

void pod_free(struct pod *pod)
{
    if (!pod)
        return;
    pod_refresh_cancel_all(pod);
    osb_timer_stop(&pod->wake);
    osb_timer_stop(&pod->deadline);
    osb_timer_stop(&pod->recheck);
    osb_timer_stop(&pod->report_retry);
    osb_defer_cancel(&pod->kick);
    osb_defer_cancel(&pod->report);
    if (pod->cri_call)
        osb_cri_call_cancel(pod->cri_call);
    if (pod->kube_call)
        osb_kube_cancel(pod->kube_call);
    if (pod->report_call)
        osb_kube_cancel(pod->report_call);
    pod_secrets_free(pod->secrets);
    osb_buf_done(&pod->reported);
    osb_buf_done(&pod->sending);
    pod_state_done(&pod->state);
    pod_spec_free(pod->spec);
    free(pod);
}
