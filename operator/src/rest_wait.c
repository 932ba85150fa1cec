// SPDX-License-Identifier: Apache-2.0
#include "rest_wait.h"

#include <string.h>

#include "rest_server.h"

static void look(struct rest_wait *wait, bool is_over)
{
    const struct operator* op = wait->rest->op;
    wait->fn(wait, batchsandbox_get(op->batchsandboxes, op->namespace_, wait->name), is_over);
}

static void on_time_over(struct osb_timer *timer)
{
    struct rest_wait *wait = timer->arg;
    rest_wait_stop(wait);
    look(wait, true);
}

/* Outside of the store's callback, where answers may be given. */
static void on_wake(struct osb_defer *defer)
{
    struct rest *rest = defer->arg;
    while (!osb_list_is_empty(&rest->due)) {
        struct rest_wait *wait = osb_container_of(rest->due.next, struct rest_wait, link);
        osb_list_remove(&wait->link);
        osb_list_append(&rest->waits, &wait->link);
        look(wait, false);
    }
}

static void make_due(struct rest_wait *wait)
{
    osb_list_remove(&wait->link);
    osb_list_append(&wait->rest->due, &wait->link);
    osb_defer_post(&wait->rest->wake);
}

static void on_change(enum osb_kube_change change, const struct osb_kube_object *old,
                      const struct osb_kube_object *current, void *arg)
{
    struct rest *rest = arg;
    const struct osb_kube_object *object = current ? current : old;
    struct rest_wait *wait;
    struct rest_wait *next;
    (void)change;
    if (strcmp(object->namespace_, rest->op->namespace_) != 0)
        return;
    osb_list_foreach_safe (wait, next, &rest->waits, link) {
        if (strcmp(wait->name, object->name) == 0)
            make_due(wait);
    }
}

void rest_wait_start(struct rest_wait *wait, struct rest *rest, const char *name, uint64_t limit_ms,
                     rest_wait_fn *fn, void *arg)
{
    rest_wait_stop(wait);
    wait->rest = rest;
    wait->name = name;
    wait->fn = fn;
    wait->arg = arg;
    osb_timer_init(&wait->timer, rest->op->loop, on_time_over, wait);
    osb_timer_set(&wait->timer, rest->is_draining ? 0 : limit_ms);
    make_due(wait);
}

void rest_wait_stop(struct rest_wait *wait)
{
    osb_list_remove(&wait->link);
    osb_timer_stop(&wait->timer);
}

void rest_waits_init(struct rest *rest)
{
    osb_list_init(&rest->waits);
    osb_list_init(&rest->due);
    osb_defer_init(&rest->wake, rest->op->loop, on_wake, rest);
    osb_kube_store_subscribe(rest->op->batchsandboxes, on_change, rest);
}

void rest_waits_end(struct rest *rest)
{
    struct rest_wait *wait;
    osb_list_foreach (wait, &rest->waits, link)
        osb_timer_set(&wait->timer, 0);
    osb_list_foreach (wait, &rest->due, link)
        osb_timer_set(&wait->timer, 0);
}
