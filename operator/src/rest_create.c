// SPDX-License-Identifier: Apache-2.0
/*
 * A create: one object is posted, then the cache is watched until the sandbox runs, has failed for
 * good, or the time is over. It outlives its request where the caller has gone before the answer:
 * without an idempotency key nobody can know that sandbox, so it is taken back.
 *
 *     POSTING --> WAITING --> answered        the object made, the cache watched
 *        |           |
 *        v           v
 *     READING     UNDOING --> answered        a name that exists already; a failure, taken back
 */
#include "rest_create.h"

#include <osb/alloc.h>
#include <osb/log.h>
#include <osb/metric.h>

#include <stdlib.h>
#include <string.h>

#include "pod_inject.h"
#include "rest_create_object.h"
#include "rest_find.h"
#include "rest_idempotency.h"
#include "rest_sandbox.h"
#include "rest_status.h"
#include "rest_template.h"
#include "rest_undo.h"

enum { UNDO_WAIT_MS = 5000 }; /* for a failed sandbox to leave the cache before the answer */

struct rest_create {
    struct osb_list link;
    struct rest *rest;
    struct rest_request *request; /* NULL: the caller has gone */
    struct osb_kube_call *call;   /* not the request's: a post under way must end */
    char name[OSB_UUID_TEXT_MAX];
    char digest[REST_DIGEST_MAX];
    char *uid; /* NULL until the object is known to be there */
    bool has_key;
    bool answers_at_once; /* Prefer: respond-async */
    bool is_reading;      /* what the call is for */
    bool is_repeated;     /* an earlier request with the key made the sandbox */
    bool has_seen;        /* the cache has shown it */
    struct rest_error error;
};

/* ---- life ---- */

static void create_free(struct rest_create *create)
{
    struct rest *rest = create->rest;
    osb_kube_cancel(create->call);
    osb_list_remove(&create->link);
    free(create->uid);
    free(create);
    rest_drain_check(rest);
}

void rest_creates_free(struct rest *rest)
{
    struct rest_create *create;
    struct rest_create *next;
    osb_list_foreach_safe (create, next, &rest->creates, link)
        create_free(create);
}

static void on_request_close(struct rest_request *request, bool is_complete)
{
    struct rest_create *create = request->data;
    bool is_posting = create->call && !create->is_reading;
    create->request = NULL;
    if (is_posting)
        return; /* on_posted() goes on, once it is known what there is */
    if (!is_complete && !create->has_key && create->uid)
        rest_undo(create->rest, create->name, create->uid, "the caller has gone");
    create_free(create);
}

static struct rest_create *create_new(struct rest_request *request)
{
    struct rest_create *create = osb_new(struct rest_create);
    create->rest = request->rest;
    create->request = request;
    osb_list_append(&request->rest->creates, &create->link);
    request->data = create;
    request->on_close = on_request_close;
    return create;
}

/* ---- answers ---- */

static void observe(const struct rest_create *create)
{
    static struct osb_metric *latency;
    if (!latency)
        latency = osb_metric_new(OSB_METRIC_HISTOGRAM, "opensandbox_sandbox_create_seconds",
                                 "From a create's head to its answer, those that succeeded", NULL);
    osb_metric_observe_ns(latency,
                          osb_loop_now_ns(create->rest->op->loop) - create->request->started_ns);
}

static void reply(struct rest_create *create, const struct batchsandbox *bs)
{
    struct rest_request *request = create->request;
    _cleanup_buf_ struct osb_buf body = {0};
    struct osb_json_writer w;
    osb_json_writer_init(&w, &body);
    rest_sandbox_print(&w, bs, REST_CREATED);
    osb_assert(osb_json_writer_finish(&w, NULL) == 0);
    observe(create);
    if (create->answers_at_once)
        osb_http_reply_header(request->x, "Preference-Applied", OSB_SLICE("respond-async"));
    osb_http_reply_headerf(request->x, "Location", "/v1/sandboxes/%s", create->name);
    rest_reply(request, 202, osb_buf_slice(&body));
}

static void on_undone(struct rest_wait *wait, const struct batchsandbox *bs, bool is_over)
{
    struct rest_create *create = wait->arg;
    if (bs && !bs->is_deleting && !is_over)
        return;
    rest_wait_stop(wait);
    rest_fail_with(create->request, &create->error);
}

/* Most failures are the cluster's; a quota is the namespace's, a platform the caller's choice. */
static void set_failure(struct rest_create *create, const struct rest_status *status)
{
    int code = 500;
    const char *name = REST_POD_FAILED;
    if (strstr(status->message, "exceeded quota")) {
        code = 403;
        name = REST_QUOTA_EXCEEDED;
    } else if (strcmp(status->reason, "POD_PLATFORM_UNSCHEDULABLE") == 0) {
        code = 400;
        name = REST_INVALID_PARAMETER;
    }
    rest_error_set(&create->error, code, name, "Sandbox %s failed: %s: %s", create->name,
                   status->reason, status->message);
}

/* The sandbox is of no use: deleted first, so that whoever hears of it finds nothing left. */
static void fail_and_undo(struct rest_create *create, const struct batchsandbox *bs)
{
    struct rest_status status = rest_status_of(bs);
    set_failure(create, &status);
    rest_undo(create->rest, create->name, create->uid, "it failed");
    free(create->uid);
    create->uid = NULL; /* nothing left to take back */
    rest_wait_start(&create->request->wait, create->rest, create->name, UNDO_WAIT_MS, on_undone,
                    create);
}

/* ---- waiting ---- */

enum create_outcome create_outcome_of(const struct batchsandbox *bs, const char *uid, bool has_seen)
{
    if (!bs)
        return has_seen ? CREATE_GONE : CREATE_WAITS;
    if (strcmp(bs->object.uid, uid) != 0) /* an older one of this name, or a newer */
        return has_seen ? CREATE_GONE : CREATE_WAITS;
    if (bs->is_deleting)
        return CREATE_GONE;
    if (bs->status.phase == PHASE_FAILED)
        return CREATE_FAILED;
    return bs->status.phase == PHASE_SUCCEED ? CREATE_RUNS : CREATE_WAITS;
}

static bool is_it(const struct rest_create *create, const struct batchsandbox *bs)
{
    return bs && strcmp(bs->object.uid, create->uid) == 0;
}

static void on_change(struct rest_wait *wait, const struct batchsandbox *bs, bool is_over)
{
    struct rest_create *create = wait->arg;
    enum create_outcome outcome = create_outcome_of(bs, create->uid, create->has_seen);
    /* It may have ended after a life of its own: then it is what the key means, and stays. */
    if (outcome == CREATE_FAILED && create->is_repeated && !create->has_seen)
        outcome = CREATE_RUNS;
    create->has_seen = create->has_seen || is_it(create, bs);
    if (outcome == CREATE_WAITS && is_it(create, bs) && (is_over || create->answers_at_once))
        outcome = CREATE_RUNS; /* 202 Pending: the endpoint call waits in its turn */
    if (outcome == CREATE_WAITS && !is_over)
        return;
    rest_wait_stop(wait);
    if (outcome == CREATE_RUNS)
        reply(create, bs);
    else if (outcome == CREATE_FAILED)
        fail_and_undo(create, bs);
    else if (outcome == CREATE_GONE)
        rest_fail(create->request, 409, REST_INVALID_STATE,
                  "the sandbox was deleted while it started");
    else
        rest_fail(create->request, 503, REST_API_ERROR,
                  "the sandbox was made, but the cache does not show it");
}

static void wait_for_it(struct rest_create *create, const struct batchsandbox *made)
{
    create->uid = osb_strdup(made->object.uid);
    rest_wait_start(&create->request->wait, create->rest, create->name,
                    (uint64_t)create->rest->op->config->kubernetes.create_wait_ms, on_change,
                    create);
}

/* ---- the name exists: the same request came before, or another one with its key ---- */

static void on_read(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct rest_create *create = arg;
    create->call = NULL;
    if (r < 0) {
        rest_fail_backend(create->request, r, err);
        return;
    }
    struct rest_object object = rest_object_read(body);
    const char *digest =
        object.bs ? batchsandbox_annotation(object.bs, ANNOTATION_IDEMPOTENCY) : NULL;
    if (!digest || strcmp(digest, create->digest) != 0)
        rest_fail(create->request, 409, "SANDBOX::IDEMPOTENCY_KEY_REUSED",
                  "this Idempotency-Key was used for another request");
    else if (object.bs->is_deleting)
        rest_fail(create->request, 409, REST_INVALID_STATE,
                  "the sandbox of this Idempotency-Key is being deleted");
    else
        wait_for_it(create, object.bs);
    rest_object_done(&object);
}

static void read_existing(struct rest_create *create)
{
    struct osb_err err = {0};
    const struct operator* op = create->rest->op;
    create->is_reading = true;
    create->is_repeated = true;
    int r = osb_kube_get(op->client, &osb_kind_batchsandbox, op->namespace_, create->name, on_read,
                         create, &create->call, &err);
    if (r < 0)
        rest_fail_backend(create->request, r, &err);
}

/* ---- posting ---- */

static void fail_post(struct rest_create *create, int r, const struct osb_err *err)
{
    struct rest_request *request = create->request;
    if (r == -OSB_E_FORBIDDEN && strstr(err->message, "exceeded quota"))
        rest_fail(request, 403, REST_QUOTA_EXCEEDED, "a quota of the namespace is exceeded");
    else if (r == -OSB_E_NOT_FOUND)
        rest_fail(request, 400, REST_INVALID_PARAMETER,
                  "the namespace or the kind BatchSandbox does not exist");
    else
        rest_fail_backend(request, r, err);
}

/* Refusals are certain; anything else may have made the object before its answer got lost. */
static bool may_exist(int r)
{
    return r != -OSB_E_INVALID && r != -OSB_E_FORBIDDEN && r != -OSB_E_UNAUTHENTICATED &&
           r != -OSB_E_NOT_FOUND && r != -OSB_E_EXISTS && r != -OSB_E_TOO_LARGE &&
           r != -OSB_E_RATE_LIMITED;
}

static void post_failed(struct rest_create *create, int r, const struct osb_err *err)
{
    if (r == -OSB_E_EXISTS && create->has_key && create->request) {
        read_existing(create);
        return;
    }
    if (may_exist(r) && !create->has_key)
        rest_undo(create->rest, create->name, NULL, "its creation is uncertain");
    if (create->request)
        fail_post(create, r, err);
    else
        create_free(create);
}

static void on_posted(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct rest_create *create = arg;
    create->call = NULL;
    if (r < 0) {
        post_failed(create, r, err);
        return;
    }
    struct rest_object object = rest_object_read(body);
    if (!create->request) {
        if (!create->has_key)
            rest_undo(create->rest, create->name, object.bs ? object.bs->object.uid : NULL,
                      "the caller has gone");
        create_free(create);
    } else if (!object.bs) {
        rest_undo(create->rest, create->name, NULL, "the API server's answer cannot be read");
        rest_fail(create->request, 500, REST_API_ERROR, "the API server's answer cannot be read");
    } else {
        wait_for_it(create, object.bs);
    }
    rest_object_done(&object);
}

static void post(struct rest_create *create, const struct create_spec *spec)
{
    struct rest_request *request = create->request;
    const struct operator* op = create->rest->op;
    struct create_identity identity = {
        .id = create->name,
        .namespace_ = op->namespace_,
        .request_id = request->id,
        .traceparent = request->traceparent,
        .digest = create->has_key ? create->digest : NULL,
    };
    struct osb_err err = {0};
    _cleanup_json_ struct osb_json *object =
        create_object(spec, &identity, op->config, osb_loop_realtime_ns(op->loop));
    rest_template_apply(create->rest->template_, object);
    osb_kube_client_set_request_id(op->client, request->id);
    int r = osb_kube_create(op->client, &osb_kind_batchsandbox, op->namespace_, object, on_posted,
                            create, &create->call, &err);
    osb_kube_client_set_request_id(op->client, NULL);
    if (r < 0)
        rest_fail_backend(request, r, &err);
}

/* ---- the request ---- */

/* True when the header was absent or well-formed; *RET is empty when it was absent. */
static bool read_key(struct rest_request *request, struct osb_slice *ret)
{
    *ret = OSB_SLICE_NULL;
    if (!osb_http_header(request->x, "Idempotency-Key", ret))
        return true;
    *ret = osb_slice_trim(*ret);
    return ret->len > 0 && ret->len <= REST_MAX_KEY;
}

static bool prefers_async(const struct rest_request *request)
{
    struct osb_slice preferences;
    struct osb_slice one;
    if (!osb_http_header(request->x, "Prefer", &preferences))
        return false;
    while (osb_slice_split(&preferences, ',', &one))
        if (osb_slice_ieq_str(osb_slice_trim(one), "respond-async"))
            return true;
    return false;
}

static void choose_name(struct rest_create *create, struct osb_slice key,
                        const struct osb_json *body)
{
    create->has_key = key.len > 0;
    if (create->has_key) {
        rest_idempotent_name(create->rest->op->namespace_, key, create->name);
        rest_body_digest(body, create->digest);
    } else {
        osb_uuid_format(osb_uuid_v4(), create->name);
    }
    create->request->sandbox = osb_arena_strdup(create->request->arena, create->name);
}

static void on_body(struct rest_request *request, struct osb_json *body)
{
    struct create_spec spec;
    struct rest_error error = {0};
    struct osb_slice key;
    if (!read_key(request, &key)) {
        rest_fail(request, 400, REST_INVALID_PARAMETER,
                  "Idempotency-Key must be 1 to %d characters", REST_MAX_KEY);
        return;
    }
    const char *lack = pod_inject_lacks(request->rest->op->config);
    if (lack) {
        rest_fail(request, 501, REST_NOT_SUPPORTED, "%s", lack);
        return;
    }
    if (create_spec_read(body, request->rest->op->config, &spec, &error) < 0) {
        rest_fail_with(request, &error);
        return;
    }
    if (request->rest->is_draining) {
        rest_fail(request, 503, REST_API_ERROR, "the server is stopping");
        return;
    }
    struct rest_create *create = create_new(request);
    create->answers_at_once = prefers_async(request);
    choose_name(create, key, body);
    post(create, &spec);
}

void rest_create_handle(struct rest_request *request, const struct osb_http_params *params)
{
    (void)params;
    rest_read_body(request, on_body);
}
