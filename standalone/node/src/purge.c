// SPDX-License-Identifier: Apache-2.0
#include "purge.h"

#include "cri_inventory.h"
#include "orphans.h"

#include <osb/log.h>

struct purge {
    struct node node;
    struct orphans *orphans;
    int code;
};

static void on_done(int failed, void *arg)
{
    struct purge *purge = arg;
    purge->code = failed ? 1 : 0;
    osb_loop_stop(purge->node.loop);
}

static void on_inventory(int r, struct cri_inventory *inventory, const struct osb_err *err,
                         void *arg)
{
    struct purge *purge = arg;
    if (r < 0) {
        osb_log(OSB_LOG_ERROR, "CRI cannot list sandboxes", OSB_KV_ERR(err));
        osb_loop_stop(purge->node.loop);
        return;
    }
    osb_log(OSB_LOG_INFO, "removing sandboxes", OSB_KV_INT("count", inventory->sandbox_count));
    orphans_remove(purge->orphans, inventory);
    cri_inventory_free(inventory);
    orphans_on_done(purge->orphans, on_done, purge);
}

int purge(const char *cri)
{
    struct purge purge = {.code = 1};
    struct osb_err err = {0};
    struct cri_inventory_call *call = NULL;
    int r = osb_loop_new_epoll(&purge.node.loop, &err);
    if (r >= 0)
        r = osb_cri_client_new(purge.node.loop, cri, &purge.node.cri, &err);
    if (r >= 0) {
        purge.orphans = orphans_new(&purge.node);
        r = cri_inventory_take(purge.node.cri, on_inventory, &purge, &call, &err);
    }
    if (r >= 0)
        r = osb_loop_run(purge.node.loop);
    if (r < 0)
        osb_log(OSB_LOG_ERROR, "purge", OSB_KV_ERR(&err));
    orphans_free(purge.orphans);
    if (purge.node.cri)
        osb_cri_client_free(purge.node.cri);
    osb_loop_free(purge.node.loop);
    return purge.code;
}
