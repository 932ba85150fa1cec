// SPDX-License-Identifier: Apache-2.0
#include "admission.h"
#include "defaults.h"
#include "pod_defaults.h"
#include "pod_validate.h"

#include <osb/api_meta.h>
#include <osb/buf.h>
#include <osb/clock.h>
#include <osb/text.h>

/* ---- pods ---- */

/* There is one node, so a pod is bound at once. */
static void bind_pod(struct osb_json *pod, const struct admission_context *c)
{
    char now[OSB_RFC3339_MAX];
    default_str(osb_json_ensure_object(pod, "spec"), "nodeName", c->node_name);
    struct osb_json *scheduled = osb_json_new_object();
    osb_json_set(scheduled, "type", osb_json_new_str("PodScheduled"));
    osb_json_set(scheduled, "status", osb_json_new_str("True"));
    osb_json_set(scheduled, "lastProbeTime", osb_json_new_null());
    osb_json_set(scheduled, "lastTransitionTime",
                 osb_json_new_str(osb_rfc3339_format(now, c->now_ns, 0)));
    struct osb_json *conditions = osb_json_new_array();
    osb_json_append(conditions, scheduled);
    osb_json_set(osb_json_ensure_object(pod, "status"), "conditions", conditions);
}

static void prepare_pod(struct osb_json *pod, const struct osb_json *old,
                        const struct admission_context *c)
{
    struct osb_json *spec = osb_json_ensure_object(pod, "spec");
    pod_default_spec(spec);
    if (old)
        return;
    bind_pod(pod, c);
    struct osb_json *status = osb_json_ensure_object(pod, "status");
    osb_json_set(status, "phase", osb_json_new_str("Pending"));
    osb_json_set(status, "qosClass", osb_json_new_str(pod_qos_class(spec)));
}

static void validate_pod(const struct osb_json *pod, const struct osb_json *old,
                         const struct admission_context *c)
{
    const struct osb_json *spec = osb_json_get(pod, "spec");
    pod_validate_spec(spec, c->refusal);
    if (old)
        pod_validate_spec_update(spec, osb_json_get(old, "spec"), c->refusal);
}

const struct admission admission_pod = {prepare_pod, validate_pod};

/* ---- secrets ---- */

enum { SECRET_MAX = 1024 * 1024 /* bytes of all values */ };

/* stringData is for writing only: it is merged into data. */
static void prepare_secret(struct osb_json *secret, const struct osb_json *old,
                           const struct admission_context *c)
{
    (void)old;
    (void)c;
    const struct osb_json *texts = osb_json_get(secret, "stringData");
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    while (osb_json_next_member(texts, &cursor, &key, &value)) {
        _cleanup_buf_ struct osb_buf encoded = {0};
        osb_base64_encode(&encoded, osb_json_str(value));
        osb_json_set_slice(osb_json_ensure_object(secret, "data"), key,
                           osb_json_new_string(osb_buf_slice(&encoded)));
    }
    osb_json_del(secret, OSB_SLICE("stringData"));
    default_str(secret, "type", "Opaque");
}

static bool is_data_key(struct osb_slice key)
{
    for (size_t i = 0; i < key.len; i++) {
        char c = key.data[i];
        bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_word && c != '-' && c != '_' && c != '.')
            return false;
    }
    return key.len && key.len <= 253 && !osb_slice_eq_str(key, ".") &&
           !osb_slice_starts(key, OSB_SLICE(".."));
}

static void validate_data(const struct osb_json *data, struct refusal *r)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    size_t total = 0;
    while (osb_json_next_member(data, &cursor, &key, &value)) {
        _cleanup_buf_ struct osb_buf decoded = {0};
        if (!is_data_key(key))
            field_error(r, "FieldValueInvalid", "data",
                        "Invalid value: \"%.*s\": a valid config key must consist of alphanumeric "
                        "characters, '-', '_' or '.'",
                        OSB_SLICE_ARG(key));
        if (osb_base64_decode(&decoded, osb_json_str(value)) < 0) /* the value is not shown */
            field_error(r, "FieldValueInvalid", "data", "Invalid value: illegal base64 data");
        total += decoded.len;
        if (decoded.base)
            explicit_bzero(decoded.base, decoded.cap);
    }
    if (total > SECRET_MAX)
        field_error(r, "FieldValueTooLong", "data", "Too long: may not be more than %d bytes",
                    SECRET_MAX);
}

static void validate_secret(const struct osb_json *secret, const struct osb_json *old,
                            const struct admission_context *c)
{
    validate_data(osb_json_get(secret, "data"), c->refusal);
    if (!old)
        return;
    struct osb_slice type = osb_json_str(osb_json_get(secret, "type"));
    if (!osb_slice_eq(type, osb_json_str(osb_json_get(old, "type"))))
        field_error(c->refusal, "FieldValueInvalid", "type",
                    "Invalid value: \"%.*s\": field is immutable", OSB_SLICE_ARG(type));
    if (!osb_json_bool_or(osb_json_get(old, "immutable"), false))
        return;
    const struct osb_json *a = osb_json_get(secret, "data"), *b = osb_json_get(old, "data");
    if (!osb_json_bool_or(osb_json_get(secret, "immutable"), false))
        field_error(c->refusal, "FieldValueForbidden", "immutable",
                    "Forbidden: field is immutable when `immutable` is set");
    if ((a || b) && (!a || !b || !osb_json_equal(a, b)))
        field_error(c->refusal, "FieldValueForbidden", "data",
                    "Forbidden: field is immutable when `immutable` is set");
}

const struct admission admission_secret = {prepare_secret, validate_secret};

/* ---- events ---- */

static void prepare_event(struct osb_json *event, const struct osb_json *old,
                          const struct admission_context *c)
{
    (void)old;
    (void)c;
    osb_json_ensure_object(event, "involvedObject");
    osb_json_ensure_object(event, "source");
    default_str(event, "reportingComponent", "");
    default_str(event, "reportingInstance", "");
}

static void validate_event(const struct osb_json *event, const struct osb_json *old,
                           const struct admission_context *c)
{
    (void)old;
    struct osb_slice about = osb_json_str(osb_json_get_path(event, "involvedObject.namespace"));
    const char *ns = osb_api_namespace(event);
    /* What is cluster-scoped has its events in "default". */
    if (!osb_slice_eq_str(about, ns) && !(about.len == 0 && !strcmp(ns, "default")))
        field_error(c->refusal, "FieldValueInvalid", "involvedObject.namespace",
                    "Invalid value: \"%.*s\": does not match event.namespace",
                    OSB_SLICE_ARG(about));
}

const struct admission admission_event = {prepare_event, validate_event};

/* ---- namespaces ---- */

static void prepare_namespace(struct osb_json *object, const struct osb_json *old,
                              const struct admission_context *c)
{
    (void)c;
    struct osb_json *metadata = osb_json_ensure_object(object, "metadata");
    struct osb_json *labels = osb_json_ensure_object(metadata, "labels");
    const char *name = osb_api_name(object);
    osb_json_set(labels, "kubernetes.io/metadata.name", osb_json_new_str(name ? name : ""));
    struct osb_json *spec = osb_json_ensure_object(object, "spec");
    if (old) { /* only the server lifts the finalizer, when the namespace is empty */
        const struct osb_json *kept = osb_json_get_path(old, "spec.finalizers");
        if (kept)
            osb_json_set(spec, "finalizers", osb_json_copy(kept));
        return;
    }
    struct osb_json *finalizers = osb_json_new_array();
    osb_json_append(finalizers, osb_json_new_str("kubernetes"));
    osb_json_set(spec, "finalizers", finalizers);
    osb_json_set(osb_json_ensure_object(object, "status"), "phase", osb_json_new_str("Active"));
}

const struct admission admission_namespace = {prepare_namespace, NULL};

const struct admission admission_plain = {NULL, NULL};
