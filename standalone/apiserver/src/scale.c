// SPDX-License-Identifier: Apache-2.0
/* autoscaling/v1 Scale as a view of an object: the paths come from the CRD. */
#include "verbs.h"

#include <osb/api_meta.h>

static void copy_meta(struct osb_json *to, const struct osb_json *object, const char *key)
{
    const struct osb_json *value = osb_json_get(osb_json_get(object, "metadata"), key);
    if (value)
        osb_json_set(to, key, osb_json_copy(value));
}

struct osb_json *scale_of(const struct resource *resource, const struct osb_json *object)
{
    struct osb_json *scale = osb_json_new_object();
    osb_json_set(scale, "kind", osb_json_new_str("Scale"));
    osb_json_set(scale, "apiVersion", osb_json_new_str("autoscaling/v1"));
    struct osb_json *metadata = osb_json_ensure_object(scale, "metadata");
    static const char *const kept[] = {"name", "namespace", "uid", "resourceVersion",
                                       "creationTimestamp"};
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
        copy_meta(metadata, object, kept[i]);
    int64_t wanted = osb_json_i64_or(osb_json_get_path(object, resource->scale_spec_path), 0);
    int64_t there = osb_json_i64_or(osb_json_get_path(object, resource->scale_status_path), 0);
    struct osb_json *spec = osb_json_ensure_object(scale, "spec");
    if (wanted) /* the published type leaves a zero out */
        osb_json_set(spec, "replicas", osb_json_new_i64(wanted));
    struct osb_json *status = osb_json_ensure_object(scale, "status");
    osb_json_set(status, "replicas", osb_json_new_i64(there));
    if (resource->scale_selector_path) {
        const struct osb_json *selector = osb_json_get_path(object, resource->scale_selector_path);
        osb_json_set(status, "selector", osb_json_new_string(osb_json_str(selector)));
    }
    return scale;
}

/* Sets "a.b.c" and makes the objects on the way. */
static void set_path(struct osb_json *object, const char *path, struct osb_json *value)
{
    struct osb_slice rest = osb_slice_str(path), piece;
    struct osb_json *at = object;
    while (osb_slice_split(&rest, '.', &piece)) {
        _cleanup_free_ char *name = osb_slice_dup(piece);
        if (!rest.len) {
            osb_json_set(at, name, value);
            return;
        }
        at = osb_json_ensure_object(at, name);
    }
}

int scale_apply(struct verb_context *c, struct osb_json *object, const struct osb_json *scale)
{
    if (osb_json_type(scale) != OSB_JSON_OBJECT)
        return refuse_bad_request(c->refusal, "the body of the request must be a Scale");
    const struct osb_json *replicas = osb_json_get_path(scale, "spec.replicas");
    if (replicas && osb_json_type(replicas) != OSB_JSON_NUMBER)
        return refuse_bad_request(c->refusal, "spec.replicas must be an integer");
    int64_t count = osb_json_i64_or(replicas, 0);
    if (count < 0) {
        field_error(c->refusal, "FieldValueInvalid", "spec.replicas",
                    "Invalid value: %lld: should be a non-negative integer", (long long)count);
        return refuse(c->refusal, 422, "Invalid",
                      "Scale \"%s\" is invalid: spec.replicas: Invalid value: %lld: should be a "
                      "non-negative integer",
                      c->request->name, (long long)count);
    }
    /* The versions of the Scale are those of the object: a stale one is a conflict. */
    struct osb_json *metadata = osb_json_ensure_object(object, "metadata");
    const char *version = osb_api_resource_version(scale), *uid = osb_api_uid(scale);
    if (version && version[0])
        osb_json_set(metadata, "resourceVersion", osb_json_new_str(version));
    if (uid && uid[0])
        osb_json_set(metadata, "uid", osb_json_new_str(uid));
    set_path(object, c->request->resource->scale_spec_path, osb_json_new_i64(count));
    return 0;
}
