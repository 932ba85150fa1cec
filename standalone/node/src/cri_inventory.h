// SPDX-License-Identifier: Apache-2.0
/* What CRI has: all sandboxes and containers of this containerd, in two calls. */
#ifndef NODE_CRI_INVENTORY_H
#define NODE_CRI_INVENTORY_H

#include "node.h"

#include <stdint.h>

struct found_container {
    char *id;
    char *sandbox_id;
    char *name;
    uint32_t attempt;
    bool is_running;
};

struct found_sandbox {
    char *id;
    char *pod_uid;
    uint32_t attempt;
    bool is_ready;
    bool is_claimed; /* by a pod */
};

struct cri_inventory {
    struct found_sandbox *sandboxes;
    size_t sandbox_count;
    size_t sandbox_capacity;
    struct found_container *containers;
    size_t container_count;
    size_t container_capacity;
};

/* INVENTORY is FN's, to be freed with cri_inventory_free(); NULL when R < 0. */
typedef void cri_inventory_fn(int r, struct cri_inventory *inventory, const struct osb_err *err,
                              void *arg);
struct cri_inventory_call;

int cri_inventory_take(struct osb_cri_client *cri, cri_inventory_fn *fn, void *arg,
                       struct cri_inventory_call **ret, struct osb_err *err);
void cri_inventory_cancel(struct cri_inventory_call *call);
void cri_inventory_free(struct cri_inventory *inventory);

#endif
