// SPDX-License-Identifier: Apache-2.0
/*
 * Makes sandboxes at a rate, whatever the answers take (an open loop: a slow server is not spared),
 * and plays the kubelet. A line a sandbox, in microseconds since the start:
 *
 *     CREATED POD_SEEN READY_WRITTEN READY_SEEN LATE
 *
 * CREATED and READY_WRITTEN are the API server's answers, the others are events of our watches;
 * LATE is how much later than its turn the create was sent. What the operator takes is between
 * READY_WRITTEN and READY_SEEN: its watch, its decision, its writes, and our watch.
 */
#include <osb/alloc.h>
#include <osb/clock.h>

#include <stdio.h>
#include <stdlib.h>

#include "scale.h"

enum { PACE_MS = 2 };

struct sandbox {
    struct run *run;
    uint64_t late_ns;
    uint64_t created_ns;
    uint64_t pod_seen_ns;
    uint64_t ready_written_ns;
    uint64_t ready_seen_ns;
};

struct run {
    struct scale *scale;
    struct scale_cache pods;
    struct scale_cache batchsandboxes;
    struct osb_timer pace;
    uint64_t began_ns;
    struct sandbox *sandboxes;
    size_t begun; /* creates sent */
    size_t ready; /* and acknowledged: all four times are known */
};

static void note(struct run *run, struct sandbox *sandbox, uint64_t *at)
{
    if (*at)
        return;
    *at = osb_monotonic_ns();
    if (!sandbox->created_ns || !sandbox->ready_written_ns || !sandbox->ready_seen_ns)
        return;
    if (++run->ready == run->scale->options->count)
        osb_loop_stop(run->scale->loop);
}

static struct sandbox *sandbox_of(struct run *run, const struct osb_kube_object *object)
{
    size_t index;
    return scale_index(object->name, run->scale->options->count, &index) ? &run->sandboxes[index]
                                                                         : NULL;
}

/* ---- the kubelet ---- */

static void on_status_written(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct sandbox *sandbox = arg;
    (void)body;
    if (r < 0)
        scale_fail(sandbox->run->scale, "the status of a pod", r, err);
    else
        note(sandbox->run, sandbox, &sandbox->ready_written_ns);
}

static void on_pod(enum osb_kube_change change, const struct osb_kube_object *old,
                   const struct osb_kube_object *current, void *arg)
{
    struct run *run = arg;
    struct scale *scale = run->scale;
    struct sandbox *sandbox = current ? sandbox_of(run, current) : NULL;
    _cleanup_buf_ struct osb_buf patch = {0};
    struct osb_err err = {0};
    (void)change;
    (void)old;
    if (!sandbox || sandbox->pod_seen_ns)
        return;
    note(run, sandbox, &sandbox->pod_seen_ns);
    scale_pod_status(&patch, (size_t)(sandbox - run->sandboxes));
    int r = osb_kube_patch(scale->client, &osb_kind_pod, current->namespace_, current->name,
                           "status", OSB_KUBE_PATCH_MERGE, osb_buf_slice(&patch), on_status_written,
                           sandbox, NULL, &err);
    if (r < 0)
        scale_fail(scale, current->name, r, &err);
}

static void on_batchsandbox(enum osb_kube_change change, const struct osb_kube_object *old,
                            const struct osb_kube_object *current, void *arg)
{
    struct run *run = arg;
    struct sandbox *sandbox = current ? sandbox_of(run, current) : NULL;
    (void)change;
    (void)old;
    if (sandbox && scale_object_of(current)->ready > 0)
        note(run, sandbox, &sandbox->ready_seen_ns);
}

/* ---- creating ---- */

static void on_created(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct sandbox *sandbox = arg;
    (void)body;
    if (r < 0)
        scale_fail(sandbox->run->scale, "a create", r, err);
    else
        note(sandbox->run, sandbox, &sandbox->created_ns);
}

static void create(struct run *run, size_t index)
{
    struct scale *scale = run->scale;
    char name[SCALE_NAME_MAX];
    struct osb_err err = {0};
    scale_name(name, index);
    _cleanup_json_ struct osb_json *object = scale_sandbox(name);
    int r = osb_kube_create(scale->client, &osb_kind_batchsandbox, scale->options->namespace_,
                            object, on_created, &run->sandboxes[index], NULL, &err);
    if (r < 0)
        scale_fail(scale, name, r, &err);
}

static void on_pace(struct osb_timer *timer)
{
    struct run *run = timer->arg;
    const struct scale_options *options = run->scale->options;
    uint64_t now_ns = osb_monotonic_ns();
    while (run->begun < options->count) {
        uint64_t due_ns =
            run->began_ns + (uint64_t)((double)run->begun / options->rate * OSB_NS_PER_S);
        if (due_ns > now_ns)
            break;
        run->sandboxes[run->begun].late_ns = now_ns - due_ns;
        create(run, run->begun++);
    }
    if (run->begun < options->count)
        osb_timer_set(timer, PACE_MS);
}

static void on_synced(void *arg)
{
    struct run *run = arg;
    if (run->began_ns || !osb_kube_reflector_is_synced(run->pods.reflector) ||
        !osb_kube_reflector_is_synced(run->batchsandboxes.reflector))
        return;
    run->began_ns = osb_monotonic_ns();
    osb_timer_set(&run->pace, 0);
}

static void print(const struct run *run)
{
    for (size_t i = 0; i < run->scale->options->count; i++) {
        const struct sandbox *s = &run->sandboxes[i];
        const uint64_t at_ns[] = {s->created_ns, s->pod_seen_ns, s->ready_written_ns,
                                  s->ready_seen_ns};
        for (size_t j = 0; j < sizeof(at_ns) / sizeof(at_ns[0]); j++)
            printf("%.0f ", ((double)at_ns[j] - (double)run->began_ns) / 1000);
        printf("%.0f\n", (double)s->late_ns / 1000);
    }
}

int scale_run(struct scale *scale)
{
    struct run run = {.scale = scale};
    run.sandboxes = osb_calloc(scale->options->count, sizeof(*run.sandboxes));
    for (size_t i = 0; i < scale->options->count; i++)
        run.sandboxes[i].run = &run;
    osb_timer_init(&run.pace, scale->loop, on_pace, &run);
    scale_cache_start(&run.pods, scale, &osb_kind_pod, on_pod, &run);
    scale_cache_start(&run.batchsandboxes, scale, &osb_kind_batchsandbox, on_batchsandbox, &run);
    osb_kube_reflector_on_sync(run.pods.reflector, on_synced, &run);
    osb_kube_reflector_on_sync(run.batchsandboxes.reflector, on_synced, &run);
    osb_loop_run(scale->loop);
    if (scale->r < 0)
        fprintf(stderr, "scale: %zu of %zu begun, %zu ready\n", run.begun, scale->options->count,
                run.ready);
    else
        print(&run);
    osb_timer_stop(&run.pace);
    scale_cache_done(&run.pods);
    scale_cache_done(&run.batchsandboxes);
    free(run.sandboxes);
    return scale->r;
}
