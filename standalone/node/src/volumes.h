// SPDX-License-Identifier: Apache-2.0
/*
 * The folders of a pod on the node: <root>/pods/<uid>/ with volumes/<name>, opensandbox/ (the
 * writable folder into which execd and launcher are bound) and, elsewhere, its logs. Secrets are
 * written to tmpfs, which lives in the mount namespace of the engine and dies with it.
 */
#ifndef NODE_VOLUMES_H
#define NODE_VOLUMES_H

#include "cri_build.h"
#include "node.h"
#include "pod_spec.h"

#include <osb/map.h>

/* The value of KEY of SECRET (decoded); false when secret or key is missing. */
struct secret_source {
    bool (*get)(const char *secret, const char *key, struct osb_slice *ret, void *arg);
    /* The decoded data of a whole secret: calls FN for each key; false when it is missing. */
    bool (*each)(const char *secret,
                 void (*fn)(const char *key, struct osb_slice value, void *fn_arg), void *fn_arg,
                 void *arg);
    void *arg;
};

/* Makes all folders of a pod; again is harmless. -OSB_E_NOT_FOUND: a Secret is missing. */
int volumes_prepare(const struct node *node, const struct pod_spec *spec,
                    const struct secret_source *secrets, struct osb_err *err);
/* Removes them, logs included. */
int volumes_remove(const struct node *node, const struct pod_spec *spec, struct osb_err *err);
/* "<root>/pods/<uid>", and the folder of one of its volumes. */
char *volumes_pod_folder(struct osb_arena *arena, const struct node *node,
                         const struct pod_spec *spec);
char *volumes_folder(struct osb_arena *arena, const struct node *node, const struct pod_spec *spec,
                     const char *volume);

#endif
