// SPDX-License-Identifier: Apache-2.0
#include "verbs.h"

#include <osb/api_meta.h>
#include <osb/clock.h>
#include <osb/uuid.h>

int metadata_write_time(struct osb_json *metadata, const char *key, int64_t realtime_ns)
{
    char text[OSB_RFC3339_MAX];
    osb_json_set(metadata, key, osb_json_new_str(osb_rfc3339_format(text, realtime_ns, 0)));
    return 0;
}

void metadata_for_create(struct verb_context *c, struct osb_json *tree)
{
    static const char *const not_for_clients[] = {"resourceVersion",
                                                  "selfLink",
                                                  "deletionTimestamp",
                                                  "deletionGracePeriodSeconds",
                                                  "generation",
                                                  "managedFields",
                                                  NULL};
    struct osb_json *metadata = osb_json_ensure_object(tree, "metadata");
    for (int i = 0; not_for_clients[i]; i++)
        osb_json_del(metadata, osb_slice_str(not_for_clients[i]));
    char uid[OSB_UUID_TEXT_MAX];
    osb_json_set(metadata, "uid", osb_json_new_str(osb_uuid_format(osb_uuid_v4(), uid)));
    metadata_write_time(metadata, "creationTimestamp", c->txn->now_ns);
    if (c->request->resource->has_generation)
        osb_json_set(metadata, "generation", osb_json_new_i64(1));
    if (c->request->resource->kind.is_namespaced)
        osb_json_set(metadata, "namespace", osb_json_new_str(c->request->namespace_));
    else
        osb_json_del(metadata, OSB_SLICE("namespace"));
}

/* Letters that make no words. */
static void random_suffix(char suffix[static GENERATED_SUFFIX + 1])
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    uint8_t bytes[GENERATED_SUFFIX];
    osb_random_bytes(bytes, sizeof(bytes));
    for (int i = 0; i < GENERATED_SUFFIX; i++)
        suffix[i] = letters[bytes[i] % (sizeof(letters) - 1)];
    suffix[GENERATED_SUFFIX] = 0;
}

/* Longest base of a generated name, so that base and suffix are at most 63 bytes. */
enum { GENERATED_BASE_MAX = 63 - GENERATED_SUFFIX };

int generate_name(struct verb_context *c, struct osb_json *metadata)
{
    const char *name = osb_json_cstr(osb_json_get(metadata, "name"));
    const char *base = osb_json_cstr(osb_json_get(metadata, "generateName"));
    if ((name && name[0]) || !base || !base[0])
        return 0;
    for (int i = 0; i < GENERATE_TRIES; i++) {
        char suffix[GENERATED_SUFFIX + 1];
        random_suffix(suffix);
        char *made = osb_arena_printf(c->arena, "%.*s%s", GENERATED_BASE_MAX, base, suffix);
        char *key = object_key(c->arena, c->request->namespace_, made);
        if (txn_get(c->txn, c->request->resource, key))
            continue;
        osb_json_set(metadata, "name", osb_json_new_str(made));
        return 0;
    }
    return refuse_exists(c->refusal, &c->request->resource->kind, base);
}

/* What an update cannot change comes from the stored object, whatever the body says. */
void metadata_keep(struct osb_json *tree, const struct osb_json *old_tree)
{
    static const char *const kept[] = {"name",
                                       "namespace",
                                       "uid",
                                       "creationTimestamp",
                                       "deletionTimestamp",
                                       "deletionGracePeriodSeconds",
                                       "generation",
                                       "generateName",
                                       "resourceVersion",
                                       NULL};
    struct osb_json *metadata = osb_json_ensure_object(tree, "metadata");
    const struct osb_json *old = osb_json_get(old_tree, "metadata");
    for (int i = 0; kept[i]; i++) {
        const struct osb_json *value = osb_json_get(old, kept[i]);
        if (value)
            osb_json_set(metadata, kept[i], osb_json_copy(value));
        else
            osb_json_del(metadata, osb_slice_str(kept[i]));
    }
    osb_json_del(metadata, OSB_SLICE("managedFields"));
    osb_json_del(metadata, OSB_SLICE("selfLink"));
}

static void validate_labels(struct refusal *r, const struct osb_json *labels)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    while (osb_json_next_member(labels, &cursor, &key, &value)) {
        if (!osb_api_is_qualified_name(key))
            field_error(r, "FieldValueInvalid", "metadata.labels",
                        "Invalid value: \"%.*s\": a label key is an optional DNS prefix and '/', "
                        "then at most 63 of letters, digits, '-', '_' and '.'",
                        OSB_SLICE_ARG(key));
        if (!osb_api_is_label_value(osb_json_str(value)))
            field_error(r, "FieldValueInvalid", "metadata.labels",
                        "Invalid value: \"%.*s\": a label value has at most 63 of letters, digits, "
                        "'-', '_' and '.', and starts and ends with a letter or digit",
                        OSB_SLICE_ARG(osb_json_str(value)));
    }
}

/* Total bytes of all annotations, keys included. */
enum { ANNOTATIONS_MAX = 256 * 1024 };

static void validate_annotations(struct refusal *r, const struct osb_json *annotations)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    size_t total = 0;
    while (osb_json_next_member(annotations, &cursor, &key, &value)) {
        total += key.len + osb_json_str(value).len;
        _cleanup_free_ char *lower = osb_slice_dup(key);
        for (char *p = lower; *p; p++)
            *p = (char)(*p >= 'A' && *p <= 'Z' ? *p + 32 : *p);
        if (!osb_api_is_qualified_name(osb_slice_str(lower)))
            field_error(r, "FieldValueInvalid", "metadata.annotations",
                        "Invalid value: \"%.*s\": an annotation key is an optional DNS prefix and "
                        "'/', then at most 63 of letters, digits, '-', '_' and '.'",
                        OSB_SLICE_ARG(key));
    }
    if (total > ANNOTATIONS_MAX)
        field_error(r, "FieldValueTooLong", "metadata.annotations",
                    "Too long: may not be more than %d bytes", ANNOTATIONS_MAX);
}

static void validate_owners(struct refusal *r, const struct osb_json *owners)
{
    static const char *const needed[] = {"apiVersion", "kind", "name", "uid", NULL};
    int controllers = 0;
    for (size_t i = 0; i < osb_json_count(owners); i++) {
        const struct osb_json *owner = osb_json_at(owners, i);
        for (int k = 0; needed[k]; k++) {
            char field[96];
            snprintf(field, sizeof(field), "metadata.ownerReferences[%zu].%s", i, needed[k]);
            if (!osb_json_str(osb_json_get(owner, needed[k])).len)
                field_error(r, "FieldValueInvalid", field,
                            "Invalid value: \"\": must not be empty");
        }
        controllers += osb_json_bool_or(osb_json_get(owner, "controller"), false);
    }
    if (controllers > 1)
        field_error(r, "FieldValueInvalid", "metadata.ownerReferences",
                    "Invalid value: only one reference can have controller set to true");
}

static void validate_name(struct verb_context *c, struct osb_slice name)
{
    const struct osb_api_kind *kind = &c->request->resource->kind;
    bool is_label = !kind->is_namespaced && !strcmp(kind->plural, "namespaces");
    if (!name.len) {
        field_error(c->refusal, "FieldValueRequired", "metadata.name",
                    "Required value: name or generateName is required");
        return;
    }
    if (is_label ? osb_api_is_dns_label(name) : osb_api_is_dns_subdomain(name))
        return;
    field_error(c->refusal, "FieldValueInvalid", "metadata.name",
                "Invalid value: \"%.*s\": a lowercase RFC 1123 %s must consist of lower case "
                "alphanumeric characters%s or '-', and must start and end with an alphanumeric "
                "character",
                OSB_SLICE_ARG(name), is_label ? "label" : "subdomain", is_label ? "" : ", '.'");
}

void validate_metadata(struct verb_context *c, const struct osb_json *tree)
{
    const struct osb_json *metadata = osb_json_get(tree, "metadata");
    validate_name(c, osb_json_str(osb_json_get(metadata, "name")));
    validate_labels(c->refusal, osb_json_get(metadata, "labels"));
    validate_annotations(c->refusal, osb_json_get(metadata, "annotations"));
    validate_owners(c->refusal, osb_json_get(metadata, "ownerReferences"));
    const struct osb_json *finalizers = osb_json_get(metadata, "finalizers");
    for (size_t i = 0; i < osb_json_count(finalizers); i++) {
        struct osb_slice name = osb_json_str(osb_json_at(finalizers, i));
        if (!osb_api_is_qualified_name(name))
            field_error(c->refusal, "FieldValueInvalid", "metadata.finalizers",
                        "Invalid value: \"%.*s\": must be a qualified name", OSB_SLICE_ARG(name));
    }
}

void validate_finalizers(struct verb_context *c, const struct osb_json *tree,
                         const struct osb_json *old_tree)
{
    if (!osb_api_is_deleting(old_tree))
        return;
    const struct osb_json *finalizers = osb_json_get_path(tree, "metadata.finalizers");
    for (size_t i = 0; i < osb_json_count(finalizers); i++) {
        const char *name = osb_json_cstr(osb_json_at(finalizers, i));
        if (name && !osb_api_has_finalizer(old_tree, name))
            field_error(c->refusal, "FieldValueForbidden", "metadata.finalizers",
                        "Forbidden: no new finalizers can be added if the object is being "
                        "deleted, found new finalizers []string{\"%s\"}",
                        name);
    }
}
