// SPDX-License-Identifier: Apache-2.0
#include "sandbox_work.h"

#include <osb/alloc.h>
#include <osb/log.h>
#include <osb/metric.h>

#include <stdlib.h>
#include <string.h>

static void go_on(struct sandbox_work *work);

/* ---- helpers ---- */

const struct batchsandbox *sandbox_work_object(const struct sandbox_work *work)
{
    const struct batchsandbox *bs =
        batchsandbox_get(work->controller->op->batchsandboxes, work->namespace_, work->name);
    if (!bs || !work->uid || strcmp(bs->object.uid, work->uid) != 0 ||
        bs->generation != work->generation || bs->is_deleting)
        return NULL;
    return bs;
}

void sandbox_work_event(const struct sandbox_work *work, bool is_warning, const char *reason,
                        const char *message)
{
    const char *const annotations[] = {ANNOTATION_REQUEST_ID,
                                       work->request_id,
                                       ANNOTATION_TRACEPARENT,
                                       work->traceparent,
                                       NULL,
                                       NULL};
    struct osb_kube_ref about = {
        .kind = &osb_kind_batchsandbox,
        .namespace_ = work->namespace_,
        .name = work->name,
        .uid = work->uid,
        .annotations = work->request_id || work->traceparent ? annotations : NULL,
    };
    osb_kube_event(work->controller->op->events, &about, is_warning, reason, "%s", message);
}

static void log_failure(const struct sandbox_step *step, int r, const struct osb_err *err)
{
    const struct sandbox_work *work = step->work;
    osb_log(OSB_LOG_WARN, "action failed", OSB_KV_STR("verb", action_name(step->action->type)),
            OSB_KV_STR("namespace", work->namespace_), OSB_KV_STR("sandbox", work->name),
            OSB_KV_STR("pod", step->action->name), OSB_KV_STR("code", osb_err_info(r)->name),
            OSB_KV_STR("error", err ? err->message : ""),
            OSB_KV_STR("request_id", work->request_id),
            OSB_KV_STR("traceparent", work->traceparent));
}

static void count_action(enum action_type type, bool is_good)
{
    static struct osb_metric *counters[ACTION_EVENT + 1][2];
    if (!counters[type][is_good]) {
        _cleanup_free_ char *labels = osb_asprintf("action=\"%s\",result=\"%s\"", action_name(type),
                                                   is_good ? "ok" : "error");
        counters[type][is_good] =
            osb_metric_new(OSB_METRIC_COUNTER, "opensandbox_reconcile_actions_total",
                           "Actions carried out for BatchSandboxes", labels);
    }
    osb_metric_add(counters[type][is_good], 1);
}

static void observe_duration(const struct sandbox_work *work)
{
    static struct osb_metric *duration;
    if (!duration)
        duration = osb_metric_new(OSB_METRIC_HISTOGRAM, "opensandbox_reconcile_seconds",
                                  "Time that a reconcile with actions took", NULL);
    osb_metric_observe_ns(duration, osb_loop_now_ns(work->controller->op->loop) - work->began_ns);
}

/* ---- life ---- */

static void work_free(struct sandbox_work *work)
{
    osb_list_remove(&work->link);
    plan_done(&work->plan);
    free(work->key);
    free(work->namespace_);
    free(work->name);
    free(work->uid);
    free(work->request_id);
    free(work->traceparent);
    free(work->left_uid);
    free(work->live_uid);
    free(work);
}

static void finish(struct sandbox_work *work)
{
    struct osb_kube_queue *queue = work->controller->queue;
    _cleanup_free_ char *key = osb_take_ptr(work->key);
    uint64_t requeue_ms = work->plan.requeue_after_ms;
    int r = work->r;
    if (work->requeue_after_ms && (!requeue_ms || work->requeue_after_ms < requeue_ms))
        requeue_ms = work->requeue_after_ms;
    if (r < 0 && work->retry_after_s > 0) { /* the server says when: that is its back-off */
        requeue_ms = (uint64_t)work->retry_after_s * 1000;
        r = 0;
    }
    observe_duration(work);
    work_free(work);
    osb_kube_queue_done(queue, key, r, requeue_ms);
}

void sandbox_work_start(struct sandbox_controller *controller, const char *key,
                        const char *namespace_, const char *name, const struct batchsandbox *bs,
                        struct plan *plan)
{
    struct sandbox_work *work = osb_new(struct sandbox_work);
    work->controller = controller;
    work->key = osb_strdup(key);
    work->namespace_ = osb_strdup(namespace_);
    work->name = osb_strdup(name);
    if (bs) {
        work->uid = osb_strdup(bs->object.uid);
        work->generation = bs->generation;
        work->request_id = osb_strdup(batchsandbox_annotation(bs, ANNOTATION_REQUEST_ID));
        work->traceparent = osb_strdup(batchsandbox_annotation(bs, ANNOTATION_TRACEPARENT));
    }
    work->plan = *plan;
    *plan = (struct plan){0};
    work->began_ns = osb_loop_now_ns(controller->op->loop);
    osb_list_init(&work->steps);
    osb_list_append(&controller->works, &work->link);
    go_on(work);
}

void sandbox_work_cancel_all(struct sandbox_controller *controller)
{
    struct sandbox_work *work, *next_work;
    struct sandbox_step *step, *next_step;
    osb_list_foreach_safe (work, next_work, &controller->works, link) {
        osb_list_foreach_safe (step, next_step, &work->steps, link) {
            osb_kube_cancel(step->call);
            free(step);
        }
        work_free(work);
    }
}

/* ---- running ---- */

/*
 * After an error: without tokens no pods, without endpoints no status. A pod that is not valid does
 * not keep the others from being made; a server that refuses or fails is not pressed.
 */
static bool is_to_be_skipped(const struct sandbox_work *work, const struct action *action)
{
    const int *failed = work->stage_r;
    if (action->type == ACTION_EVENT && failed[action->stage] < 0)
        return true;
    if (action->stage == STAGE_PODS)
        return failed[STAGE_FIRST] < 0 ||
               (failed[STAGE_PODS] < 0 && failed[STAGE_PODS] != -OSB_E_INVALID);
    return action->stage == STAGE_STATUS && failed[STAGE_ANNOTATIONS] < 0;
}

static void fail(struct sandbox_work *work, enum plan_stage stage, int r)
{
    if (work->r >= 0)
        work->r = r;
    if (work->stage_r[stage] >= 0)
        work->stage_r[stage] = r;
}

static void start_action(struct sandbox_work *work, const struct action *action)
{
    struct osb_err err = {0};
    struct sandbox_step *step = osb_new(struct sandbox_step);
    step->work = work;
    step->action = action;
    osb_list_append(&work->steps, &step->link);
    work->running++;
    osb_kube_client_set_request_id(work->controller->op->client, work->request_id);
    int r = sandbox_action_start(step, &err);
    osb_kube_client_set_request_id(work->controller->op->client, NULL);
    if (r == 0)
        return;
    if (r < 0)
        log_failure(step, r, &err);
    count_action(action->type, r > 0);
    osb_list_remove(&step->link);
    free(step);
    work->running--;
    if (r < 0)
        fail(work, action->stage, r);
}

static void go_on(struct sandbox_work *work)
{
    while (work->next < work->plan.count) {
        const struct action *action = &work->plan.actions[work->next];
        bool is_barrier = action->stage != work->stage || action->type == ACTION_EVENT;
        if (work->running > 0 && (is_barrier || work->running >= SANDBOX_WRITES_AT_A_TIME))
            return;
        work->stage = action->stage;
        work->next++;
        if (is_to_be_skipped(work, action))
            continue;
        if (action->type == ACTION_EVENT)
            sandbox_work_event(work, action->is_warning, action->reason, action->message);
        else
            start_action(work, action);
    }
    if (work->running == 0)
        finish(work);
}

void sandbox_step_end(struct sandbox_step *step, int r, const struct osb_err *err)
{
    struct sandbox_work *work = step->work;
    if (r < 0) {
        log_failure(step, r, err);
        work->retry_after_s = osb_kube_retry_after_s(work->controller->op->client);
        fail(work, step->action->stage, r);
    }
    count_action(step->action->type, r >= 0);
    osb_list_remove(&step->link);
    free(step);
    work->running--;
    go_on(work);
}
