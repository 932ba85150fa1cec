// SPDX-License-Identifier: Apache-2.0
#include "sandbox_view.h"

#include <stdio.h>
#include <string.h>

#include "sandbox_records.h"

/* ---- slots ---- */

static bool is_named_for(const struct pod *pod, const struct batchsandbox *bs, size_t index)
{
    size_t len = strlen(bs->object.name);
    char digits[24];
    snprintf(digits, sizeof(digits), "%zu", index);
    return strncmp(pod->object.name, bs->object.name, len) == 0 && pod->object.name[len] == '-' &&
           strcmp(pod->object.name + len + 1, digits) == 0;
}

static void put_into_slots(const struct reconcile_input *in, struct osb_arena *arena,
                           struct sandbox_view *view)
{
    int64_t wanted = in->bs->replicas;
    view->slot_count = wanted < 0 || wanted > BATCHSANDBOX_MAX_REPLICAS ? 0 : (size_t)wanted;
    view->slots = osb_arena_calloc(arena, view->slot_count + 1, sizeof(*view->slots));
    view->extra = osb_arena_calloc(arena, in->pod_count + 1, sizeof(*view->extra));
    for (size_t i = 0; i < in->pod_count; i++) {
        const struct pod *pod = in->pods[i];
        if (pod->index < 0)
            continue; /* not made by us: counted, otherwise left alone */
        if ((size_t)pod->index >= view->slot_count) {
            view->extra[view->extra_count++] = pod;
            continue;
        }
        struct slot *slot = &view->slots[pod->index];
        if (slot->pod) { /* two of an index: the one with our name stays */
            bool is_better = is_named_for(pod, in->bs, (size_t)pod->index);
            view->extra[view->extra_count++] = is_better ? slot->pod : pod;
            if (!is_better)
                continue;
        }
        slot->pod = pod;
        slot->verdict = pod_verdict(pod, &in->observed[i]);
        view->is_unknown |= in->observed[i].is_unknown;
    }
}

static void count(const struct reconcile_input *in, struct sandbox_view *view)
{
    view->replicas = (int64_t)in->pod_count;
    for (size_t i = 0; i < in->pod_count; i++)
        if (in->pods[i]->node_name || in->pods[i]->address)
            view->allocated++;
    for (size_t i = 0; i < view->slot_count; i++) {
        if (view->slots[i].verdict.class_ == POD_READY)
            view->ready++;
        if (!view->slots[i].pod)
            view->missing++;
    }
}

/* ---- what is wrong with the spec ---- */

static void check_spec(const struct batchsandbox *bs, struct sandbox_view *view)
{
    static const struct {
        const char *reason;
        const char *message;
    } not_built[] = {
        {"UnsupportedPool",
         "spec.poolRef: pools are not built into this operator; give a template"},
        {"UnsupportedTaskTemplate", "spec.taskTemplate: tasks are not built into this operator"},
    };
    if (bs->pool_ref || bs->has_task_template) {
        int which = bs->pool_ref ? 0 : 1;
        view->spec_reason = not_built[which].reason;
        view->spec_message = not_built[which].message;
    } else if (bs->spec_error) {
        bool is_expiry = bs->expire_time && !bs->has_expiry;
        view->spec_reason = is_expiry ? "InvalidExpireTime" : "InvalidSpec";
        view->spec_message = bs->spec_error;
    } else if (!bs->template_) {
        view->spec_reason = "InvalidSpec";
        view->spec_message = "spec.template is missing: there is nothing to make pods from";
    }
}

/* ---- conditions ---- */

static void add_condition(struct sandbox_view *view, const char *type, const char *reason,
                          const char *message)
{
    osb_assert(view->condition_count < VIEW_MAX_CONDITIONS);
    view->conditions[view->condition_count++] = (struct view_condition){type, reason, message};
}

struct failures {
    size_t count;
    const struct slot *sample; /* the first slot with the most frequent reason */
};

static bool has_failed(const struct slot *slot)
{
    return slot->verdict.class_ == POD_FAILING || slot->verdict.class_ == POD_ENDED;
}

static struct failures find_failures(const struct sandbox_view *view)
{
    struct failures failures = {0};
    size_t most = 0;
    for (size_t i = 0; i < view->slot_count; i++) {
        const struct slot *slot = &view->slots[i];
        size_t same = 0;
        if (!has_failed(slot))
            continue;
        failures.count++;
        for (size_t j = i; j < view->slot_count; j++)
            if (has_failed(&view->slots[j]) &&
                strcmp(view->slots[j].verdict.reason, slot->verdict.reason) == 0)
                same++;
        if (same > most) {
            most = same;
            failures.sample = slot;
        }
    }
    return failures;
}

/* "1/1 observed pods failed; primary reason=Error; sample pod=x-0; exit code=3; …" */
static const char *describe_failures(const struct failures *failures,
                                     const struct sandbox_view *view, struct osb_arena *arena)
{
    enum { MAX_WORDS = 512 }; /* of the node; the rest is on the pod */
    const struct verdict *verdict = &failures->sample->verdict;
    const char *node = failures->sample->pod->node_name;
    char *text = osb_arena_printf(
        arena, "%zu/%lld observed pods failed; primary reason=%s; sample pod=%s", failures->count,
        (long long)view->replicas, verdict->reason, failures->sample->pod->object.name);
    if (verdict->container)
        text = osb_arena_printf(arena, "%s; container=%s", text, verdict->container);
    if (verdict->last_end)
        text = osb_arena_printf(arena, "%s; last end=%s", text, verdict->last_end);
    if (verdict->has_exit_code)
        text = osb_arena_printf(arena, "%s; exit code=%lld", text, (long long)verdict->exit_code);
    if (verdict->advice)
        text =
            osb_arena_printf(arena, "%s; node=%s; %s", text, node ? node : "none", verdict->advice);
    if (verdict->message && verdict->message[0])
        text = osb_arena_printf(arena, "%s; %.*s", text, MAX_WORDS, verdict->message);
    return text;
}

static const char *find_unschedulable(const struct sandbox_view *view)
{
    for (size_t i = 0; i < view->slot_count; i++)
        if (view->slots[i].verdict.class_ == POD_STARTING && view->slots[i].pod->unschedulable)
            return view->slots[i].pod->unschedulable;
    return NULL;
}

static const struct pod *find_leaving(const struct sandbox_view *view)
{
    for (size_t i = 0; i < view->slot_count; i++)
        if (view->slots[i].verdict.class_ == POD_TERMINATING)
            return view->slots[i].pod;
    return NULL;
}

/* Its name is needed for the next one; on a node that is lost, somebody has to force it. */
static const char *describe_leaving(const struct pod *pod, struct osb_arena *arena)
{
    return osb_arena_printf(arena,
                            "Pod %s on node %s is being deleted; it is made again when it is gone",
                            pod->object.name, pod->node_name ? pod->node_name : "none");
}

/* A sandbox that could be used before, and whose pod runs as far as anybody knows. */
static const struct pod *find_silent(const struct batchsandbox *bs, const struct sandbox_view *view)
{
    const struct condition *before = batchsandbox_condition(bs, "Progressing");
    bool was_silent = before && before->reason && strcmp(before->reason, "ExecdSilent") == 0;
    if (bs->status.phase != PHASE_SUCCEED && !was_silent)
        return NULL;
    for (size_t i = 0; i < view->slot_count; i++) {
        const struct slot *slot = &view->slots[i];
        if (slot->verdict.class_ == POD_STARTING && slot->pod->has_execd &&
            (slot->pod->phase == POD_RUNNING || slot->pod->phase == POD_UNKNOWN))
            return slot->pod;
    }
    return NULL;
}

static const char *describe_silent(const struct pod *pod, struct osb_arena *arena)
{
    return osb_arena_printf(arena, "Pod %s on node %s does not answer: its node may be lost",
                            pod->object.name, pod->node_name ? pod->node_name : "none");
}

static void add_pod_failed(const struct reconcile_input *in, const struct failures *failures,
                           struct osb_arena *arena, struct sandbox_view *view)
{
    if (view->spec_reason)
        add_condition(view, "PodFailed", view->spec_reason, view->spec_message);
    else if (failures->count > 0)
        add_condition(view, "PodFailed", failures->sample->verdict.reason,
                      describe_failures(failures, view, arena));
    else if (in->create_error && view->missing > 0)
        add_condition(view, "PodFailed", in->create_reason, in->create_error);
}

static void add_state(const struct batchsandbox *bs, struct osb_arena *arena,
                      struct sandbox_view *view)
{
    const struct pod *silent = find_silent(bs, view);
    const char *unschedulable = find_unschedulable(view);
    const struct pod *leaving = find_leaving(view);
    if (view->phase == PHASE_SUCCEED && view->replaced > 0)
        add_condition(view, "Ready", "PodReplaced",
                      osb_arena_printf(arena,
                                       "Sandbox is running; %lld lost pods were made again, what "
                                       "they had on disk is gone",
                                       (long long)view->replaced));
    else if (view->phase == PHASE_SUCCEED)
        add_condition(view, "Ready", "PodsReady", "Sandbox is running");
    else if (view->phase == PHASE_PENDING && unschedulable)
        add_condition(view, "Progressing", "Unschedulable", unschedulable);
    else if (view->phase == PHASE_PENDING && leaving)
        add_condition(view, "Progressing", "PodTerminating", describe_leaving(leaving, arena));
    else if (view->phase == PHASE_PENDING && silent)
        add_condition(view, "Progressing", "ExecdSilent", describe_silent(silent, arena));
    else if (view->phase == PHASE_PENDING)
        add_condition(view, "Progressing", "Creating", "Sandbox is being created");
}

/* ---- the whole ---- */

static enum phase decide_phase(const struct reconcile_input *in, const struct failures *failures,
                               const struct sandbox_view *view)
{
    if (view->spec_reason && view->replicas == 0)
        return PHASE_FAILED;
    if (failures->count > 0)
        return PHASE_FAILED;
    if (view->ready == (int64_t)view->slot_count)
        return PHASE_SUCCEED;
    return in->create_error && view->missing > 0 ? PHASE_FAILED : PHASE_PENDING;
}

void sandbox_view_make(const struct reconcile_input *in, struct osb_arena *arena,
                       struct sandbox_view *view)
{
    *view = (struct sandbox_view){0};
    put_into_slots(in, arena, view);
    count(in, view);
    sandbox_records_update(in->bs, arena, view);
    check_spec(in->bs, view);
    struct failures failures = find_failures(view);
    view->phase = decide_phase(in, &failures, view);
    add_state(in->bs, arena, view);
    add_pod_failed(in, &failures, arena, view);
    if (in->bs->pause == TRISTATE_TRUE)
        add_condition(view, "PauseFailed", "UnsupportedPause",
                      "spec.pause: pausing is not built into this operator; the sandbox runs on");
}
