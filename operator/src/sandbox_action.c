// SPDX-License-Identifier: Apache-2.0
/* Each kind of action: the request it makes, and what its answer means. */
#include <osb/alloc.h>
#include <osb/api_meta.h>
#include <osb/log.h>

#include <stdlib.h>
#include <string.h>

#include "pod_build.h"
#include "sandbox_work.h"

static struct osb_kube_client *client_of(const struct sandbox_step *step)
{
    return step->work->controller->op->client;
}

static void log_done(const struct sandbox_step *step, const char *what)
{
    const struct sandbox_work *work = step->work;
    osb_log(OSB_LOG_INFO, what, OSB_KV_STR("namespace", work->namespace_),
            OSB_KV_STR("sandbox", work->name), OSB_KV_STR("pod", step->action->name),
            OSB_KV_STR("reason", step->action->message), OSB_KV_STR("request_id", work->request_id),
            OSB_KV_STR("traceparent", work->traceparent));
}

/* ---- the object ---- */

static void on_sandbox_deleted(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct sandbox_step *step = arg;
    (void)body;
    if (r >= 0)
        log_done(step, "expired sandbox deleted");
    sandbox_step_end(step, r == -OSB_E_NOT_FOUND ? 0 : r, err);
}

static int delete_sandbox(struct sandbox_step *step, struct osb_err *err)
{
    const struct batchsandbox *bs = sandbox_work_object(step->work);
    if (!bs)
        return 1;
    /* The version guards a renewal that the cache does not show yet. */
    struct osb_kube_delete_options options = {
        .uid = bs->object.uid,
        .resource_version = bs->object.resource_version[0] ? bs->object.resource_version : NULL,
        .grace_seconds = -1,
        .propagation = "Background",
    };
    return osb_kube_delete(client_of(step), &osb_kind_batchsandbox, step->work->namespace_,
                           step->work->name, &options, on_sandbox_deleted, step, &step->call, err);
}

static void on_owner(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct sandbox_step *step = arg;
    _cleanup_json_ struct osb_json *object = NULL;
    if (r == -OSB_E_NOT_FOUND)
        r = 0;
    else if (r >= 0 && (r = osb_json_parse(body, &object, NULL)) >= 0)
        step->work->live_uid = osb_strdup(osb_api_uid(object));
    sandbox_step_end(step, r, err);
}

static int confirm_owner(struct sandbox_step *step, struct osb_err *err)
{
    return osb_kube_get(client_of(step), &osb_kind_batchsandbox, step->work->namespace_,
                        step->work->name, on_owner, step, &step->call, err);
}

/* ---- tokens ---- */

/* Pods cannot be made: kept for the status, told as an event. */
static void cannot_make(const struct sandbox_step *step, const char *reason, const char *message)
{
    struct sandbox_work *work = step->work;
    sandbox_memory_set_error(sandbox_memory_of(work->controller, work->key), reason, message);
    sandbox_work_event(work, true, reason, message);
}

static bool is_ours(const struct sandbox_step *step, const struct osb_json *object)
{
    const char *uid = osb_api_controller_uid(object);
    return uid && step->work->uid && strcmp(uid, step->work->uid) == 0;
}

static void on_left_tokens_deleted(int r, struct osb_slice body, const struct osb_err *err,
                                   void *arg)
{
    struct osb_err again = {0};
    (void)body;
    if (r < 0 && r != -OSB_E_NOT_FOUND) {
        sandbox_step_end(arg, r, err);
        return;
    }
    r = osb_fail(&again, -OSB_E_CONFLICT, "removed the tokens of an earlier object of this name");
    sandbox_step_end(arg, r, &again); /* the next pass makes ours */
}

/* Deletes a Secret of an owner that is gone, as the garbage collector would in time. */
static void on_live_owner(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct sandbox_step *step = arg;
    struct sandbox_work *work = step->work;
    struct osb_err why = {0};
    _cleanup_json_ struct osb_json *object = NULL;
    step->call = NULL;
    if (r >= 0 && (r = osb_json_parse(body, &object, &why)) < 0)
        err = &why;
    const char *uid = osb_api_uid(object);
    if (r >= 0 && (!uid || strcmp(uid, work->uid) != 0)) {
        r = osb_fail(&why, -OSB_E_CONFLICT, "changed meanwhile");
        err = &why;
    }
    if (r >= 0) {
        struct osb_kube_delete_options options = {.uid = work->left_uid, .grace_seconds = -1};
        _cleanup_free_ char *name = osb_asprintf("%s-tokens", work->name);
        err = &why;
        r = osb_kube_delete(client_of(step), &osb_kind_secret, work->namespace_, name, &options,
                            on_left_tokens_deleted, step, &step->call, &why);
        if (r >= 0)
            return;
    }
    sandbox_step_end(step, r, err);
}

/* True when SECRET was made for another object of this kind and name. */
static bool is_left_over(const struct sandbox_step *step, const struct osb_json *secret)
{
    const struct osb_json *owner =
        osb_json_at(osb_json_get_path(secret, "metadata.ownerReferences"), 0);
    return osb_slice_eq_str(osb_json_str(osb_json_get(owner, "kind")), "BatchSandbox") &&
           osb_slice_eq_str(osb_json_str(osb_json_get(owner, "name")), step->work->name);
}

static int remove_left_over(struct sandbox_step *step, const struct osb_json *secret,
                            struct osb_err *err)
{
    struct sandbox_work *work = step->work;
    free(work->left_uid);
    work->left_uid = osb_strdup(osb_api_uid(secret));
    return osb_kube_get(client_of(step), &osb_kind_batchsandbox, work->namespace_, work->name,
                        on_live_owner, step, &step->call, err);
}

static void on_tokens_read(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct sandbox_step *step = arg;
    _cleanup_json_ struct osb_json *secret = NULL;
    struct osb_err why = {0};
    step->call = NULL;
    if (r >= 0 && (r = osb_json_parse(body, &secret, &why)) < 0)
        err = &why;
    if (r >= 0 && !is_ours(step, secret)) {
        err = &why;
        if (is_left_over(step, secret)) {
            r = remove_left_over(step, secret, &why);
            if (r >= 0)
                return;
        } else {
            r = osb_fail(&why, -OSB_E_CONFLICT, "Secret %s-tokens belongs to something else",
                         step->work->name);
            cannot_make(step, "TokensNameTaken", why.message);
        }
    }
    sandbox_step_end(step, r, err);
}

static void on_tokens_made(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct sandbox_step *step = arg;
    struct osb_err again = {0};
    (void)body;
    if (r == -OSB_E_EXISTS) { /* made before: by an earlier pass, or one whose answer got lost */
        _cleanup_free_ char *name = osb_asprintf("%s-tokens", step->work->name);
        step->call = NULL;
        r = osb_kube_get(client_of(step), &osb_kind_secret, step->work->namespace_, name,
                         on_tokens_read, step, &step->call, &again);
        if (r >= 0)
            return;
        err = &again;
    } else if (r < 0 && !osb_err_info(r)->is_retriable) {
        cannot_make(step, "FailedCreate", err->message);
    }
    sandbox_step_end(step, r, err);
}

static int ensure_tokens(struct sandbox_step *step, struct osb_err *err)
{
    const struct batchsandbox *bs = sandbox_work_object(step->work);
    if (!bs)
        return osb_fail(err, -OSB_E_CONFLICT, "changed meanwhile");
    _cleanup_json_ struct osb_json *secret = tokens_build(bs);
    return osb_kube_create(client_of(step), &osb_kind_secret, step->work->namespace_, secret,
                           on_tokens_made, step, &step->call, err);
}

/* ---- pods ---- */

static void withdraw(const struct sandbox_step *step)
{
    osb_kube_observe_create(step->work->controller->expectations, step->work->key,
                            step->action->name);
}

static void on_labels_back(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    (void)body;
    if (r < 0)
        withdraw(arg); /* no watch will show it */
    sandbox_step_end(arg, r, err);
}

/* Somebody took the labels away, so that our cache does not show the pod. */
static int put_labels_back(struct sandbox_step *step, struct osb_err *err)
{
    _cleanup_free_ char *patch = osb_asprintf("{\"metadata\":{\"labels\":{\"" LABEL_POD_NAME
                                              "\":\"%s\",\"" LABEL_POD_INDEX "\":\"%d\"}}}",
                                              step->work->name, step->action->index);
    return osb_kube_patch(client_of(step), &osb_kind_pod, step->work->namespace_,
                          step->action->name, NULL, OSB_KUBE_PATCH_MERGE, osb_slice_str(patch),
                          on_labels_back, step, &step->call, err);
}

/* A pod of that name is there already: ours, and the answer got lost, or somebody else's. */
static void on_existing_pod(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct sandbox_step *step = arg;
    _cleanup_json_ struct osb_json *pod = NULL;
    struct osb_err why = {0};
    step->call = NULL;
    if (r >= 0)
        r = osb_json_parse(body, &pod, &why);
    if (r < 0) {
        withdraw(step);
        sandbox_step_end(step, r, err ? err : &why);
    } else if (osb_api_is_deleting(pod)) {
        withdraw(step);
        step->work->requeue_after_ms = SANDBOX_STALE_RETRY_MS; /* its end will tell us sooner */
        sandbox_step_end(step, 0, NULL);
    } else if (!is_ours(step, pod)) {
        withdraw(step);
        osb_fail(&why, -OSB_E_CONFLICT, "pod %s exists and is not of this BatchSandbox",
                 step->action->name);
        cannot_make(step, "PodNameTaken", why.message);
        sandbox_step_end(step, -OSB_E_CONFLICT, &why);
    } else if (!osb_api_label(pod, LABEL_POD_NAME)) {
        if ((r = put_labels_back(step, &why)) < 0) {
            withdraw(step);
            sandbox_step_end(step, r, &why);
        }
    } else {
        sandbox_step_end(step, 0, NULL); /* the watch brings it */
    }
}

static void on_pod_made(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct sandbox_step *step = arg;
    struct sandbox_work *work = step->work;
    (void)body;
    step->call = NULL;
    if (r >= 0) {
        _cleanup_free_ char *text = osb_asprintf("Created pod %s", step->action->name);
        sandbox_memory_set_error(sandbox_memory_of(work->controller, work->key), NULL, NULL);
        sandbox_work_event(work, false, "SuccessfulCreate", text);
        log_done(step, "pod created");
        sandbox_step_end(step, 0, NULL);
        return;
    }
    if (r == -OSB_E_EXISTS) {
        struct osb_err again = {0};
        r = osb_kube_get(client_of(step), &osb_kind_pod, work->namespace_, step->action->name,
                         on_existing_pod, step, &step->call, &again);
        if (r < 0) {
            withdraw(step);
            sandbox_step_end(step, r, &again);
        }
        return;
    }
    withdraw(step); /* made or not: the name is the same at the next try, it cannot be made twice */
    if (!osb_err_info(r)->is_retriable)
        cannot_make(step, "FailedCreate", err->message);
    sandbox_step_end(step, r, err);
}

static int create_pod(struct sandbox_step *step, struct osb_err *err)
{
    struct sandbox_work *work = step->work;
    const struct batchsandbox *bs = sandbox_work_object(work);
    _cleanup_json_ struct osb_json *pod = NULL;
    if (!bs)
        return osb_fail(err, -OSB_E_CONFLICT, "changed meanwhile");
    const struct pod *there = pod_of(
        osb_kube_store_get(work->controller->op->pods, work->namespace_, step->action->name));
    if (there && !there->owner_name) {
        osb_fail(err, -OSB_E_CONFLICT, "pod %s exists and is not of this BatchSandbox",
                 step->action->name);
        cannot_make(step, "PodNameTaken", err->message);
        return err->code;
    }
    if (there) /* come into sight since the plan was made, or an earlier object's, on its way out */
        return 1;
    int r = pod_build(bs, step->action->index, work->controller->op->config, &pod, err);
    if (r < 0) {
        bool is_template = r != -OSB_E_UNSUPPORTED;
        cannot_make(step, is_template ? "InvalidTemplate" : "InjectionUnavailable", err->message);
        return r;
    }
    osb_kube_expect_create(work->controller->expectations, work->key, step->action->name);
    r = osb_kube_create(client_of(step), &osb_kind_pod, work->namespace_, pod, on_pod_made, step,
                        &step->call, err);
    if (r < 0)
        withdraw(step);
    return r;
}

static void on_pod_deleted(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct sandbox_step *step = arg;
    struct sandbox_work *work = step->work;
    (void)body;
    if (r < 0)
        osb_kube_observe_delete(work->controller->expectations, work->key, step->action->uid);
    if (r >= 0) {
        _cleanup_free_ char *text =
            osb_asprintf("Deleted pod %s: %s", step->action->name, step->action->message);
        if (work->uid)
            sandbox_work_event(work, false, "SuccessfulDelete", text);
        log_done(step, "pod deleted");
    }
    /* Conflict: another pod has the name by now, and the next pass sees it; or a hiccup. */
    sandbox_step_end(step, r == -OSB_E_NOT_FOUND ? 0 : r, err);
}

static int delete_pod(struct sandbox_step *step, struct osb_err *err)
{
    struct sandbox_work *work = step->work;
    const struct action *action = step->action;
    struct osb_kube_delete_options options = {.uid = action->uid, .grace_seconds = -1};
    bool is_orphan = action->owner_uid != NULL;
    if (is_orphan && work->live_uid && strcmp(action->owner_uid, work->live_uid) == 0)
        return 1; /* its owner lives: our cache was behind */
    if (!is_orphan && !sandbox_work_object(work))
        return osb_fail(err, -OSB_E_CONFLICT, "changed meanwhile");
    if (!is_orphan)
        osb_kube_expect_delete(work->controller->expectations, work->key, action->uid);
    int r = osb_kube_delete(client_of(step), &osb_kind_pod, work->namespace_, action->name,
                            &options, on_pod_deleted, step, &step->call, err);
    if (r < 0 && !is_orphan)
        osb_kube_observe_delete(work->controller->expectations, work->key, action->uid);
    return r;
}

/* ---- writing back ---- */

static void remember_version(struct sandbox_work *work, struct osb_slice body)
{
    _cleanup_json_ struct osb_json *object = NULL;
    if (osb_json_parse(body, &object, NULL) < 0)
        return;
    const char *version = osb_api_resource_version(object);
    struct sandbox_memory *memory = sandbox_memory_of(work->controller, work->key);
    memory->written_version = version ? strtoull(version, NULL, 10) : 0;
    memory->written_ns = osb_loop_now_ns(work->controller->op->loop);
}

static void on_annotations(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct sandbox_step *step = arg;
    if (r >= 0)
        remember_version(step->work, body);
    sandbox_step_end(step, r == -OSB_E_NOT_FOUND ? 0 : r, err);
}

static void on_status(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct sandbox_step *step = arg;
    const struct action *action = step->action;
    if (r >= 0) {
        remember_version(step->work, body);
        phase_move(action->from, action->to);
        if (action->from != action->to)
            osb_log(OSB_LOG_INFO, "phase", OSB_KV_STR("namespace", step->work->namespace_),
                    OSB_KV_STR("sandbox", step->work->name),
                    OSB_KV_STR("phase", phase_name(action->to)),
                    OSB_KV_STR("request_id", step->work->request_id),
                    OSB_KV_STR("traceparent", step->work->traceparent));
    }
    sandbox_step_end(step, r == -OSB_E_NOT_FOUND ? 0 : r, err);
}

static int patch(struct sandbox_step *step, const char *subresource, osb_kube_done *done,
                 struct osb_err *err)
{
    const struct sandbox_work *work = step->work;
    return osb_kube_patch(client_of(step), &osb_kind_batchsandbox, work->namespace_, work->name,
                          subresource, OSB_KUBE_PATCH_MERGE, osb_slice_str(step->action->text),
                          done, step, &step->call, err);
}

int sandbox_action_start(struct sandbox_step *step, struct osb_err *err)
{
    switch (step->action->type) {
    case ACTION_DELETE_SANDBOX:
        return delete_sandbox(step, err);
    case ACTION_CONFIRM_OWNER:
        return confirm_owner(step, err);
    case ACTION_ENSURE_TOKENS:
        return ensure_tokens(step, err);
    case ACTION_CREATE_POD:
        return create_pod(step, err);
    case ACTION_DELETE_POD:
        return delete_pod(step, err);
    case ACTION_PATCH_ANNOTATIONS:
        return patch(step, NULL, on_annotations, err);
    case ACTION_PATCH_STATUS:
        return patch(step, "status", on_status, err);
    case ACTION_EVENT:
        break;
    }
    osb_assert(!"an action without a start");
    return 0;
}
