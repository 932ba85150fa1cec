// SPDX-License-Identifier: Apache-2.0
#include "rejection.h"

#include <osb/alloc.h>
#include <osb/api_meta.h>
#include <osb/buf.h>
#include <osb/cleanup.h>
#include <osb/log.h>
#include <stdlib.h>
#include <string.h>

static const char reason[] = "UnsupportedPod";

/* One write to a rejected pod: in flight, or waiting for its next try. */
struct rejection {
    struct rejections *rejections;
    char *uid;
    char *namespace_;
    char *name;
    char *message;
    bool is_deleting; /* what is to be written: the deletion, not the status */
    bool is_deletion_sent;
    int failures;
    struct osb_kube_call *call;
    struct osb_timer retry;
};

struct rejections {
    struct node *node;
    struct osb_map pending; /* by uid */
};

static void rejection_free(struct rejection *rejection)
{
    osb_timer_stop(&rejection->retry);
    if (rejection->call)
        osb_kube_cancel(rejection->call);
    free(rejection->uid);
    free(rejection->namespace_);
    free(rejection->name);
    free(rejection->message);
    free(rejection);
}

static void rejection_end(struct rejection *rejection)
{
    (void)osb_map_remove(&rejection->rejections->pending, osb_slice_str(rejection->uid));
    rejection_free(rejection);
}

static void write_out(struct rejection *rejection);

static void try_later(struct rejection *rejection, const struct osb_err *err)
{
    uint64_t delay_ms = REJECTION_RETRY_MIN_MS;
    for (int i = 0; i < rejection->failures && delay_ms < REJECTION_RETRY_MAX_MS; i++)
        delay_ms *= 2;
    if (delay_ms > REJECTION_RETRY_MAX_MS)
        delay_ms = REJECTION_RETRY_MAX_MS;
    rejection->failures++;
    osb_log(OSB_LOG_WARN, "rejected pod not written",
            OSB_KV_STR("namespace", rejection->namespace_), OSB_KV_STR("pod", rejection->name),
            OSB_KV_ERR(err));
    osb_timer_set(&rejection->retry, delay_ms);
}

static void on_written(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct rejection *rejection = arg;
    (void)body;
    rejection->call = NULL;
    if (r == -OSB_E_NOT_FOUND || r == -OSB_E_CONFLICT) { /* or another pod has the name */
        rejection_end(rejection);
    } else if (r < 0) {
        try_later(rejection, err);
    } else if (rejection->is_deleting && !rejection->is_deletion_sent) {
        write_out(rejection); /* asked for while the status was on its way */
    } else {
        rejection_end(rejection);
    }
}

static int write_deletion(struct rejection *rejection, struct osb_err *err)
{
    struct osb_kube_delete_options options = {.uid = rejection->uid, .grace_seconds = 0};
    rejection->is_deletion_sent = true;
    return osb_kube_delete(rejection->rejections->node->kube, &osb_kind_pod, rejection->namespace_,
                           rejection->name, &options, on_written, rejection, &rejection->call, err);
}

static int write_status(struct rejection *rejection, struct osb_err *err)
{
    struct osb_json *patch = osb_json_new_object(), *metadata = osb_json_new_object(),
                    *status = osb_json_new_object();
    osb_json_set(metadata, "uid", osb_json_new_str(rejection->uid));
    osb_json_set(patch, "metadata", metadata);
    osb_json_set(status, "phase", osb_json_new_str("Failed"));
    osb_json_set(status, "reason", osb_json_new_str(reason));
    osb_json_set(status, "message", osb_json_new_str(rejection->message));
    osb_json_set(patch, "status", status);
    _cleanup_buf_ struct osb_buf text = {0};
    osb_json_print(patch, &text);
    osb_json_free(patch);
    return osb_kube_patch(rejection->rejections->node->kube, &osb_kind_pod, rejection->namespace_,
                          rejection->name, "status", OSB_KUBE_PATCH_MERGE, osb_buf_slice(&text),
                          on_written, rejection, &rejection->call, err);
}

static void write_out(struct rejection *rejection)
{
    struct osb_err err = {0};
    int r =
        rejection->is_deleting ? write_deletion(rejection, &err) : write_status(rejection, &err);
    if (r < 0)
        try_later(rejection, &err);
}

static void on_retry(struct osb_timer *timer)
{
    write_out(timer->arg);
}

static void tell(struct rejections *rejections, const struct osb_json *object,
                 const struct osb_err *why)
{
    struct osb_kube_ref ref = {.kind = &osb_kind_pod,
                               .namespace_ = osb_api_namespace(object),
                               .name = osb_api_name(object),
                               .uid = osb_api_uid(object)};
    osb_kube_event(rejections->node->events, &ref, true, reason, "%s", why->message);
}

void rejections_take(struct rejections *rejections, const struct osb_json *object,
                     const struct osb_err *why)
{
    struct osb_slice uid = osb_slice_str(osb_api_uid(object));
    struct rejection *rejection = osb_map_get(&rejections->pending, uid);
    bool is_deleting = osb_api_is_deleting(object);
    const char *phase = osb_json_cstr(osb_json_get_path(object, "status.phase"));
    if (rejection) {
        rejection->is_deleting |= is_deleting;
        return;
    }
    if (!is_deleting && phase && !strcmp(phase, "Failed"))
        return; /* told already */
    if (!is_deleting)
        tell(rejections, object, why);
    rejection = osb_new(struct rejection);
    rejection->rejections = rejections;
    rejection->uid = osb_slice_dup(uid);
    rejection->namespace_ = osb_strdup(osb_api_namespace(object));
    rejection->name = osb_strdup(osb_api_name(object));
    rejection->message = osb_strdup(why->message);
    rejection->is_deleting = is_deleting;
    osb_timer_init(&rejection->retry, rejections->node->loop, on_retry, rejection);
    (void)osb_map_set(&rejections->pending, uid, rejection);
    write_out(rejection);
}

struct rejections *rejections_new(struct node *node)
{
    struct rejections *rejections = osb_new(struct rejections);
    rejections->node = node;
    return rejections;
}

static void free_rejection(void *rejection)
{
    rejection_free(rejection);
}

void rejections_free(struct rejections *rejections)
{
    if (!rejections)
        return;
    osb_map_done(&rejections->pending, free_rejection);
    free(rejections);
}
