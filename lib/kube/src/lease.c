// SPDX-License-Identifier: Apache-2.0
/*
 * A lease over the API: read it, take it when the rules (lease_core.h) say so, renew it. One
 * request is in flight at a time; each is given up before it could keep the next one from being in
 * time.
 */
#include <osb/alloc.h>
#include <osb/clock.h>
#include <osb/json_tree.h>
#include <osb/kube_lease.h>

#include <stdlib.h>
#include <string.h>

#include "jitter.h"
#include "lease_core.h"

enum {
    JITTER_PERCENT = 20, /* candidates do not ask in step */
    ATTEMPTS_IN_DEADLINE = 3,
};

struct osb_kube_lease {
    struct osb_loop *loop;
    struct osb_kube_client *client;
    struct osb_kube_lease_options options;
    struct lease_core core;
    struct osb_json *object; /* as last seen; NULL: to be read */
    struct osb_kube_call *call;
    struct osb_timer attempt; /* the next request, or the end of this one */
    struct osb_timer expiry;
    uint64_t asked_ns; /* of the request in flight */
    uint64_t random;
    uint64_t terms;
    bool leads;
    char *told_holder; /* to on_note */
    bool is_releasing;
    bool is_given_back; /* the request for it is sent */
    struct osb_defer released;
    void (*on_released)(void *arg);
    void *released_arg;
};

static void send_attempt(struct osb_kube_lease *lease);
static void give_back(struct osb_kube_lease *lease);

static uint64_t now_ns(const struct osb_kube_lease *lease)
{
    return osb_loop_now_ns(lease->loop);
}

/* ---- what is told ---- */

static void tell_change(struct osb_kube_lease *lease)
{
    bool leads = lease_core_leads(&lease->core, now_ns(lease));
    if (leads)
        osb_timer_set_at(&lease->expiry, lease->core.leads_until_ns);
    else
        osb_timer_stop(&lease->expiry);
    if (leads == lease->leads)
        return;
    lease->leads = leads;
    lease->terms += leads;
    lease->options.on_change(leads, lease->options.arg);
}

static void tell_note(struct osb_kube_lease *lease, int r, const struct osb_err *err)
{
    if (lease->options.on_note)
        lease->options.on_note(r, lease->core.holder, err, lease->options.arg);
}

static void tell_holder(struct osb_kube_lease *lease)
{
    if (strcmp(lease->told_holder, lease->core.holder) == 0)
        return;
    free(lease->told_holder);
    lease->told_holder = osb_strdup(lease->core.holder);
    tell_note(lease, 0, NULL);
}

static void on_expiry(struct osb_timer *timer)
{
    struct osb_kube_lease *lease = timer->arg;
    lease_core_yield(&lease->core);
    tell_change(lease);
}

/* ---- answers ---- */

static const char *text_of(const struct osb_json *object, const char *path)
{
    const char *text = osb_json_cstr(osb_json_get_path(object, path));
    return text ? text : "";
}

static void forget(struct osb_kube_lease *lease)
{
    osb_json_free(lease->object);
    lease->object = NULL;
}

/* Takes the object of an answer as the last one seen. */
static int see(struct osb_kube_lease *lease, struct osb_slice body, struct osb_err *err)
{
    struct osb_json *object = NULL;
    int r = osb_json_parse(body, &object, err);
    if (r < 0)
        return osb_wrap(err, r, "the lease's answer");
    forget(lease);
    lease->object = object;
    int64_t duration_s = osb_json_i64_or(osb_json_get_path(object, "spec.leaseDurationSeconds"), 0);
    lease_core_see(&lease->core, text_of(object, "spec.holderIdentity"),
                   text_of(object, "metadata.resourceVersion"), duration_s, now_ns(lease));
    return 0;
}

static void next_attempt(struct osb_kube_lease *lease)
{
    uint64_t spread = lease->options.retry_ms * JITTER_PERCENT / 100;
    osb_timer_set(&lease->attempt,
                  lease->options.retry_ms + (spread ? jitter_next(&lease->random) % spread : 0));
}

/* The end of an attempt: R < 0 is told, and the object read anew. */
static void conclude(struct osb_kube_lease *lease, int r, const struct osb_err *err)
{
    lease->call = NULL;
    if (r < 0) {
        forget(lease);
        tell_note(lease, r, err);
    }
    tell_change(lease);
    if (lease->is_releasing)
        give_back(lease);
    else
        next_attempt(lease);
}

static void on_written(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct osb_kube_lease *lease = arg;
    struct osb_err why = {0};
    if (r >= 0 && (r = see(lease, body, &why)) < 0)
        err = &why;
    if (r >= 0 && lease_core_is_ours(&lease->core) && !lease->is_releasing)
        lease_core_held(&lease->core, lease->asked_ns);
    tell_holder(lease);
    /* Somebody was faster: whom we see when we read it, at the next attempt. */
    bool is_lost_race = r == -OSB_E_CONFLICT || r == -OSB_E_EXISTS;
    if (is_lost_race)
        forget(lease);
    conclude(lease, is_lost_race ? 0 : r, err);
}

/* ---- the object that is written ---- */

static void set_time(const struct osb_kube_lease *lease, struct osb_json *spec, const char *key)
{
    char text[OSB_RFC3339_MAX];
    osb_rfc3339_format(text, osb_loop_realtime_ns(lease->loop), 6);
    osb_json_set(spec, key, osb_json_new_str(text));
}

/* What others put into the object stays. */
static struct osb_json *written(const struct osb_kube_lease *lease, const char *holder)
{
    struct osb_json *object = lease->object ? osb_json_copy(lease->object) : osb_json_new_object();
    osb_json_set(object, "apiVersion", osb_json_new_str("coordination.k8s.io/v1"));
    osb_json_set(object, "kind", osb_json_new_str("Lease"));
    struct osb_json *metadata = osb_json_ensure_object(object, "metadata");
    osb_json_set(metadata, "name", osb_json_new_str(lease->options.name));
    osb_json_set(metadata, "namespace", osb_json_new_str(lease->options.namespace_));
    struct osb_json *spec = osb_json_ensure_object(object, "spec");
    int64_t transitions = osb_json_i64_or(osb_json_get(spec, "leaseTransitions"), 0);
    bool is_taken = lease->object && !lease_core_is_ours(&lease->core);
    if (!lease->object || is_taken)
        set_time(lease, spec, "acquireTime");
    set_time(lease, spec, "renewTime");
    osb_json_set(spec, "leaseTransitions", osb_json_new_i64(transitions + is_taken));
    osb_json_set(spec, "holderIdentity", osb_json_new_str(holder));
    /* A lease that is given back lasts for a moment, as with the client library. */
    osb_json_set(spec, "leaseDurationSeconds",
                 osb_json_new_i64(holder[0] ? (int64_t)(lease->options.duration_ms / 1000) : 1));
    return object;
}

static int write_lease(struct osb_kube_lease *lease, const char *holder, struct osb_err *err)
{
    const struct osb_kube_lease_options *o = &lease->options;
    _cleanup_json_ struct osb_json *object = written(lease, holder);
    lease->asked_ns = now_ns(lease);
    if (lease->object)
        return osb_kube_update(lease->client, &osb_kind_lease, o->namespace_, o->name, NULL, object,
                               on_written, lease, &lease->call, err);
    return osb_kube_create(lease->client, &osb_kind_lease, o->namespace_, object, on_written, lease,
                           &lease->call, err);
}

/* What is ours is given back once; whatever comes of that, it is over then. */
static void give_back(struct osb_kube_lease *lease)
{
    bool is_ours = lease->object && lease_core_is_ours(&lease->core);
    if (is_ours && !lease->is_given_back) {
        lease->is_given_back = true;
        if (write_lease(lease, "", NULL) >= 0)
            return;
    }
    osb_timer_stop(&lease->attempt);
    osb_defer_post(&lease->released);
}

/* ---- attempts ---- */

static void try_write(struct osb_kube_lease *lease)
{
    struct osb_err err = {0};
    int r = write_lease(lease, lease->options.identity, &err);
    if (r < 0)
        conclude(lease, r, &err);
}

static void on_read(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct osb_kube_lease *lease = arg;
    struct osb_err why = {0};
    lease->call = NULL;
    bool is_absent = r == -OSB_E_NOT_FOUND;
    if (r >= 0 && (r = see(lease, body, &why)) < 0)
        err = &why;
    tell_holder(lease);
    if (is_absent || (r >= 0 && lease_core_may_take(&lease->core, now_ns(lease))))
        try_write(lease);
    else
        conclude(lease, r, err);
}

static void on_attempt(struct osb_timer *timer)
{
    struct osb_kube_lease *lease = timer->arg;
    struct osb_err err = {0};
    if (lease->call) {
        lease->is_given_back |= lease->is_releasing; /* no time for another request */
        /* It may have been done all the same: read before the next write. */
        osb_kube_cancel(osb_take_ptr(lease->call));
        conclude(lease, osb_fail(&err, -ETIMEDOUT, "no answer about the lease in time"), &err);
        return;
    }
    send_attempt(lease);
}

/* A holder that knows its object renews it; everybody else reads first. */
static void send_attempt(struct osb_kube_lease *lease)
{
    struct osb_err err = {0};
    /* Bounds read and write together; neither ends a turn of its own accord. */
    osb_timer_set(&lease->attempt, lease->options.renew_deadline_ms / ATTEMPTS_IN_DEADLINE);
    if (lease->object && lease_core_is_ours(&lease->core)) {
        try_write(lease);
        return;
    }
    int r = osb_kube_get(lease->client, &osb_kind_lease, lease->options.namespace_,
                         lease->options.name, on_read, lease, &lease->call, &err);
    if (r < 0)
        conclude(lease, r, &err);
}

/* ---- life ---- */

static void on_released(struct osb_defer *defer)
{
    struct osb_kube_lease *lease = defer->arg;
    lease->on_released(lease->released_arg);
}

static uint64_t or_default(uint64_t given_ms, uint64_t default_ms)
{
    return given_ms ? given_ms : default_ms;
}

struct osb_kube_lease *osb_kube_lease_new(struct osb_loop *loop, struct osb_kube_client *client,
                                          const struct osb_kube_lease_options *options)
{
    struct osb_kube_lease *lease = osb_new(struct osb_kube_lease);
    lease->loop = loop;
    lease->client = client;
    lease->options = *options;
    struct osb_kube_lease_options *o = &lease->options;
    o->namespace_ = osb_strdup(options->namespace_);
    o->name = osb_strdup(options->name);
    o->identity = osb_strdup(options->identity);
    o->duration_ms = or_default(o->duration_ms, OSB_LEASE_DURATION_MS);
    o->renew_deadline_ms = or_default(o->renew_deadline_ms, OSB_LEASE_RENEW_DEADLINE_MS);
    o->retry_ms = or_default(o->retry_ms, OSB_LEASE_RETRY_MS);
    osb_assert(o->retry_ms < o->renew_deadline_ms && o->renew_deadline_ms < o->duration_ms);
    lease_core_init(&lease->core, o->identity, o->duration_ms * OSB_NS_PER_MS,
                    o->renew_deadline_ms * OSB_NS_PER_MS);
    lease->random = jitter_seed(o->seed);
    lease->told_holder = osb_strdup("");
    osb_timer_init(&lease->attempt, loop, on_attempt, lease);
    osb_timer_init(&lease->expiry, loop, on_expiry, lease);
    osb_defer_init(&lease->released, loop, on_released, lease);
    return lease;
}

void osb_kube_lease_start(struct osb_kube_lease *lease)
{
    send_attempt(lease);
}

void osb_kube_lease_free(struct osb_kube_lease *lease)
{
    if (!lease)
        return;
    osb_kube_cancel(lease->call);
    osb_timer_stop(&lease->attempt);
    osb_timer_stop(&lease->expiry);
    osb_defer_cancel(&lease->released);
    forget(lease);
    lease_core_done(&lease->core);
    free(lease->told_holder);
    free((char *)lease->options.namespace_);
    free((char *)lease->options.name);
    free((char *)lease->options.identity);
    free(lease);
}

bool osb_kube_lease_leads(const struct osb_kube_lease *lease)
{
    return lease->leads;
}

const char *osb_kube_lease_holder(const struct osb_kube_lease *lease)
{
    return lease->core.holder;
}

uint64_t osb_kube_lease_terms(const struct osb_kube_lease *lease)
{
    return lease->terms;
}

void osb_kube_lease_release(struct osb_kube_lease *lease, void (*done)(void *arg), void *arg)
{
    osb_assert(!lease->is_releasing);
    bool has_led = lease->leads;
    lease->is_releasing = true;
    lease->on_released = done;
    lease->released_arg = arg;
    lease_core_yield(&lease->core);
    tell_change(lease);
    osb_timer_set(&lease->attempt, OSB_LEASE_RELEASE_TIMEOUT_MS);
    if (lease->call && has_led)
        return; /* a renewal: its answer has the version that giving back needs */
    osb_kube_cancel(osb_take_ptr(lease->call));
    give_back(lease);
}
