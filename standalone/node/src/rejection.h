// SPDX-License-Identifier: Apache-2.0
/*
 * Pods that are not run here because they ask for what is not built. Each is told once: an event,
 * and a status Failed that is written until the API server takes it; when its deletion is asked
 * for, the object is deleted in the same way.
 */
#ifndef NODE_REJECTION_H
#define NODE_REJECTION_H

#include "node.h"

#include <osb/json_tree.h>

enum {
    REJECTION_RETRY_MIN_MS = 1000, /* doubling */
    REJECTION_RETRY_MAX_MS = 60000,
};

struct rejections;

struct rejections *rejections_new(struct node *node);
/* What was not written yet stays unwritten: the next start sees those pods again. NULL is allowed.
 */
void rejections_free(struct rejections *rejections);
/* OBJECT (borrowed) as the watch shows it now; WHY is what its parser said. */
void rejections_take(struct rejections *rejections, const struct osb_json *object,
                     const struct osb_err *why);

#endif
