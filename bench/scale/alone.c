// SPDX-License-Identifier: Apache-2.0
/*
 * What the API server can do without an operator: this program makes the writes of a sandbox
 * itself, one after the other, many sandboxes at a time. Prints sandboxes a second.
 */
#include <osb/alloc.h>
#include <osb/clock.h>

#include <stdio.h>
#include <stdlib.h>

#include "scale.h"

/* The fewest writes with which a sandbox comes up: its caller's, its operator's, its kubelet's. */
enum write { SANDBOX, POD, POD_STATUS, ANNOTATIONS, STATUS, WRITES };

struct alone {
    struct scale *scale;
    size_t begun;
    size_t done;
};

struct chain {
    struct alone *alone;
    size_t index;
    enum write next;
};

static void go_on(struct chain *chain);

static void on_written(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct chain *chain = arg;
    struct alone *alone = chain->alone;
    (void)body;
    if (r < 0) {
        scale_fail(alone->scale, "a write", r, err);
        return;
    }
    if (++chain->next == WRITES) {
        if (++alone->done == alone->scale->options->count)
            osb_loop_stop(alone->scale->loop);
        if (alone->begun == alone->scale->options->count)
            return;
        chain->index = alone->begun++;
        chain->next = SANDBOX;
    }
    go_on(chain);
}

static int create(struct chain *chain, const char *name, struct osb_err *err)
{
    const struct scale *scale = chain->alone->scale;
    bool is_pod = chain->next == POD;
    _cleanup_json_ struct osb_json *object = is_pod ? scale_pod(name) : scale_sandbox(name);
    return osb_kube_create(scale->client, is_pod ? &osb_kind_pod : &osb_kind_batchsandbox,
                           scale->options->namespace_, object, on_written, chain, NULL, err);
}

static int patch(struct chain *chain, const char *name, struct osb_err *err)
{
    const struct scale *scale = chain->alone->scale;
    bool is_pod = chain->next == POD_STATUS;
    _cleanup_buf_ struct osb_buf text = {0};
    if (is_pod)
        scale_pod_status(&text, chain->index);
    else if (chain->next == ANNOTATIONS)
        osb_buf_append_str(&text, "{\"metadata\":{\"annotations\":{"
                                  "\"sandbox.opensandbox.io/endpoints\":\"[\\\"10.0.0.1\\\"]\"}}}");
    else
        osb_buf_append_str(&text, "{\"status\":{\"replicas\":1,\"allocated\":1,\"ready\":1,"
                                  "\"taskRunning\":0,\"taskSucceed\":0,\"taskFailed\":0,"
                                  "\"taskPending\":0,\"taskUnknown\":0,"
                                  "\"observedGeneration\":1,\"phase\":\"Succeed\"}}");
    return osb_kube_patch(scale->client, is_pod ? &osb_kind_pod : &osb_kind_batchsandbox,
                          scale->options->namespace_, name,
                          chain->next == ANNOTATIONS ? NULL : "status", OSB_KUBE_PATCH_MERGE,
                          osb_buf_slice(&text), on_written, chain, NULL, err);
}

static void go_on(struct chain *chain)
{
    char name[SCALE_NAME_MAX];
    struct osb_err err = {0};
    scale_name(name, chain->index);
    bool is_create = chain->next == SANDBOX || chain->next == POD;
    int r = is_create ? create(chain, name, &err) : patch(chain, name, &err);
    if (r < 0)
        scale_fail(chain->alone->scale, name, r, &err);
}

int scale_alone(struct scale *scale)
{
    const struct scale_options *options = scale->options;
    struct alone alone = {.scale = scale};
    size_t chains = options->at_a_time < options->count ? options->at_a_time : options->count;
    struct chain *chain = osb_calloc(chains, sizeof(*chain));
    uint64_t began_ns = osb_monotonic_ns();
    for (size_t i = 0; i < chains; i++) {
        chain[i] = (struct chain){.alone = &alone, .index = alone.begun++};
        go_on(&chain[i]);
    }
    osb_loop_run(scale->loop);
    if (scale->r >= 0)
        printf("%.1f\n",
               (double)options->count * OSB_NS_PER_S / (double)(osb_monotonic_ns() - began_ns));
    free(chain);
    return scale->r;
}
