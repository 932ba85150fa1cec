// SPDX-License-Identifier: Apache-2.0
#include "schema.h"

static void prune(struct schema_walk *walk, const struct osb_json *schema, struct osb_json *value,
                  bool is_resource);

static bool is_meta_field(struct osb_slice key)
{
    return osb_slice_eq_str(key, "apiVersion") || osb_slice_eq_str(key, "kind") ||
           osb_slice_eq_str(key, "metadata");
}

/* additionalProperties that is true, or a schema. */
static bool takes_any_key(const struct osb_json *schema)
{
    const struct osb_json *additional = osb_json_get(schema, "additionalProperties");
    return osb_json_type(additional) == OSB_JSON_OBJECT || osb_json_bool_or(additional, false);
}

/* The first member that SCHEMA does not know; false when there is none left. */
static bool find_unknown(const struct osb_json *schema, const struct osb_json *value,
                         bool is_resource, struct osb_slice *ret_key)
{
    void *cursor = NULL;
    struct osb_json *member;
    const struct osb_json *properties = osb_json_get(schema, "properties");
    while (osb_json_next_member(value, &cursor, ret_key, &member))
        if (!(is_resource && is_meta_field(*ret_key)) && !osb_json_get_slice(properties, *ret_key))
            return true;
    return false;
}

static void remove_unknown(struct schema_walk *walk, const struct osb_json *schema,
                           struct osb_json *value, bool is_resource)
{
    struct osb_slice key;
    if (takes_any_key(schema) || schema_flag(schema, "x-kubernetes-preserve-unknown-fields"))
        return;
    while (find_unknown(schema, value, is_resource, &key)) {
        size_t mark = schema_push_key(walk, key);
        schema_problem(walk, "FieldValueInvalid", "unknown field \"%s\"",
                       osb_buf_cstr(&walk->path));
        schema_pop(walk, mark);
        osb_json_del(value, key);
    }
}

static void prune_object(struct schema_walk *walk, const struct osb_json *schema,
                         struct osb_json *value, bool is_resource)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *member;
    remove_unknown(walk, schema, value, is_resource);
    while (osb_json_next_member(value, &cursor, &key, &member)) {
        const struct osb_json *inner = schema_of_member(schema, key);
        /* What is kept without a schema of its own is kept whole. */
        if (!inner || (is_resource && is_meta_field(key)))
            continue;
        size_t mark = schema_push_key(walk, key);
        prune(walk, inner, member, schema_flag(inner, "x-kubernetes-embedded-resource"));
        schema_pop(walk, mark);
    }
}

static void prune(struct schema_walk *walk, const struct osb_json *schema, struct osb_json *value,
                  bool is_resource)
{
    const struct osb_json *items = osb_json_get(schema, "items");
    if (osb_json_type(value) == OSB_JSON_OBJECT) {
        prune_object(walk, schema, value, is_resource);
    } else if (osb_json_type(value) == OSB_JSON_ARRAY && items) {
        for (size_t i = 0; i < osb_json_count(value); i++) {
            size_t mark = schema_push_index(walk, i);
            prune(walk, items, osb_json_at(value, i),
                  schema_flag(items, "x-kubernetes-embedded-resource"));
            schema_pop(walk, mark);
        }
    }
}

void osb_schema_prune(const struct osb_json *schema, struct osb_json *value,
                      struct osb_schema_report *report)
{
    struct schema_walk walk = {.report = report};
    prune(&walk, schema, value, true);
    osb_buf_done(&walk.path);
}
