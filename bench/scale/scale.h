// SPDX-License-Identifier: Apache-2.0
/*
 * Many sandboxes on a real API server without kubelets: this program makes BatchSandboxes of one
 * pod at a rate, plays the kubelet for their pods, and writes down when what was seen. Each verb
 * lives in a file of its own; a request that fails ends the run, since its figures mean nothing.
 */
#ifndef BENCH_SCALE_H
#define BENCH_SCALE_H

#include <osb/buf.h>
#include <osb/kube_client.h>
#include <osb/kube_reflector.h>
#include <osb/kube_store.h>
#include <osb/loop.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCALE_MAX_COUNT = 1000000, SCALE_NAME_MAX = 32 };

struct scale_options {
    const char *kubeconfig; /* NULL: $KUBECONFIG */
    const char *namespace_;
    size_t count;
    double rate;      /* sandboxes a second */
    size_t at_a_time; /* of verbs that go as fast as they can */
    uint64_t timeout_s;
};

struct scale {
    const struct scale_options *options;
    struct osb_loop *loop;
    struct osb_kube_client *client;
    int r; /* of the first failure */
};

/* Each runs until its work is done or has failed, and prints its result. */
int scale_alone(struct scale *scale);
int scale_run(struct scale *scale);
int scale_delete(struct scale *scale);

/* Ends the loop with R; the first failure is printed. WHAT says whose. */
void scale_fail(struct scale *scale, const char *what, int r, const struct osb_err *err);

/* ---- names and texts (texts.c) ---- */

void scale_name(char name[static SCALE_NAME_MAX], size_t index);
/* The index in the name of a sandbox or of its pod; false for any other name. */
bool scale_index(const char *name, size_t count, size_t *ret);
struct osb_json *scale_sandbox(const char *name);
/* What an operator would make of it; only where there is none. */
struct osb_json *scale_pod(const char *name);
/* Running, Ready and with an address of its own, as a kubelet writes it. */
void scale_pod_status(struct osb_buf *out, size_t index);

/* ---- what is kept of objects (objects.c) ---- */

struct scale_object {
    struct osb_kube_object object;
    bool is_deleting;
    bool has_address; /* of a pod: status.podIP */
    int64_t ready;    /* of a BatchSandbox: status.ready */
};

static inline const struct scale_object *scale_object_of(const struct osb_kube_object *object)
{
    return (const struct scale_object *)object;
}

struct scale_cache {
    struct osb_kube_store *store;
    struct osb_kube_reflector *reflector;
};

/* The namespace's objects of KIND; FN is told of every change. A watch that fails is a failure. */
void scale_cache_start(struct scale_cache *cache, struct scale *scale,
                       const struct osb_api_kind *kind, osb_kube_change_fn *fn, void *arg);
void scale_cache_done(struct scale_cache *cache);

#endif
