// SPDX-License-Identifier: Apache-2.0
/*
 * An API server in memory behind the client's transport, on the virtual clock: enough of create,
 * get, list, watch, merge patch and delete for the operator, and faults on demand. It outlives the
 * operators that the test starts and kills on it.
 */
#ifndef OPERATOR_TEST_FAKE_API_H
#define OPERATOR_TEST_FAKE_API_H

#include <osb/json_tree.h>
#include <osb/kube_client.h>
#include <osb/list.h>

enum fake_fault {
    FAKE_OK,
    FAKE_UNAVAILABLE, /* 503, nothing done */
    FAKE_CONFLICT,    /* 409 Conflict, nothing done */
    FAKE_SLOW_DOWN,   /* 429 with Retry-After: 2, nothing done */
    FAKE_INVALID,     /* 422, nothing done */
    FAKE_DROP,        /* the connection breaks before anything is done */
    FAKE_LOSE         /* it is done, then the connection breaks */
};

struct fake_object {
    struct osb_list link;
    char *collection; /* "pods" */
    char *namespace_;
    char *name;
    struct osb_json *tree;
};

struct fake_api {
    struct osb_loop *loop;
    struct osb_list objects;
    struct osb_list transports;
    struct osb_list history; /* all changes */
    uint64_t forgotten;      /* a watch from before this version is answered 410 */
    uint64_t version;
    uint64_t uid;
    uint64_t answer_ms;    /* until an answer comes */
    uint64_t watch_lag_ms; /* until a change reaches the watches */
    const char *pod_label; /* lists and watches show the pods that have it; NULL: all */
    /* Asked before each write. */
    enum fake_fault (*fault)(struct fake_api *api, const char *method, const char *path, void *arg);
    void *fault_arg;
    int writes;       /* requests that changed something */
    int pods_created; /* in all */
    int pods_refused; /* POSTs for a name that was there */
};

struct fake_api *fake_api_new(struct osb_loop *loop);
/* All transports must be freed before. */
void fake_api_free(struct fake_api *api);
struct osb_kube_transport *fake_api_transport(struct fake_api *api);

/* The test's own hand, without faults. TEXT is JSON; asserts success. */
void fake_api_put(struct fake_api *api, const char *collection, const char *text);
/* Merge patch. */
void fake_api_patch(struct fake_api *api, const char *collection, const char *name,
                    const char *text);
void fake_api_remove(struct fake_api *api, const char *collection, const char *name);
/* Borrowed; NULL when absent. */
struct osb_json *fake_api_get(const struct fake_api *api, const char *collection, const char *name);
int fake_api_count(const struct fake_api *api, const char *collection);
/* Closes all watches as a server that restarts does. */
void fake_api_cut_watches(struct fake_api *api);

/*
 * A node: gives pods an address and a running, ready container, removes those that are being
 * deleted. True when it had something to do.
 */
bool fake_node_turn(struct fake_api *api);
/* The garbage collector's slow round: removes Secrets that came after their owner had gone. */
void fake_collect_secrets(struct fake_api *api);

#endif
