// SPDX-License-Identifier: Apache-2.0
/*
 * The core of the BatchSandbox controller in template mode: what is observed goes in, a plan comes
 * out. Free of I/O, clock and memory of its own: it may run twice, late, or after a crash at any
 * action, and comes to the same end.
 */
#ifndef OPERATOR_SANDBOX_RECONCILE_H
#define OPERATOR_SANDBOX_RECONCILE_H

#include "plan.h"
#include "sandbox_view.h"

enum {
    /* A pod that ended this soon after it was made is not made again before: no hot loop. */
    REPLACE_MIN_AGE_MS = 10000,
};

/* Fills PLAN, which is empty. */
void sandbox_reconcile(const struct reconcile_input *in, struct plan *plan);
/* The object is gone from the cache: STRANGERS of the input (bs is NULL) are its left pods. */
void sandbox_reconcile_gone(const struct reconcile_input *in, struct plan *plan);

/* The pieces, for tests: merge patches, or NULL when there is nothing to write. */
char *sandbox_annotations_patch(const struct batchsandbox *bs, const struct sandbox_view *view,
                                struct osb_arena *arena);
char *sandbox_status_patch(const struct batchsandbox *bs, const struct sandbox_view *view,
                           int64_t now_ns, struct osb_arena *arena);

#endif
