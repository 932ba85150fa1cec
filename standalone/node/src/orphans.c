// SPDX-License-Identifier: Apache-2.0
#include "orphans.h"

#include "cri_build.h"

#include <osb/alloc.h>
#include <osb/list.h>
#include <osb/log.h>
#include <stdlib.h>
#include <string.h>

struct orphan {
    struct orphans *orphans;
    struct osb_list link;
    struct osb_cri_call *call;
    char *id;
    int tries;
    bool is_stopped;
};

struct orphans {
    struct node *node;
    struct osb_list waiting;
    struct osb_list running;
    int running_count;
    int failed;
    struct osb_defer defer;
    void (*done)(int failed, void *arg);
    void *arg;
};

static void advance(struct orphans *orphans);

static void orphan_free(struct orphan *orphan)
{
    osb_list_remove(&orphan->link);
    free(orphan->id);
    free(orphan);
}

static void on_defer(struct osb_defer *defer)
{
    advance(defer->arg);
}

static void orphan_step(struct orphan *orphan);

static void on_step(int r, const struct ProtobufCMessage *response, const struct osb_err *err,
                    void *arg)
{
    struct orphan *orphan = arg;
    struct orphans *orphans = orphan->orphans;
    (void)response;
    orphan->call = NULL;
    if (r == -OSB_E_NOT_FOUND)
        r = 0;
    if (r >= 0 && !orphan->is_stopped) {
        orphan->is_stopped = true;
        orphan_step(orphan);
        return;
    }
    orphans->running_count--;
    if (r >= 0) {
        orphan_free(orphan);
    } else if (++orphan->tries < ORPHANS_TRIES) {
        orphan->is_stopped = false;
        osb_list_remove(&orphan->link);
        osb_list_append(&orphans->waiting, &orphan->link);
    } else {
        osb_log(OSB_LOG_ERROR, "sandbox cannot be removed", OSB_KV_STR("sandbox", orphan->id),
                OSB_KV_ERR(err));
        orphans->failed++;
        orphan_free(orphan);
    }
    osb_defer_post(&orphans->defer);
}

static void orphan_step(struct orphan *orphan)
{
    struct osb_err err = {0};
    struct osb_cri_client *cri = orphan->orphans->node->cri;
    int r;
    if (orphan->is_stopped) {
        Runtime__V1__RemovePodSandboxRequest request =
            RUNTIME__V1__REMOVE_POD_SANDBOX_REQUEST__INIT;
        request.pod_sandbox_id = orphan->id;
        r = osb_cri_call(cri, OSB_CRI_REMOVE_POD_SANDBOX, &request.base, ORPHANS_CALL_MS, on_step,
                         orphan, &orphan->call, &err);
    } else {
        Runtime__V1__StopPodSandboxRequest request = RUNTIME__V1__STOP_POD_SANDBOX_REQUEST__INIT;
        request.pod_sandbox_id = orphan->id;
        r = osb_cri_call(cri, OSB_CRI_STOP_POD_SANDBOX, &request.base, ORPHANS_CALL_MS, on_step,
                         orphan, &orphan->call, &err);
    }
    if (r < 0) {
        orphan->is_stopped = true; /* a call that cannot start counts as the last step */
        on_step(r, NULL, &err, orphan);
    }
}

static void advance(struct orphans *orphans)
{
    while (orphans->running_count < ORPHANS_AT_ONCE && !osb_list_is_empty(&orphans->waiting)) {
        struct orphan *orphan = osb_list_first(&orphans->waiting, struct orphan, link);
        osb_list_remove(&orphan->link);
        osb_list_append(&orphans->running, &orphan->link);
        orphans->running_count++;
        orphan_step(orphan);
    }
    if (!orphans->running_count && osb_list_is_empty(&orphans->waiting) && orphans->done)
        orphans->done(orphans->failed, orphans->arg);
}

struct orphans *orphans_new(struct node *node)
{
    struct orphans *orphans = osb_new(struct orphans);
    orphans->node = node;
    osb_list_init(&orphans->waiting);
    osb_list_init(&orphans->running);
    osb_defer_init(&orphans->defer, node->loop, on_defer, orphans);
    return orphans;
}

void orphans_free(struct orphans *orphans)
{
    if (!orphans)
        return;
    osb_defer_cancel(&orphans->defer);
    struct orphan *orphan, *next;
    osb_list_foreach_safe (orphan, next, &orphans->running, link) {
        if (orphan->call)
            osb_cri_call_cancel(orphan->call);
        orphan_free(orphan);
    }
    osb_list_foreach_safe (orphan, next, &orphans->waiting, link)
        orphan_free(orphan);
    free(orphans);
}

static bool is_known(struct orphans *orphans, const char *id)
{
    const struct orphan *orphan;
    osb_list_foreach (orphan, &orphans->running, link) {
        if (!strcmp(orphan->id, id))
            return true;
    }
    osb_list_foreach (orphan, &orphans->waiting, link) {
        if (!strcmp(orphan->id, id))
            return true;
    }
    return false;
}

void orphans_remove(struct orphans *orphans, const struct cri_inventory *inventory)
{
    for (size_t i = 0; inventory && i < inventory->sandbox_count; i++) {
        if (inventory->sandboxes[i].is_claimed || is_known(orphans, inventory->sandboxes[i].id))
            continue;
        struct orphan *orphan = osb_new(struct orphan);
        orphan->orphans = orphans;
        orphan->id = osb_strdup(inventory->sandboxes[i].id);
        osb_list_append(&orphans->waiting, &orphan->link);
    }
    osb_defer_post(&orphans->defer);
}

void orphans_on_done(struct orphans *orphans, void (*fn)(int failed, void *arg), void *arg)
{
    orphans->done = fn;
    orphans->arg = arg;
    osb_defer_post(&orphans->defer);
}
