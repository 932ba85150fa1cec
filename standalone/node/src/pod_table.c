// SPDX-License-Identifier: Apache-2.0
#include "pod_table.h"

#include "cri_inventory.h"
#include "log_rotation.h"
#include "orphans.h"
#include "pod.h"
#include "pod_adopt.h"
#include "rejection.h"

#include <osb/alloc.h>
#include <osb/api_meta.h>
#include <osb/kube_reflector.h>
#include <osb/log.h>
#include <stdlib.h>
#include <string.h>

/* The store keeps a pod's text; it is parsed when it is taken in, and on deletion. */
struct stored_pod {
    struct osb_kube_object head;
    char *text;
    size_t len;
};

struct pod_table {
    struct node *node;
    struct osb_map pods; /* by uid */
    struct osb_kube_store *store;
    struct osb_kube_reflector *reflector;
    struct osb_cri_events *events;
    struct cri_inventory *found; /* at start, until all pods have been seen once */
    struct cri_inventory_call *listing;
    struct orphans *orphans;
    struct rejections *rejections;
    struct osb_timer relist;
    void (*ready)(void *arg);
    void *ready_arg;
    bool is_started;
};

/* ---- the projection ---- */

static int stored_decode(struct osb_slice raw, struct osb_kube_object *object, struct osb_err *err)
{
    struct stored_pod *pod = (struct stored_pod *)object;
    (void)err;
    pod->text = osb_slice_dup(raw);
    pod->len = raw.len;
    return 0;
}

static void stored_clear(struct osb_kube_object *object)
{
    free(((struct stored_pod *)object)->text);
}

static const struct osb_kube_projection projection = {
    .size = sizeof(struct stored_pod),
    .decode = stored_decode,
    .clear = stored_clear,
};

/* ---- pods from the API server ---- */

static void update_deletion(struct pod *pod, const struct osb_json *object)
{
    if (!osb_api_is_deleting(object))
        return;
    const struct osb_json *grace = osb_json_get_path(object, "metadata.deletionGracePeriodSeconds");
    pod_set_deleting(pod, osb_json_i64_or(grace, pod->spec->grace_s), false);
}

static bool is_ours(const struct pod_table *table, const struct osb_json *object)
{
    const char *node = osb_json_cstr(osb_json_get_path(object, "spec.nodeName"));
    return node && !strcmp(node, table->node->options.node_name);
}

static void take_in(struct pod_table *table, struct osb_json *object)
{
    struct osb_err err = {0};
    struct pod_spec *spec = NULL;
    struct osb_json *copy = osb_json_copy(object);
    if (pod_spec_parse(copy, &spec, &err) < 0) {
        rejections_take(table->rejections, object, &err);
        return;
    }
    struct pod *pod = pod_new(table->node, spec);
    (void)osb_map_set(&table->pods, osb_slice_str(spec->uid), pod);
    pod_adopt(pod, table->found);
    pod_arm_deadline(pod);
    update_deletion(pod, object);
    pod_report(pod);
    pod_kick(pod);
}

static void on_change(enum osb_kube_change change, const struct osb_kube_object *old,
                      const struct osb_kube_object *current, void *arg)
{
    struct pod_table *table = arg;
    const struct stored_pod *stored = (const struct stored_pod *)(current ? current : old);
    struct pod *pod = osb_map_get(&table->pods, osb_slice_str(stored->head.uid));
    /* Deleted and made again under the same name between two looks. */
    if (old && current && strcmp(old->uid, current->uid) != 0) {
        struct pod *gone = osb_map_get(&table->pods, osb_slice_str(old->uid));
        if (gone)
            pod_set_deleting(gone, POD_FORCED_GRACE_S, true);
    }
    if (change == OSB_KUBE_DELETED) {
        if (pod)
            pod_set_deleting(pod, POD_FORCED_GRACE_S, true);
        return;
    }
    _cleanup_json_ struct osb_json *object = NULL;
    struct osb_err err = {0};
    if (osb_json_parse(osb_slice(stored->text, stored->len), &object, &err) < 0) {
        osb_log(OSB_LOG_ERROR, "pod cannot be read", OSB_KV_STR("pod", stored->head.name),
                OSB_KV_ERR(&err));
        return;
    }
    if (!is_ours(table, object))
        return;
    if (pod)
        update_deletion(pod, object);
    else
        take_in(table, object);
}

/* ---- what containerd tells ---- */

static void each_pod(struct pod_table *table, void (*fn)(struct pod *pod, void *arg), void *arg)
{
    struct osb_map_entry *cursor = NULL;
    struct osb_slice uid;
    void *pod;
    while (osb_map_next(&table->pods, &cursor, &uid, &pod))
        fn(pod, arg);
}

static void ended_by_id(struct pod *pod, void *arg)
{
    const char *id = arg;
    int index = pod_find_container(pod, id);
    if (index >= 0)
        pod_container_end_told(pod, (size_t)index);
    else if (pod->state.sandbox_id && !strcmp(pod->state.sandbox_id, id))
        pod_refresh_sandbox(pod);
}

static void on_cri_event(const struct osb_cri_event *event, void *arg)
{
    struct pod_table *table = arg;
    switch (event->type) {
    case OSB_CRI_EVENT_CONTAINER_EXITED:
        each_pod(table, ended_by_id, (void *)(uintptr_t)event->container_id);
        break;
    case OSB_CRI_EVENT_CONNECTED:
        osb_timer_set(&table->relist, 0);
        break;
    default:
        break;
    }
}

/* ---- relist: what events may have missed ---- */

static void relist_pod(struct pod *pod, void *arg)
{
    const struct cri_inventory *inventory = arg;
    for (size_t i = 0; i < pod->spec->container_count; i++) {
        const struct container_state *state = &pod->state.containers[i];
        bool is_running = false;
        if (state->phase != CONTAINER_PHASE_RUNNING)
            continue;
        for (size_t c = 0; c < inventory->container_count; c++)
            is_running |= inventory->containers[c].is_running &&
                          !strcmp(inventory->containers[c].id, state->id);
        if (!is_running)
            pod_refresh_container(pod, i);
        else
            log_rotate(pod, i);
    }
    if (pod->state.sandbox != SANDBOX_PHASE_READY)
        return;
    for (size_t s = 0; s < inventory->sandbox_count; s++) {
        if (!strcmp(inventory->sandboxes[s].id, pod->state.sandbox_id) &&
            inventory->sandboxes[s].is_ready)
            return;
    }
    pod_refresh_sandbox(pod);
}

/*
 * Whether a sandbox belongs to nobody: it came too late, from a call that was thought lost. A pod
 * has one sandbox at a time, so another one of it is older; while it makes one, nothing can be
 * said.
 */
static bool is_orphan(struct pod_table *table, const struct found_sandbox *sandbox)
{
    const struct pod *pod = osb_map_get(&table->pods, osb_slice_str(sandbox->pod_uid));
    if (!pod)
        return true;
    if (pod->state.sandbox_id)
        return strcmp(pod->state.sandbox_id, sandbox->id) != 0;
    return !pod->is_busy || pod->action != POD_RUN_SANDBOX;
}

static void on_relisted(int r, struct cri_inventory *inventory, const struct osb_err *err,
                        void *arg)
{
    struct pod_table *table = arg;
    table->listing = NULL;
    osb_timer_set(&table->relist, NODE_RELIST_MS);
    if (r < 0) {
        osb_log(OSB_LOG_WARN, "list sandboxes", OSB_KV_ERR(err));
        return;
    }
    each_pod(table, relist_pod, inventory);
    for (size_t i = 0; table->is_started && i < inventory->sandbox_count; i++)
        inventory->sandboxes[i].is_claimed = !is_orphan(table, &inventory->sandboxes[i]);
    if (table->is_started)
        orphans_remove(table->orphans, inventory);
    cri_inventory_free(inventory);
}

static void on_relist(struct osb_timer *timer)
{
    struct pod_table *table = timer->arg;
    if (table->listing)
        return;
    if (cri_inventory_take(table->node->cri, on_relisted, table, &table->listing, NULL) < 0)
        osb_timer_set(&table->relist, NODE_RELIST_MS);
}

/* ---- start ---- */

static void on_synced(void *arg)
{
    struct pod_table *table = arg;
    struct cri_inventory *found = osb_take_ptr(table->found);
    table->is_started = true;
    orphans_remove(table->orphans, found);
    cri_inventory_free(found);
    osb_timer_set(&table->relist, NODE_RELIST_MS);
    table->ready(table->ready_arg);
}

static void on_first_list(int r, struct cri_inventory *inventory, const struct osb_err *err,
                          void *arg)
{
    struct pod_table *table = arg;
    table->listing = NULL;
    if (r < 0) {
        osb_log(OSB_LOG_ERROR, "CRI cannot list sandboxes", OSB_KV_ERR(err));
        osb_loop_stop(table->node->loop);
        return;
    }
    table->found = inventory;
    struct osb_kube_reflector_options options = {.kind = &osb_kind_pod};
    table->reflector =
        osb_kube_reflector_new(table->node->loop, table->node->kube, table->store, &options);
    osb_kube_reflector_on_sync(table->reflector, on_synced, table);
    osb_kube_reflector_start(table->reflector);
}

int pod_table_new(struct node *node, void (*ready)(void *arg), void *arg, struct pod_table **ret,
                  struct osb_err *err)
{
    struct pod_table *table = osb_new(struct pod_table);
    table->node = node;
    table->ready = ready;
    table->ready_arg = arg;
    table->store = osb_kube_store_new(&projection);
    table->orphans = orphans_new(node);
    table->rejections = rejections_new(node);
    osb_kube_store_subscribe(table->store, on_change, table);
    osb_timer_init(&table->relist, node->loop, on_relist, table);
    int r =
        osb_cri_events_new(node->loop, node->options.cri, on_cri_event, table, &table->events, err);
    if (r >= 0)
        r = cri_inventory_take(node->cri, on_first_list, table, &table->listing, err);
    if (r < 0) {
        pod_table_free(table);
        return r;
    }
    *ret = table;
    return 0;
}

static void free_pod(void *pod)
{
    pod_free(pod);
}

void pod_table_free(struct pod_table *table)
{
    if (!table)
        return;
    osb_timer_stop(&table->relist);
    cri_inventory_cancel(table->listing);
    cri_inventory_free(table->found);
    if (table->reflector)
        osb_kube_reflector_free(table->reflector);
    if (table->events)
        osb_cri_events_free(table->events);
    orphans_free(table->orphans);
    rejections_free(table->rejections);
    osb_map_done(&table->pods, free_pod);
    osb_kube_store_free(table->store);
    free(table);
}

void pod_table_forget(struct pod_table *table, struct pod *pod)
{
    (void)osb_map_remove(&table->pods, osb_slice_str(pod->spec->uid));
    pod_free(pod);
}

struct pod *pod_table_find(struct pod_table *table, const char *namespace_, const char *name)
{
    struct osb_map_entry *cursor = NULL;
    struct osb_slice uid;
    void *value;
    struct pod *best = NULL;
    while (osb_map_next(&table->pods, &cursor, &uid, &value)) {
        struct pod *pod = value;
        if (!strcmp(pod->spec->namespace_, namespace_) && !strcmp(pod->spec->name, name) &&
            (!best || best->state.is_object_gone))
            best = pod;
    }
    return best;
}
