// SPDX-License-Identifier: Apache-2.0
#include <osb/api_meta.h>

static struct osb_json *meta_get(const struct osb_json *object, const char *key)
{
    return osb_json_get(osb_json_get(object, "metadata"), key);
}

const char *osb_api_name(const struct osb_json *object)
{
    return osb_json_cstr(meta_get(object, "name"));
}

const char *osb_api_namespace(const struct osb_json *object)
{
    return osb_json_cstr(meta_get(object, "namespace"));
}

const char *osb_api_uid(const struct osb_json *object)
{
    return osb_json_cstr(meta_get(object, "uid"));
}

const char *osb_api_resource_version(const struct osb_json *object)
{
    return osb_json_cstr(meta_get(object, "resourceVersion"));
}

const char *osb_api_kind(const struct osb_json *object)
{
    return osb_json_cstr(osb_json_get(object, "kind"));
}

const char *osb_api_version(const struct osb_json *object)
{
    return osb_json_cstr(osb_json_get(object, "apiVersion"));
}

int64_t osb_api_generation(const struct osb_json *object)
{
    return osb_json_i64_or(meta_get(object, "generation"), 0);
}

bool osb_api_is_deleting(const struct osb_json *object)
{
    return osb_json_str(meta_get(object, "deletionTimestamp")).len > 0;
}

static struct osb_json *object_or_null(struct osb_json *value)
{
    return osb_json_type(value) == OSB_JSON_OBJECT ? value : NULL;
}

struct osb_json *osb_api_labels(const struct osb_json *object)
{
    return object_or_null(meta_get(object, "labels"));
}

struct osb_json *osb_api_annotations(const struct osb_json *object)
{
    return object_or_null(meta_get(object, "annotations"));
}

const char *osb_api_label(const struct osb_json *object, const char *key)
{
    return osb_json_cstr(osb_json_get(osb_api_labels(object), key));
}

const char *osb_api_annotation(const struct osb_json *object, const char *key)
{
    return osb_json_cstr(osb_json_get(osb_api_annotations(object), key));
}

bool osb_api_has_finalizer(const struct osb_json *object, const char *finalizer)
{
    const struct osb_json *list = meta_get(object, "finalizers");
    if (osb_json_type(list) != OSB_JSON_ARRAY)
        return false;
    for (size_t i = 0; i < osb_json_count(list); i++)
        if (osb_slice_eq_str(osb_json_str(osb_json_at(list, i)), finalizer))
            return true;
    return false;
}

const char *osb_api_controller_uid(const struct osb_json *object)
{
    const struct osb_json *owners = meta_get(object, "ownerReferences");
    if (osb_json_type(owners) != OSB_JSON_ARRAY)
        return NULL;
    for (size_t i = 0; i < osb_json_count(owners); i++) {
        const struct osb_json *owner = osb_json_at(owners, i);
        if (osb_json_bool_or(osb_json_get(owner, "controller"), false))
            return osb_json_cstr(osb_json_get(owner, "uid"));
    }
    return NULL;
}

static void set_str(struct osb_json *object, const char *key, const char *value)
{
    osb_json_set(object, key, osb_json_new_str(value));
}

struct osb_json *osb_api_owner_reference(const struct osb_json *owner, bool is_controller,
                                         bool is_blocking)
{
    struct osb_json *reference = osb_json_new_object();
    set_str(reference, "apiVersion", osb_api_version(owner));
    set_str(reference, "kind", osb_api_kind(owner));
    set_str(reference, "name", osb_api_name(owner));
    set_str(reference, "uid", osb_api_uid(owner));
    if (is_controller)
        osb_json_set(reference, "controller", osb_json_new_bool(true));
    if (is_blocking)
        osb_json_set(reference, "blockOwnerDeletion", osb_json_new_bool(true));
    return reference;
}
