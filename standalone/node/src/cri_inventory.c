// SPDX-License-Identifier: Apache-2.0
#include "cri_inventory.h"

#include "cri_build.h"

#include <osb/alloc.h>
#include <stdlib.h>
#include <string.h>

struct cri_inventory_call {
    struct osb_cri_client *cri;
    struct osb_cri_call *call;
    struct cri_inventory *inventory;
    cri_inventory_fn *fn;
    void *arg;
};

static void finish(struct cri_inventory_call *call, int r, const struct osb_err *err)
{
    struct cri_inventory *inventory = osb_take_ptr(call->inventory);
    cri_inventory_fn *fn = call->fn;
    void *arg = call->arg;
    free(call);
    if (r < 0) {
        cri_inventory_free(inventory);
        inventory = NULL;
    }
    fn(r, inventory, err, arg);
}

static void on_containers(int r, const struct ProtobufCMessage *response, const struct osb_err *err,
                          void *arg)
{
    struct cri_inventory_call *call = arg;
    struct cri_inventory *inventory = call->inventory;
    if (r >= 0) {
        const Runtime__V1__ListContainersResponse *list = (const void *)response;
        for (size_t i = 0; i < list->n_containers; i++) {
            const Runtime__V1__Container *item = list->containers[i];
            osb_grow(inventory->containers, inventory->container_count,
                     inventory->container_capacity);
            inventory->containers[inventory->container_count++] = (struct found_container){
                .id = osb_strdup(item->id),
                .sandbox_id = osb_strdup(item->pod_sandbox_id),
                .name = osb_strdup(item->metadata ? item->metadata->name : ""),
                .attempt = item->metadata ? item->metadata->attempt : 0,
                .is_running = item->state == RUNTIME__V1__CONTAINER_STATE__CONTAINER_RUNNING,
            };
        }
    }
    finish(call, r, err);
}

static void on_sandboxes(int r, const struct ProtobufCMessage *response, const struct osb_err *err,
                         void *arg)
{
    struct cri_inventory_call *call = arg;
    struct cri_inventory *inventory = call->inventory;
    struct osb_err own = {0};
    if (r >= 0) {
        const Runtime__V1__ListPodSandboxResponse *list = (const void *)response;
        for (size_t i = 0; i < list->n_items; i++) {
            const Runtime__V1__PodSandbox *item = list->items[i];
            osb_grow(inventory->sandboxes, inventory->sandbox_count, inventory->sandbox_capacity);
            inventory->sandboxes[inventory->sandbox_count++] = (struct found_sandbox){
                .id = osb_strdup(item->id),
                .pod_uid = osb_strdup(item->metadata ? item->metadata->uid : ""),
                .attempt = item->metadata ? item->metadata->attempt : 0,
                .is_ready = item->state == RUNTIME__V1__POD_SANDBOX_STATE__SANDBOX_READY,
            };
        }
        Runtime__V1__ListContainersRequest request = RUNTIME__V1__LIST_CONTAINERS_REQUEST__INIT;
        r = osb_cri_call(call->cri, OSB_CRI_LIST_CONTAINERS, &request.base, 0, on_containers, call,
                         &call->call, &own);
        if (r >= 0)
            return;
        err = &own;
    }
    finish(call, r, err);
}

int cri_inventory_take(struct osb_cri_client *cri, cri_inventory_fn *fn, void *arg,
                       struct cri_inventory_call **ret, struct osb_err *err)
{
    struct cri_inventory_call *call = osb_new(struct cri_inventory_call);
    call->cri = cri;
    call->inventory = osb_new(struct cri_inventory);
    call->fn = fn;
    call->arg = arg;
    Runtime__V1__ListPodSandboxRequest request = RUNTIME__V1__LIST_POD_SANDBOX_REQUEST__INIT;
    int r = osb_cri_call(cri, OSB_CRI_LIST_POD_SANDBOX, &request.base, 0, on_sandboxes, call,
                         &call->call, err);
    if (r < 0) {
        cri_inventory_free(call->inventory);
        free(call);
        return r;
    }
    *ret = call;
    return 0;
}

void cri_inventory_cancel(struct cri_inventory_call *call)
{
    if (!call)
        return;
    osb_cri_call_cancel(call->call);
    cri_inventory_free(call->inventory);
    free(call);
}

void cri_inventory_free(struct cri_inventory *inventory)
{
    if (!inventory)
        return;
    for (size_t i = 0; i < inventory->sandbox_count; i++) {
        free(inventory->sandboxes[i].id);
        free(inventory->sandboxes[i].pod_uid);
    }
    for (size_t i = 0; i < inventory->container_count; i++) {
        free(inventory->containers[i].id);
        free(inventory->containers[i].sandbox_id);
        free(inventory->containers[i].name);
    }
    free(inventory->sandboxes);
    free(inventory->containers);
    free(inventory);
}
