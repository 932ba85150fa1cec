// SPDX-License-Identifier: Apache-2.0
#include "sandbox_controller.h"

#include <osb/alloc.h>
#include <osb/metric.h>

#include <stdlib.h>
#include <string.h>

#include "sandbox_reconcile.h"
#include "sandbox_work.h"

/* How often the pull of an image of a pod was put off. */
struct pull_watch {
    bool is_put_off; /* now */
    int count;
};

/* ---- memory ---- */

struct sandbox_memory *sandbox_memory_of(struct sandbox_controller *controller, const char *key)
{
    struct sandbox_memory *memory = osb_map_get(&controller->memories, osb_slice_str(key));
    if (!memory) {
        memory = osb_new(struct sandbox_memory);
        osb_map_set(&controller->memories, osb_slice_str(key), memory);
    }
    return memory;
}

void sandbox_memory_set_error(struct sandbox_memory *memory, const char *reason,
                              const char *message)
{
    free(memory->create_reason);
    free(memory->create_error);
    memory->create_reason = osb_strdup(reason);
    memory->create_error = osb_strdup(message);
}

static void memory_free(void *value)
{
    struct sandbox_memory *memory = value;
    sandbox_memory_set_error(memory, NULL, NULL);
    free(memory);
}

static void forget(struct sandbox_controller *controller, const char *key)
{
    void *memory = osb_map_remove(&controller->memories, osb_slice_str(key));
    if (memory)
        memory_free(memory);
    osb_kube_expectations_forget(controller->expectations, key);
}

/* ---- what is heard ---- */

static void on_batchsandbox(enum osb_kube_change change, const struct osb_kube_object *old,
                            const struct osb_kube_object *current, void *arg)
{
    struct sandbox_controller *controller = arg;
    const struct osb_kube_object *object = current ? current : old;
    (void)change;
    if (!controller->leads)
        return;
    _cleanup_free_ char *key = osb_asprintf("%s/%s", object->namespace_, object->name);
    osb_kube_queue_add(controller->queue, key);
}

static void note_pull(struct sandbox_controller *controller, const struct pod *pod)
{
    struct pull_watch *pull = osb_map_get(&controller->pulls, osb_slice_str(pod->object.uid));
    bool is_put_off = pod_has_pull_backoff(pod);
    if (!pull && !is_put_off)
        return;
    if (!pull) {
        pull = osb_new(struct pull_watch);
        osb_map_set(&controller->pulls, osb_slice_str(pod->object.uid), pull);
    }
    if (is_put_off && !pull->is_put_off)
        pull->count++;
    pull->is_put_off = is_put_off;
}

static void forget_pod(struct sandbox_controller *controller, const struct pod *pod)
{
    ping_forget(controller->op->ping, pod->object.uid);
    free(osb_map_remove(&controller->pulls, osb_slice_str(pod->object.uid)));
}

static void on_pod(enum osb_kube_change change, const struct osb_kube_object *old,
                   const struct osb_kube_object *current, void *arg)
{
    struct sandbox_controller *controller = arg;
    const struct pod *pod = pod_of(current ? current : old);
    /* The store's own object, which nobody has looked at yet. */
    if (old && current)
        pod_keep_address((struct pod *)pod, pod_of(old));
    if (old && current && strcmp(old->uid, current->uid) != 0)
        forget_pod(controller, pod_of(old)); /* its deletion was missed */
    if (change == OSB_KUBE_DELETED) {
        forget_pod(controller, pod);
    } else {
        note_pull(controller, pod);
        if (controller->leads)
            ping_observe(controller->op->ping, pod);
    }
    if (!pod->owner_name || !controller->leads)
        return;
    _cleanup_free_ char *key = osb_asprintf("%s/%s", pod->object.namespace_, pod->owner_name);
    if (change == OSB_KUBE_DELETED || pod->is_deleting)
        osb_kube_observe_delete(controller->expectations, key, pod->object.uid);
    osb_kube_observe_create(controller->expectations, key, pod->object.name);
    if (old && current && strcmp(old->uid, current->uid) != 0)
        osb_kube_observe_delete(controller->expectations, key, old->uid);
    osb_kube_queue_add(controller->queue, key);
}

void sandbox_controller_told(const char *namespace_, const char *owner_name, void *arg)
{
    struct sandbox_controller *controller = arg;
    osb_assert(controller->leads); /* nobody else asks */
    _cleanup_free_ char *key = osb_asprintf("%s/%s", namespace_, owner_name);
    osb_kube_queue_add(controller->queue, key);
}

/* ---- a reconcile ---- */

struct gathered {
    const struct pod **pods;
    const struct pod **strangers;
    struct observation *observed;
    size_t pod_count;
    size_t stranger_count;
};

static struct observation observe(const struct sandbox_controller *controller,
                                  const struct pod *pod)
{
    const struct pull_watch *pull = osb_map_get(&controller->pulls, osb_slice_str(pod->object.uid));
    return (struct observation){
        .has_answered = pod->has_execd && ping_has_answered(controller->op->ping, pod),
        .is_unknown = pod->has_execd && ping_is_first(controller->op->ping, pod),
        .pull_backoffs = pull ? pull->count : 0,
    };
}

static void gather(const struct sandbox_controller *controller, const char *key, const char *uid,
                   struct osb_arena *arena, struct gathered *g)
{
    const struct osb_kube_store *pods = controller->op->pods;
    size_t count = 0;
    for (const struct pod *pod = NULL; (pod = pod_next_of(pods, key, pod));)
        count++;
    g->pods = osb_arena_calloc(arena, count + 1, sizeof(struct pod *));
    g->strangers = osb_arena_calloc(arena, count + 1, sizeof(struct pod *));
    g->observed = osb_arena_calloc(arena, count + 1, sizeof(*g->observed));
    for (const struct pod *pod = NULL; (pod = pod_next_of(pods, key, pod));) {
        if (!uid || strcmp(pod->owner_uid, uid) != 0) {
            g->strangers[g->stranger_count++] = pod;
            continue;
        }
        g->observed[g->pod_count] = observe(controller, pod);
        g->pods[g->pod_count++] = pod;
    }
}

static void decide(struct sandbox_controller *controller, const char *key,
                   const struct batchsandbox *bs, struct plan *plan)
{
    struct gathered g = {0};
    uint64_t remaining_ms = 0;
    gather(controller, key, bs ? bs->object.uid : NULL, &plan->arena, &g);
    struct reconcile_input in = {
        .bs = bs,
        .pods = g.pods,
        .observed = g.observed,
        .pod_count = g.pod_count,
        .strangers = g.strangers,
        .stranger_count = g.stranger_count,
        .now_ns = osb_loop_realtime_ns(controller->op->loop),
    };
    if (!bs) {
        sandbox_reconcile_gone(&in, plan);
        return;
    }
    const struct sandbox_memory *memory = sandbox_memory_of(controller, key);
    in.create_reason = memory->create_reason;
    in.create_error = memory->create_error;
    in.may_scale = osb_kube_expectations_are_met(controller->expectations, key, &remaining_ms);
    sandbox_reconcile(&in, plan);
    if (!in.may_scale)
        plan_requeue(plan, remaining_ms);
}

/* The cache does not show what we wrote last: deciding by it would only write it again. */
static bool is_stale(struct sandbox_controller *controller, const char *key,
                     const struct batchsandbox *bs)
{
    struct sandbox_memory *memory = sandbox_memory_of(controller, key);
    if (!bs->object.version || bs->object.version >= memory->written_version)
        return false;
    uint64_t age_ns = osb_loop_now_ns(controller->op->loop) - memory->written_ns;
    if (age_ns < SANDBOX_STALE_LIMIT_MS * 1000000ULL)
        return true;
    memory->written_version = 0;
    return false;
}

static void work(struct osb_kube_queue *queue, const char *key, void *arg)
{
    struct sandbox_controller *controller = arg;
    const char *slash = strchr(key, '/');
    _cleanup_free_ char *namespace_ = osb_strndup(key, (size_t)(slash - key));
    const struct batchsandbox *bs =
        batchsandbox_get(controller->op->batchsandboxes, namespace_, slash + 1);
    struct plan plan = {0};
    if (bs && is_stale(controller, key, bs)) {
        osb_kube_queue_done(queue, key, 0, SANDBOX_STALE_RETRY_MS);
        return;
    }
    if (!bs)
        forget(controller, key);
    decide(controller, key, bs, &plan);
    if (plan.count > 0) {
        sandbox_work_start(controller, key, namespace_, slash + 1, bs, &plan);
        return;
    }
    uint64_t requeue_after_ms = plan.requeue_after_ms;
    plan_done(&plan);
    osb_kube_queue_done(queue, key, 0, requeue_after_ms);
}

/* ---- life ---- */

static void make_queue(struct sandbox_controller *controller)
{
    struct operator* op = controller->op;
    controller->queue =
        osb_kube_queue_new(op->loop, op->config->concurrency, controller->seed, work, controller);
    controller->expectations = osb_kube_expectations_new(op->loop);
}

static void drop_queue(struct sandbox_controller *controller)
{
    sandbox_work_cancel_all(controller);
    osb_kube_queue_free(controller->queue);
    osb_kube_expectations_free(controller->expectations);
    osb_map_done(&controller->memories, memory_free);
    controller->memories = (struct osb_map){0};
}

struct sandbox_controller *sandbox_controller_new(struct operator* op, uint64_t seed)
{
    struct sandbox_controller *controller = osb_new(struct sandbox_controller);
    controller->op = op;
    osb_list_init(&controller->works);
    controller->seed = seed;
    make_queue(controller);
    osb_kube_store_subscribe(op->batchsandboxes, on_batchsandbox, controller);
    osb_kube_store_subscribe(op->pods, on_pod, controller);
    return controller;
}

/* As if all that the caches hold were new. */
static void hear_all(struct sandbox_controller *controller)
{
    const struct operator* op = controller->op;
    const struct osb_kube_object *object = NULL;
    while ((object = osb_kube_store_next(op->batchsandboxes, object)))
        on_batchsandbox(OSB_KUBE_ADDED, NULL, object, controller);
    while ((object = osb_kube_store_next(op->pods, object)))
        on_pod(OSB_KUBE_ADDED, NULL, object, controller);
}

static void stop_asking(const struct sandbox_controller *controller)
{
    const struct osb_kube_object *object = NULL;
    while ((object = osb_kube_store_next(controller->op->pods, object)))
        ping_forget(controller->op->ping, object->uid);
}

void sandbox_controller_lead(struct sandbox_controller *controller, bool leads)
{
    osb_assert(leads != controller->leads);
    controller->leads = leads;
    if (leads) {
        osb_assert(operator_is_synced(controller->op));
        hear_all(controller);
        return;
    }
    drop_queue(controller);
    make_queue(controller);
    stop_asking(controller);
}

void sandbox_controller_free(struct sandbox_controller *controller)
{
    if (!controller)
        return;
    drop_queue(controller);
    osb_map_done(&controller->pulls, free);
    free(controller);
}

void sandbox_controller_sample_metrics(const struct sandbox_controller *controller)
{
    struct osb_metric *depth = osb_metric_new(OSB_METRIC_GAUGE, "opensandbox_queue_depth",
                                              "BatchSandboxes that wait for their reconcile", NULL);
    struct osb_metric *retries =
        osb_metric_new(OSB_METRIC_COUNTER, "opensandbox_reconcile_retries_total",
                       "Reconciles that ended with an error and are tried again", NULL);
    osb_metric_set(depth, (int64_t)osb_kube_queue_depth(controller->queue));
    osb_metric_set(retries, (int64_t)osb_kube_queue_retries(controller->queue));
}
