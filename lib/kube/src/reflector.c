// SPDX-License-Identifier: Apache-2.0
/* Carries out the steps of the reflector's core. */
#include <osb/alloc.h>
#include <osb/kube_reflector.h>

#include <stdlib.h>

#include "reflector_core.h"
#include "watch_lines.h"

struct listener {
    struct osb_list link;
    struct osb_defer defer;
    void (*fn)(void *arg);
    void *arg;
};

struct osb_kube_reflector {
    struct osb_loop *loop;
    struct osb_kube_client *client;
    struct osb_kube_store *store;
    struct reflector_core core;
    struct watch_lines lines;
    struct osb_kube_call *call;
    struct osb_timer timer;
    struct osb_defer abandon; /* ends a watch from outside its own data callback */
    int watch_r;              /* why the watch is to be ended */
    struct osb_list listeners;
    void (*on_error)(int r, const struct osb_err *err, void *arg);
    void *on_error_arg;
    struct osb_err err; /* why the watch is to be ended */
};

static void take_step(struct osb_kube_reflector *r, const struct reflector_step *step);

static uint64_t now(const struct osb_kube_reflector *r)
{
    return osb_loop_now_ns(r->loop);
}

/* ---- callbacks ---- */

static void report(struct osb_kube_reflector *r, int result, const struct osb_err *err)
{
    if (result < 0 && r->on_error)
        r->on_error(result, err, r->on_error_arg);
}

static void tell_synced(struct osb_kube_reflector *r)
{
    struct listener *listener;
    if (!r->core.is_synced)
        return;
    osb_list_foreach (listener, &r->listeners, link)
        osb_defer_post(&listener->defer);
}

static void on_page(int result, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct osb_kube_reflector *r = arg;
    struct osb_err page_err = {0};
    r->call = NULL;
    report(r, result, err);
    if (result < 0) {
        take_step(
            r, reflector_core_ended(&r->core, result, osb_kube_retry_after_s(r->client), now(r)));
        return;
    }
    bool was_synced = r->core.is_synced;
    const struct reflector_step *step =
        reflector_core_page(&r->core, r->store, body, now(r), &page_err);
    report(r, page_err.code, &page_err);
    take_step(r, step);
    if (!was_synced)
        tell_synced(r);
}

static int on_line(struct osb_slice line, void *arg)
{
    struct osb_kube_reflector *r = arg;
    return reflector_core_line(&r->core, r->store, line, &r->err);
}

static void on_watch_data(struct osb_slice data, void *arg)
{
    struct osb_kube_reflector *r = arg;
    if (r->watch_r < 0)
        return;
    r->watch_r = watch_lines_feed(&r->lines, data, on_line, r);
    if (r->watch_r < 0)
        osb_defer_post(&r->abandon);
}

static void end_watch(struct osb_kube_reflector *r, int result, int retry_after_s)
{
    bool was_cut = watch_lines_reset(&r->lines);
    if (r->watch_r < 0)
        result = r->watch_r;
    else if (result == 0 && was_cut)
        result = -OSB_E_CLOSED;
    r->watch_r = 0;
    osb_defer_cancel(&r->abandon);
    take_step(r, reflector_core_ended(&r->core, result, retry_after_s, now(r)));
}

static void on_watch_end(int result, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct osb_kube_reflector *r = arg;
    (void)body;
    r->call = NULL;
    report(r, result, err);
    end_watch(r, result, osb_kube_retry_after_s(r->client));
}

static void on_abandon(struct osb_defer *defer)
{
    struct osb_kube_reflector *r = defer->arg;
    osb_kube_cancel(osb_take_ptr(r->call));
    if (r->watch_r == -OSB_E_TOO_LARGE)
        osb_fail(&r->err, r->watch_r, "watch line of more than %d bytes", OSB_KUBE_MAX_WATCH_LINE);
    report(r, r->watch_r, &r->err);
    end_watch(r, r->watch_r, 0);
}

static void on_waited(struct osb_timer *timer)
{
    struct osb_kube_reflector *r = timer->arg;
    take_step(r, reflector_core_waited(&r->core, now(r)));
}

/* ---- steps ---- */

static void take_step(struct osb_kube_reflector *r, const struct reflector_step *step)
{
    if (step->what == REFLECTOR_DO_WAIT) {
        osb_timer_set(&r->timer, step->delay_ms);
        return;
    }
    struct osb_kube_http_request request = {
        .method = "GET", .path = step->path, .timeout_ms = step->timeout_ms};
    int result;
    if (step->what == REFLECTOR_DO_LIST)
        result =
            osb_kube_raw(r->client, &request, OSB_KUBE_MAX_LIST_PAGE, on_page, r, &r->call, NULL);
    else
        result =
            osb_kube_stream(r->client, &request, on_watch_data, on_watch_end, r, &r->call, NULL);
    if (result < 0) /* not even begun: comes back here with a WAIT */
        take_step(r, reflector_core_ended(&r->core, result, 0, now(r)));
}

struct osb_kube_reflector *osb_kube_reflector_new(struct osb_loop *loop,
                                                  struct osb_kube_client *client,
                                                  struct osb_kube_store *store,
                                                  const struct osb_kube_reflector_options *options)
{
    struct osb_kube_reflector *r = osb_new(struct osb_kube_reflector);
    r->loop = loop;
    r->client = client;
    r->store = store;
    reflector_core_init(&r->core, options);
    watch_lines_init(&r->lines, OSB_KUBE_MAX_WATCH_LINE);
    osb_timer_init(&r->timer, loop, on_waited, r);
    osb_defer_init(&r->abandon, loop, on_abandon, r);
    osb_list_init(&r->listeners);
    r->on_error = options->on_error;
    r->on_error_arg = options->on_error_arg;
    return r;
}

void osb_kube_reflector_start(struct osb_kube_reflector *r)
{
    osb_assert(r->core.state == REFLECTOR_IDLE);
    take_step(r, reflector_core_start(&r->core, now(r)));
}

void osb_kube_reflector_free(struct osb_kube_reflector *r)
{
    if (!r)
        return;
    struct listener *listener, *next;
    osb_kube_cancel(r->call);
    osb_timer_stop(&r->timer);
    osb_defer_cancel(&r->abandon);
    osb_list_foreach_safe (listener, next, &r->listeners, link) {
        osb_defer_cancel(&listener->defer);
        free(listener);
    }
    watch_lines_done(&r->lines);
    reflector_core_done(&r->core);
    free(r);
}

bool osb_kube_reflector_is_synced(const struct osb_kube_reflector *r)
{
    return r->core.is_synced;
}

uint64_t osb_kube_reflector_relists(const struct osb_kube_reflector *r)
{
    return r->core.relists;
}

static void on_synced(struct osb_defer *defer)
{
    struct listener *listener = defer->arg;
    void (*fn)(void *arg) = listener->fn;
    void *arg = listener->arg;
    osb_list_remove(&listener->link);
    free(listener);
    fn(arg);
}

void osb_kube_reflector_on_sync(struct osb_kube_reflector *r, void (*fn)(void *arg), void *arg)
{
    struct listener *listener = osb_new(struct listener);
    listener->fn = fn;
    listener->arg = arg;
    osb_defer_init(&listener->defer, r->loop, on_synced, listener);
    osb_list_append(&r->listeners, &listener->link);
    tell_synced(r);
}
