// SPDX-License-Identifier: Apache-2.0
#include "plan.h"

#include <osb/alloc.h>
#include <osb/err.h>

#include <stdlib.h>

static const struct {
    const char *name;
    enum plan_stage stage;
} types[] = {
    [ACTION_DELETE_SANDBOX] = {"delete-sandbox", STAGE_FIRST},
    [ACTION_CONFIRM_OWNER] = {"confirm-owner", STAGE_FIRST},
    [ACTION_ENSURE_TOKENS] = {"ensure-tokens", STAGE_FIRST},
    [ACTION_CREATE_POD] = {"create-pod", STAGE_PODS},
    [ACTION_DELETE_POD] = {"delete-pod", STAGE_PODS},
    [ACTION_PATCH_ANNOTATIONS] = {"patch-annotations", STAGE_ANNOTATIONS},
    [ACTION_PATCH_STATUS] = {"patch-status", STAGE_STATUS},
    [ACTION_EVENT] = {"event", STAGE_FIRST},
};

struct action *plan_add(struct plan *plan, enum action_type type)
{
    enum plan_stage before = plan->count ? plan->actions[plan->count - 1].stage : STAGE_FIRST;
    enum plan_stage stage = type == ACTION_EVENT ? before : types[type].stage;
    osb_assert(stage >= before);
    osb_grow(plan->actions, plan->count, plan->cap);
    struct action *action = &plan->actions[plan->count++];
    *action = (struct action){.type = type, .stage = stage};
    return action;
}

void plan_event(struct plan *plan, bool is_warning, const char *reason, const char *message)
{
    struct action *action = plan_add(plan, ACTION_EVENT);
    action->is_warning = is_warning;
    action->reason = osb_arena_strdup(&plan->arena, reason);
    action->message = osb_arena_strdup(&plan->arena, message);
}

void plan_requeue(struct plan *plan, uint64_t delay_ms)
{
    if (delay_ms == 0)
        delay_ms = 1;
    if (plan->requeue_after_ms == 0 || delay_ms < plan->requeue_after_ms)
        plan->requeue_after_ms = delay_ms;
}

void plan_done(struct plan *plan)
{
    osb_arena_done(&plan->arena);
    free(plan->actions);
    *plan = (struct plan){0};
}

const char *action_name(enum action_type type)
{
    return types[type].name;
}
