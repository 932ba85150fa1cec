// SPDX-License-Identifier: Apache-2.0
#include "rest_undo.h"

#include <osb/alloc.h>
#include <osb/log.h>

#include <stdlib.h>

struct rest_undo {
    struct osb_list link;
    struct rest *rest;
    char *name;
    char *uid;
    int tries;
    struct osb_timer timer;
    struct osb_kube_call *call;
};

static void undo_free(struct rest_undo *undo)
{
    osb_kube_cancel(undo->call);
    osb_timer_stop(&undo->timer);
    osb_list_remove(&undo->link);
    free(undo->name);
    free(undo->uid);
    free(undo);
}

static void finish(struct rest_undo *undo)
{
    struct rest *rest = undo->rest;
    undo_free(undo);
    rest_drain_check(rest);
}

static void try_later(struct rest_undo *undo, int r, const struct osb_err *err)
{
    uint64_t delay_ms = REST_UNDO_FIRST_DELAY_MS;
    if (++undo->tries == REST_UNDO_TRIES) {
        osb_log(OSB_LOG_ERROR, "a sandbox that nobody waits for could not be deleted",
                OSB_KV_STR("sandbox", undo->name), OSB_KV_ERR(err));
        finish(undo);
        return;
    }
    for (int i = 1; i < undo->tries && delay_ms < REST_UNDO_MAX_DELAY_MS; i++)
        delay_ms *= 2;
    osb_log(OSB_LOG_WARN, "a delete is tried again", OSB_KV_STR("sandbox", undo->name),
            OSB_KV_STR("code", osb_err_info(r)->name), OSB_KV_INT("delay_ms", delay_ms));
    osb_timer_set(&undo->timer, delay_ms);
}

static void on_deleted(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct rest_undo *undo = arg;
    (void)body;
    undo->call = NULL;
    /* A conflict: the name belongs to another object now, ours is gone. */
    if (r >= 0 || r == -OSB_E_NOT_FOUND || r == -OSB_E_CONFLICT)
        finish(undo);
    else
        try_later(undo, r, err);
}

static void try_now(struct rest_undo *undo)
{
    struct operator* op = undo->rest->op;
    struct osb_kube_delete_options options = {.uid = undo->uid};
    struct osb_err err = {0};
    int r = osb_kube_delete(op->client, &osb_kind_batchsandbox, op->namespace_, undo->name,
                            &options, on_deleted, undo, &undo->call, &err);
    if (r < 0)
        try_later(undo, r, &err);
}

static void on_timer(struct osb_timer *timer)
{
    try_now(timer->arg);
}

void rest_undo(struct rest *rest, const char *name, const char *uid, const char *why)
{
    struct rest_undo *undo = osb_new(struct rest_undo);
    undo->rest = rest;
    undo->name = osb_strdup(name);
    undo->uid = osb_strdup(uid);
    osb_timer_init(&undo->timer, rest->op->loop, on_timer, undo);
    osb_list_append(&rest->undos, &undo->link);
    osb_log(OSB_LOG_INFO, "a create is taken back", OSB_KV_STR("sandbox", name),
            OSB_KV_STR("reason", why));
    try_now(undo);
}

void rest_undos_free(struct rest *rest)
{
    struct rest_undo *undo;
    struct rest_undo *next;
    osb_list_foreach_safe (undo, next, &rest->undos, link)
        undo_free(undo);
}
