// SPDX-License-Identifier: Apache-2.0
/*
 * What is observed of a BatchSandbox: its pods by slot, the counters, the phase and the conditions
 * that its status should show. Free of I/O; everything lives in an arena.
 */
#ifndef OPERATOR_SANDBOX_VIEW_H
#define OPERATOR_SANDBOX_VIEW_H

#include <osb/arena.h>

#include "batchsandbox.h"
#include "pod.h"
#include "pod_verdict.h"

enum { VIEW_MAX_CONDITIONS = 4 };

/* What a reconcile goes by. */
struct reconcile_input {
    const struct batchsandbox *bs;
    const struct pod *const *pods;      /* whose controller has the UID of `bs` */
    const struct observation *observed; /* of each of `pods` */
    size_t pod_count;
    const struct pod *const *strangers; /* pods that say another UID of the same name owns them */
    size_t stranger_count;
    const char *create_error;  /* why pods cannot be made, in words; NULL when they can */
    const char *create_reason; /* CamelCase */
    bool may_scale;            /* everything asked for has been seen */
    int64_t now_ns;            /* wall clock */
};

struct slot {
    const struct pod *pod; /* NULL when absent */
    struct verdict verdict;
};

struct view_condition {
    const char *type;
    const char *reason;
    const char *message;
};

struct sandbox_view {
    struct slot *slots; /* one an index below spec.replicas */
    size_t slot_count;
    const struct pod **extra; /* above the replicas, or a second one of an index */
    size_t extra_count;
    /* what is wrong with the spec, so that nothing is made from it; NULL when all is well */
    const char *spec_reason;
    const char *spec_message;
    int64_t replicas;
    int64_t allocated;
    int64_t ready;
    size_t missing;   /* slots without a pod */
    bool is_unknown;  /* an execd is being asked for the first time */
    char **uids;      /* of the pod last seen in each slot; "" for none */
    int64_t replaced; /* pods lost and made again */
    enum phase phase;
    struct view_condition conditions[VIEW_MAX_CONDITIONS];
    size_t condition_count;
};

void sandbox_view_make(const struct reconcile_input *in, struct osb_arena *arena,
                       struct sandbox_view *view);

#endif
