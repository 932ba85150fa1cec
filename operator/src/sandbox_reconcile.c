// SPDX-License-Identifier: Apache-2.0
#include "sandbox_reconcile.h"

#include <osb/alloc.h>
#include <osb/clock.h>

#include <stdlib.h>
#include <string.h>

/* ---- expiry ---- */

/* True when the object is to be deleted now, and nothing else done. */
static bool expire(const struct reconcile_input *in, struct plan *plan)
{
    const struct batchsandbox *bs = in->bs;
    if (!bs->has_expiry)
        return false;
    if (bs->expire_ns > in->now_ns) {
        plan_requeue(plan, (uint64_t)(bs->expire_ns - in->now_ns) / OSB_NS_PER_MS + 1);
        return false;
    }
    plan_add(plan, ACTION_DELETE_SANDBOX);
    plan_event(plan, false, "Expired",
               osb_arena_printf(&plan->arena, "expireTime %s is over: deleted", bs->expire_time));
    return true;
}

/* ---- pods ---- */

static void delete_pod(struct plan *plan, const struct pod *pod, const char *why)
{
    struct action *action = plan_add(plan, ACTION_DELETE_POD);
    action->name = osb_arena_strdup(&plan->arena, pod->object.name);
    action->uid = osb_arena_strdup(&plan->arena, pod->object.uid);
    action->message = osb_arena_strdup(&plan->arena, why);
}

static void create_pod(struct plan *plan, const struct batchsandbox *bs, size_t index)
{
    struct action *action = plan_add(plan, ACTION_CREATE_POD);
    action->index = (int)index;
    action->name = osb_arena_printf(&plan->arena, "%s-%zu", bs->object.name, index);
}

static int by_index_descending(const void *a, const void *b)
{
    const struct pod *const *left = a;
    const struct pod *const *right = b;
    return (*right)->index - (*left)->index;
}

/* Highest index first: what is kept when the operator stops in the middle is a whole prefix. */
static void delete_extra(const struct sandbox_view *view, struct plan *plan)
{
    qsort(view->extra, view->extra_count, sizeof(view->extra[0]), by_index_descending);
    for (size_t i = 0; i < view->extra_count; i++)
        if (!view->extra[i]->is_deleting)
            delete_pod(plan, view->extra[i], "more pods than spec.replicas");
}

static void replace_ended(const struct reconcile_input *in, const struct sandbox_view *view,
                          struct plan *plan)
{
    for (size_t i = 0; i < view->slot_count; i++) {
        const struct pod *pod = view->slots[i].pod;
        if (!pod || !pod_is_to_be_replaced(pod))
            continue;
        int64_t age_ms = (in->now_ns - pod->created_ns) / (int64_t)OSB_NS_PER_MS;
        if (age_ms >= 0 && age_ms < REPLACE_MIN_AGE_MS)
            plan_requeue(plan, (uint64_t)(REPLACE_MIN_AGE_MS - age_ms));
        else
            delete_pod(plan, pod, view->slots[i].verdict.reason);
    }
}

static void create_missing(const struct reconcile_input *in, const struct sandbox_view *view,
                           struct plan *plan)
{
    for (size_t i = 0; i < view->slot_count; i++)
        if (!view->slots[i].pod)
            create_pod(plan, in->bs, i);
}

/* Pods of an object that had this name before: they hold names that are needed. */
static void delete_strangers(const struct reconcile_input *in, struct plan *plan)
{
    for (size_t i = 0; i < in->stranger_count; i++) {
        const struct pod *pod = in->strangers[i];
        if (pod->is_deleting)
            continue;
        delete_pod(plan, pod, "its owner is gone");
        plan->actions[plan->count - 1].owner_uid = osb_arena_strdup(&plan->arena, pod->owner_uid);
    }
}

static bool has_live_strangers(const struct reconcile_input *in)
{
    for (size_t i = 0; i < in->stranger_count; i++)
        if (!in->strangers[i]->is_deleting)
            return true;
    return false;
}

static void scale(const struct reconcile_input *in, const struct sandbox_view *view,
                  struct plan *plan)
{
    bool may_make = in->may_scale && !view->spec_reason;
    if (has_live_strangers(in))
        plan_add(plan, ACTION_CONFIRM_OWNER);
    if (may_make && in->bs->has_execd && view->missing > 0)
        plan_add(plan, ACTION_ENSURE_TOKENS);
    delete_strangers(in, plan);
    if (!may_make)
        return;
    delete_extra(view, plan);
    replace_ended(in, view, plan);
    create_missing(in, view, plan);
}

/* ---- the whole ---- */

/* Tells what the new status will say that the old did not. */
static void tell_changes(const struct batchsandbox *bs, const struct sandbox_view *view,
                         struct plan *plan)
{
    for (size_t i = 0; i < view->condition_count; i++) {
        const struct view_condition *now = &view->conditions[i];
        const struct condition *before = batchsandbox_condition(bs, now->type);
        bool is_news = !before || !before->reason || strcmp(before->reason, now->reason) != 0;
        bool is_warning = strcmp(now->type, "Ready") != 0;
        bool is_plain = strcmp(now->reason, "Creating") == 0;
        if (is_news && !is_plain)
            plan_event(plan, is_warning, now->reason, now->message);
    }
}

static void write_status(const struct reconcile_input *in, const struct sandbox_view *view,
                         struct plan *plan)
{
    char *text = sandbox_annotations_patch(in->bs, view, &plan->arena);
    if (text)
        plan_add(plan, ACTION_PATCH_ANNOTATIONS)->text = text;
    /* A new operator knows nothing yet of execds that answered its predecessor. */
    if (view->is_unknown && in->bs->status.phase == PHASE_SUCCEED)
        return;
    text = sandbox_status_patch(in->bs, view, in->now_ns, &plan->arena);
    if (!text)
        return;
    struct action *action = plan_add(plan, ACTION_PATCH_STATUS);
    action->text = text;
    action->from = in->bs->status.phase;
    action->to = view->phase;
    tell_changes(in->bs, view, plan);
}

/* Somebody else paused it: its pods are gone on purpose, and only the snapshot knows its state. */
static void leave_paused(const struct reconcile_input *in, struct plan *plan)
{
    plan_event(plan, true, "UnsupportedPause",
               osb_arena_printf(&plan->arena,
                                "phase %s: pausing is not built into this operator, the object is "
                                "left as it is",
                                phase_name(in->bs->status.phase)));
}

void sandbox_reconcile(const struct reconcile_input *in, struct plan *plan)
{
    struct sandbox_view view;
    if (in->bs->is_deleting) /* pods go with their owner; nothing is made any more */
        return;
    if (expire(in, plan))
        return;
    if (phase_is_pause(in->bs->status.phase)) {
        leave_paused(in, plan);
        return;
    }
    sandbox_view_make(in, &plan->arena, &view);
    scale(in, &view, plan);
    write_status(in, &view, plan);
}

void sandbox_reconcile_gone(const struct reconcile_input *in, struct plan *plan)
{
    if (!has_live_strangers(in))
        return;
    plan_add(plan, ACTION_CONFIRM_OWNER);
    delete_strangers(in, plan);
}
