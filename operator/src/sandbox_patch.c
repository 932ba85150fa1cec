// SPDX-License-Identifier: Apache-2.0
/* The merge patches of a reconcile: only fields that are ours, only when they change. */
#include <osb/alloc.h>
#include <osb/clock.h>
#include <osb/json_writer.h>

#include <string.h>

#include "sandbox_reconcile.h"
#include "sandbox_records.h"

#define ANNOTATION_ENDPOINTS "sandbox.opensandbox.io/endpoints"
/* Which pod was last seen in each slot: tells a pod made again from the first one, also after a
 * crash. */
#define ANNOTATION_POD_UIDS "opensandbox.io/pod-uids"
#define ANNOTATION_REPLACED "opensandbox.io/replaced-pods"

/* ---- annotations ---- */

/* A pod that nobody should be sent to has no address. */
static const char *endpoint_of(const struct slot *slot)
{
    enum pod_class class_ = slot->verdict.class_;
    if (class_ == POD_ABSENT || class_ == POD_TERMINATING || class_ == POD_ENDED)
        return "";
    return slot->pod->address ? slot->pod->address : "";
}

static char *print_strings(const char *(*get)(const void *items, size_t i), const void *items,
                           size_t count)
{
    struct osb_buf text = {0};
    struct osb_json_writer w;
    osb_json_writer_init(&w, &text);
    osb_json_begin_array(&w);
    for (size_t i = 0; i < count; i++)
        osb_json_string(&w, get(items, i));
    osb_json_end_array(&w);
    int r = osb_json_writer_finish(&w, NULL);
    osb_assert(r == 0);
    return osb_buf_take(&text);
}

static const char *get_endpoint(const void *items, size_t i)
{
    return endpoint_of(&((const struct slot *)items)[i]);
}

static const char *get_uid(const void *items, size_t i)
{
    return ((char *const *)items)[i];
}

/* Writes KEY when it differs from what the object has; true when written. */
static bool write_annotation(struct osb_json_writer *w, const struct batchsandbox *bs,
                             const char *key, const char *value)
{
    const char *before = batchsandbox_annotation(bs, key);
    if (before && strcmp(before, value) == 0)
        return false;
    osb_json_kv_string(w, key, value);
    return true;
}

char *sandbox_annotations_patch(const struct batchsandbox *bs, const struct sandbox_view *view,
                                struct osb_arena *arena)
{
    bool is_first = !batchsandbox_annotation(bs, ANNOTATION_ENDPOINTS);
    bool has_any = false;
    for (size_t i = 0; i < view->slot_count; i++)
        has_any = has_any || endpoint_of(&view->slots[i])[0];
    if (is_first && !has_any)
        return NULL; /* a list of nothing but empty strings tells nobody anything */

    _cleanup_free_ char *endpoints = print_strings(get_endpoint, view->slots, view->slot_count);
    _cleanup_free_ char *uids = print_strings(get_uid, view->uids, view->slot_count);
    _cleanup_free_ char *replaced = osb_asprintf("%lld", (long long)view->replaced);
    _cleanup_buf_ struct osb_buf text = {0};
    struct osb_json_writer w;
    osb_json_writer_init(&w, &text);
    osb_json_begin_object(&w);
    osb_json_key(&w, "metadata");
    osb_json_begin_object(&w);
    osb_json_key(&w, "annotations");
    osb_json_begin_object(&w);
    bool is_changed = write_annotation(&w, bs, ANNOTATION_ENDPOINTS, endpoints);
    is_changed |= write_annotation(&w, bs, ANNOTATION_POD_UIDS, uids);
    if (view->replaced > 0)
        is_changed |= write_annotation(&w, bs, ANNOTATION_REPLACED, replaced);
    osb_json_end_object(&w);
    osb_json_end_object(&w);
    osb_json_end_object(&w);
    int r = osb_json_writer_finish(&w, NULL);
    osb_assert(r == 0);
    return is_changed ? osb_arena_slice_dup(arena, osb_buf_slice(&text)) : NULL;
}

/* ---- status ---- */

/* Types that this controller writes; others on the object stay as they are. */
static bool is_our_type(const struct condition *condition)
{
    static const char *const types[] = {"Ready", "Progressing", "PodFailed"};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(condition->type, types[i]) == 0)
            return true;
    return strcmp(condition->type, "PauseFailed") == 0 && condition->reason &&
           strcmp(condition->reason, "UnsupportedPause") == 0;
}

static const struct view_condition *find_in_view(const struct sandbox_view *view, const char *type)
{
    for (size_t i = 0; i < view->condition_count; i++)
        if (strcmp(view->conditions[i].type, type) == 0)
            return &view->conditions[i];
    return NULL;
}

static bool is_same_condition(const struct condition *before, const struct view_condition *now)
{
    return before && before->reason && before->message &&
           strcmp(before->reason, now->reason) == 0 && strcmp(before->message, now->message) == 0;
}

static bool are_conditions_same(const struct batchsandbox *bs, const struct sandbox_view *view)
{
    for (size_t i = 0; i < view->condition_count; i++)
        if (!is_same_condition(batchsandbox_condition(bs, view->conditions[i].type),
                               &view->conditions[i]))
            return false;
    for (size_t i = 0; i < bs->status.condition_count; i++) {
        const struct condition *before = &bs->status.conditions[i];
        if (is_our_type(before) && (!before->is_true || !find_in_view(view, before->type)))
            return false;
    }
    return true;
}

static bool is_status_same(const struct batchsandbox *bs, const struct sandbox_view *view)
{
    const struct batchsandbox_status *status = &bs->status;
    return status->is_present && status->observed_generation == bs->generation &&
           status->replicas == view->replicas && status->allocated == view->allocated &&
           status->ready == view->ready && status->phase == view->phase &&
           are_conditions_same(bs, view);
}

static void write_condition(struct osb_json_writer *w, const char *type, const char *reason,
                            const char *message, bool is_true, int64_t transition_ns)
{
    osb_json_begin_object(w);
    osb_json_kv_string(w, "type", type);
    osb_json_kv_string(w, "status", is_true ? "True" : "False");
    osb_json_kv_string_opt(w, "reason", reason);
    osb_json_kv_string_opt(w, "message", message);
    if (transition_ns)
        osb_json_kv_time(w, "lastTransitionTime", transition_ns);
    osb_json_end_object(w);
}

/* A merge patch replaces the list as a whole, so what others wrote goes along. */
static void write_conditions(struct osb_json_writer *w, const struct batchsandbox *bs,
                             const struct sandbox_view *view, int64_t now_ns)
{
    osb_json_key(w, "conditions");
    osb_json_begin_array(w);
    for (size_t i = 0; i < bs->status.condition_count; i++) {
        const struct condition *other = &bs->status.conditions[i];
        if (!is_our_type(other) && !find_in_view(view, other->type))
            write_condition(w, other->type, other->reason, other->message, other->is_true,
                            other->last_transition_ns);
    }
    for (size_t i = 0; i < view->condition_count; i++) {
        const struct view_condition *now = &view->conditions[i];
        const struct condition *before = batchsandbox_condition(bs, now->type);
        bool is_same = is_same_condition(before, now) && before->last_transition_ns;
        write_condition(w, now->type, now->reason, now->message, true,
                        is_same ? before->last_transition_ns : now_ns);
    }
    osb_json_end_array(w);
}

char *sandbox_status_patch(const struct batchsandbox *bs, const struct sandbox_view *view,
                           int64_t now_ns, struct osb_arena *arena)
{
    static const char *const task_counters[] = {"taskRunning", "taskSucceed", "taskFailed",
                                                "taskPending", "taskUnknown"};
    if (is_status_same(bs, view))
        return NULL;
    _cleanup_buf_ struct osb_buf text = {0};
    struct osb_json_writer w;
    osb_json_writer_init(&w, &text);
    osb_json_begin_object(&w);
    osb_json_key(&w, "status");
    osb_json_begin_object(&w);
    osb_json_kv_i64(&w, "observedGeneration", bs->generation);
    osb_json_kv_i64(&w, "replicas", view->replicas);
    osb_json_kv_i64(&w, "allocated", view->allocated);
    osb_json_kv_i64(&w, "ready", view->ready);
    if (!bs->status.is_present) /* the schema wants all counters; the tasks' stay 0 here */
        for (size_t i = 0; i < sizeof(task_counters) / sizeof(task_counters[0]); i++)
            osb_json_kv_i64(&w, task_counters[i], 0);
    osb_json_kv_string(&w, "phase", phase_name(view->phase));
    if (!are_conditions_same(bs, view))
        write_conditions(&w, bs, view, now_ns);
    osb_json_end_object(&w);
    osb_json_end_object(&w);
    int r = osb_json_writer_finish(&w, NULL);
    osb_assert(r == 0);
    return osb_arena_slice_dup(arena, osb_buf_slice(&text));
}
