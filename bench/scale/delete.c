// SPDX-License-Identifier: Apache-2.0
/*
 * Deletes every BatchSandbox of the namespace and waits until these and all pods are gone: the
 * operator's work where no garbage collector runs. Prints the seconds that it took.
 */
#include <osb/alloc.h>
#include <osb/clock.h>

#include <stdio.h>
#include <stdlib.h>

#include "scale.h"

struct deletion {
    struct scale *scale;
    struct scale_cache pods;
    struct scale_cache batchsandboxes;
    uint64_t began_ns;
    char **names;
    size_t count;
    size_t cap;
    size_t begun;
};

static void next(struct deletion *deletion);

static void on_deleted(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct deletion *deletion = arg;
    (void)body;
    if (r < 0)
        scale_fail(deletion->scale, "a deletion", r, err);
    else
        next(deletion);
}

static void next(struct deletion *deletion)
{
    const struct osb_kube_delete_options options = {.grace_seconds = -1};
    struct osb_err err = {0};
    if (deletion->begun == deletion->count)
        return;
    const char *name = deletion->names[deletion->begun++];
    int r = osb_kube_delete(deletion->scale->client, &osb_kind_batchsandbox,
                            deletion->scale->options->namespace_, name, &options, on_deleted,
                            deletion, NULL, &err);
    if (r < 0)
        scale_fail(deletion->scale, name, r, &err);
}

static void stop_when_empty(const struct deletion *deletion)
{
    if (osb_kube_store_count(deletion->pods.store) == 0 &&
        osb_kube_store_count(deletion->batchsandboxes.store) == 0)
        osb_loop_stop(deletion->scale->loop);
}

static void on_change(enum osb_kube_change change, const struct osb_kube_object *old,
                      const struct osb_kube_object *current, void *arg)
{
    const struct deletion *deletion = arg;
    (void)old;
    (void)current;
    if (change == OSB_KUBE_DELETED && deletion->began_ns)
        stop_when_empty(deletion);
}

static void on_synced(void *arg)
{
    struct deletion *deletion = arg;
    const struct osb_kube_object *object = NULL;
    if (deletion->began_ns || !osb_kube_reflector_is_synced(deletion->pods.reflector) ||
        !osb_kube_reflector_is_synced(deletion->batchsandboxes.reflector))
        return;
    while ((object = osb_kube_store_next(deletion->batchsandboxes.store, object))) {
        osb_grow(deletion->names, deletion->count, deletion->cap);
        deletion->names[deletion->count++] = osb_strdup(object->name);
    }
    deletion->began_ns = osb_monotonic_ns();
    for (size_t i = 0; i < deletion->scale->options->at_a_time; i++)
        next(deletion);
    stop_when_empty(deletion);
}

int scale_delete(struct scale *scale)
{
    struct deletion deletion = {.scale = scale};
    scale_cache_start(&deletion.pods, scale, &osb_kind_pod, on_change, &deletion);
    scale_cache_start(&deletion.batchsandboxes, scale, &osb_kind_batchsandbox, on_change,
                      &deletion);
    osb_kube_reflector_on_sync(deletion.pods.reflector, on_synced, &deletion);
    osb_kube_reflector_on_sync(deletion.batchsandboxes.reflector, on_synced, &deletion);
    osb_loop_run(scale->loop);
    if (scale->r < 0)
        fprintf(stderr, "scale: %zu sandboxes and %zu pods are left\n",
                osb_kube_store_count(deletion.batchsandboxes.store),
                osb_kube_store_count(deletion.pods.store));
    else
        printf("%.3f\n", (double)(osb_monotonic_ns() - deletion.began_ns) / OSB_NS_PER_S);
    scale_cache_done(&deletion.pods);
    scale_cache_done(&deletion.batchsandboxes);
    for (size_t i = 0; i < deletion.count; i++)
        free(deletion.names[i]);
    free(deletion.names);
    return scale->r;
}
