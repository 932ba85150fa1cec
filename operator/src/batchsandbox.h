// SPDX-License-Identifier: Apache-2.0
/*
 * The projection of a BatchSandbox: what the controller decides by and what the REST facade shows.
 * The pod template and the shard patches stay text, parsed only when a pod is made from them or its
 * fields are asked for.
 */
#ifndef OPERATOR_BATCHSANDBOX_H
#define OPERATOR_BATCHSANDBOX_H

#include <osb/json_tree.h>
#include <osb/kube_store.h>

#include "pairs.h"
#include "phase.h"

enum {
    BATCHSANDBOX_MAX_CONDITIONS = 16,
    BATCHSANDBOX_MAX_REPLICAS = 4000, /* endpoints of more do not fit an annotation */
};

enum restart_policy { RESTART_ALWAYS, RESTART_ON_FAILURE, RESTART_NEVER };

enum tristate { TRISTATE_NONE, TRISTATE_FALSE, TRISTATE_TRUE };

struct condition {
    char *type;
    char *reason;
    char *message;
    bool is_true;
    int64_t last_transition_ns; /* 0 when unknown */
};

struct batchsandbox_status {
    bool is_present; /* counters have been written */
    int64_t observed_generation;
    int64_t replicas;
    int64_t allocated;
    int64_t ready;
    enum phase phase;
    struct condition *conditions;
    size_t condition_count;
    size_t condition_cap;
};

struct batchsandbox {
    struct osb_kube_object object;
    int64_t generation;
    int64_t created_ns;
    bool is_deleting;
    struct pairs labels;
    struct pairs annotations;
    /* spec */
    int64_t replicas;
    char *pool_ref;      /* NULL when absent or "" */
    char *template_;     /* JSON text of spec.template; NULL when absent */
    char *shard_patches; /* JSON text of spec.shardPatches; NULL when absent */
    bool has_task_template;
    char *expire_time; /* as written; NULL when absent */
    bool has_expiry;   /* expire_time could be read */
    int64_t expire_ns; /* wall clock */
    enum tristate pause;
    bool has_execd;                     /* the template asks for execd to be put in */
    char *spec_error;                   /* a field that has the wrong type; NULL when all is well */
    enum restart_policy restart_policy; /* of the template */
    struct batchsandbox_status status;
};

extern const struct osb_kube_projection batchsandbox_projection;

static inline const struct batchsandbox *batchsandbox_of(const struct osb_kube_object *object)
{
    return (const struct batchsandbox *)object;
}

const struct batchsandbox *batchsandbox_get(const struct osb_kube_store *store,
                                            const char *namespace_, const char *name);
const char *batchsandbox_annotation(const struct batchsandbox *bs, const char *key);
/* The condition of TYPE when it is there and True; else NULL. */
const struct condition *batchsandbox_condition(const struct batchsandbox *bs, const char *type);
/* The template as a tree, the caller's; NULL when there is none. */
struct osb_json *batchsandbox_template(const struct batchsandbox *bs);

#endif
