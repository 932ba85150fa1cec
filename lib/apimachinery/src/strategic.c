// SPDX-License-Identifier: Apache-2.0
/*
 * Objects merge member by member as in a merge patch; the table of strategic_types.c says which
 * lists merge, and "$" members of the patch direct how.
 */
#include "strategic.h"

#define DIRECTIVE    "$patch"
#define RETAIN_KEYS  "$retainKeys"
#define SET_ORDER    "$setElementOrder/"
#define DELETE_ITEMS "$deleteFromPrimitiveList/"

enum strategic_directive strategic_directive_of(const struct osb_json *object)
{
    const struct osb_json *value = osb_json_get(object, DIRECTIVE);
    struct osb_slice name = osb_json_str(value);
    if (!value)
        return STRATEGIC_NONE;
    if (osb_slice_eq_str(name, "merge"))
        return STRATEGIC_MERGE;
    if (osb_slice_eq_str(name, "replace"))
        return STRATEGIC_REPLACE;
    return osb_slice_eq_str(name, "delete") ? STRATEGIC_DELETE : STRATEGIC_UNKNOWN;
}

static bool is_directive_key(struct osb_slice key)
{
    return osb_slice_eq_str(key, DIRECTIVE) || osb_slice_eq_str(key, RETAIN_KEYS) ||
           osb_slice_starts(key, OSB_SLICE(SET_ORDER)) ||
           osb_slice_starts(key, OSB_SLICE(DELETE_ITEMS));
}

static void clean_members(struct osb_json *target, const struct osb_json *patch)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    while (osb_json_next_member(patch, &cursor, &key, &value)) {
        if (is_directive_key(key) || osb_json_type(value) == OSB_JSON_NULL)
            continue;
        struct osb_json *clean = strategic_clean_copy(value);
        if (clean)
            osb_json_set_slice(target, key, clean);
    }
}

struct osb_json *strategic_clean_copy(const struct osb_json *patch)
{
    struct osb_json *result;
    switch (osb_json_type(patch)) {
    case OSB_JSON_OBJECT:
        if (strategic_directive_of(patch) == STRATEGIC_DELETE)
            return NULL;
        result = osb_json_new_object();
        clean_members(result, patch);
        return result;
    case OSB_JSON_ARRAY:
        result = osb_json_new_array();
        for (size_t i = 0; i < osb_json_count(patch); i++) {
            struct osb_json *item = strategic_clean_copy(osb_json_at(patch, i));
            if (item)
                osb_json_append(result, item);
        }
        return result;
    default:
        return osb_json_copy(patch);
    }
}

/* The name of some member of OBJECT; false when it has none. */
static bool first_key(const struct osb_json *object, struct osb_slice *ret)
{
    void *cursor = NULL;
    struct osb_json *value;
    return osb_json_next_member(object, &cursor, ret, &value);
}

static void clear(struct osb_json *object)
{
    struct osb_slice key;
    while (first_key(object, &key))
        osb_json_del(object, key);
}

static bool contains(const struct osb_json *list, struct osb_slice key)
{
    for (size_t i = 0; i < osb_json_count(list); i++)
        if (osb_slice_eq(osb_json_str(osb_json_at(list, i)), key))
            return true;
    return false;
}

/* $retainKeys: members of TARGET that it does not list go; it must list what the patch sets. */
static int retain_keys(struct osb_json *target, const struct osb_json *patch, struct osb_err *err)
{
    const struct osb_json *keep = osb_json_get(patch, RETAIN_KEYS);
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    if (!keep)
        return 0;
    if (osb_json_type(keep) != OSB_JSON_ARRAY)
        return osb_fail(err, -OSB_E_INVALID, "$retainKeys is no list");
    if (osb_json_count(keep) > OSB_STRATEGIC_MAX_ITEMS)
        return osb_fail(err, -OSB_E_TOO_LARGE, "$retainKeys has too many items");
    while (osb_json_next_member(patch, &cursor, &key, &value))
        if (!is_directive_key(key) && osb_json_type(value) != OSB_JSON_NULL && !contains(keep, key))
            return osb_fail(err, -OSB_E_INVALID, "$retainKeys does not list what the patch sets");
    /* A fresh walk after each removal: the object must not change under a cursor. */
    for (cursor = NULL; osb_json_next_member(target, &cursor, &key, &value);) {
        if (!contains(keep, key)) {
            osb_json_del(target, key);
            cursor = NULL;
        }
    }
    return 0;
}

static int delete_from_set(struct osb_json *target, struct osb_slice name,
                           const struct osb_json *values, struct osb_err *err)
{
    struct osb_json *list = osb_json_get_slice(target, name);
    if (osb_json_type(values) != OSB_JSON_ARRAY)
        return osb_fail(err, -OSB_E_INVALID, "$deleteFromPrimitiveList is no list");
    if (osb_json_count(values) > OSB_STRATEGIC_MAX_ITEMS ||
        osb_json_count(list) > OSB_STRATEGIC_MAX_ITEMS)
        return osb_fail(err, -OSB_E_TOO_LARGE, "$deleteFromPrimitiveList has too many items");
    if (osb_json_type(list) != OSB_JSON_ARRAY)
        return 0;
    for (size_t i = 0; i < osb_json_count(values); i++)
        for (size_t at = osb_json_count(list); at-- > 0;)
            if (osb_json_equal(osb_json_at(list, at), osb_json_at(values, i)))
                osb_json_remove_at(list, at);
    return 0;
}

/* The list that $setElementOrder/NAME gives, or NULL. */
static const struct osb_json *order_of(const struct osb_json *patch, struct osb_slice name)
{
    _cleanup_buf_ struct osb_buf key = {0};
    osb_buf_append_str(&key, SET_ORDER);
    osb_buf_append_slice(&key, name);
    return osb_json_get_slice(patch, osb_buf_slice(&key));
}

static bool is_merge_list(const struct strategic_field *field)
{
    return field && field->shape != STRATEGIC_STRUCT;
}

/* One list of FIELD in TARGET, made when absent; PATCH and ORDER as the patch has them. */
static int merge_list_member(struct osb_json *target, struct osb_slice name,
                             const struct osb_json *patch, const struct strategic_field *field,
                             const struct osb_json *order, struct osb_err *err)
{
    struct osb_json *list = osb_json_get_slice(target, name);
    if (order && osb_json_type(order) != OSB_JSON_ARRAY)
        return osb_fail(err, -OSB_E_INVALID, "$setElementOrder is no list");
    if (osb_json_type(list) != OSB_JSON_ARRAY) {
        list = osb_json_new_array();
        osb_json_set_slice(target, name, list);
    }
    return strategic_merge_list(list, patch, field, order, err);
}

/* A member of the patch that is no directive. */
static int merge_member(struct osb_json *target, struct osb_slice name,
                        const struct osb_json *value, const struct strategic_field *field,
                        const struct osb_json *order, struct osb_err *err)
{
    struct osb_json *member = osb_json_get_slice(target, name);
    enum osb_json_type type = osb_json_type(value);
    if (type == OSB_JSON_NULL) {
        osb_json_del(target, name);
        return 0;
    }
    if (type == OSB_JSON_ARRAY && is_merge_list(field))
        return merge_list_member(target, name, value, field, order, err);
    if (type == OSB_JSON_OBJECT && osb_json_type(member) == OSB_JSON_OBJECT)
        return strategic_merge_object(member, value, field ? field->type : NULL, err);
    struct osb_json *clean = strategic_clean_copy(value);
    if (clean)
        osb_json_set_slice(target, name, clean);
    return 0;
}

/* $setElementOrder/NAME for a list that the patch does not touch otherwise. */
static int order_member(struct osb_json *target, const struct osb_json *patch,
                        struct osb_slice name, const struct osb_json *order,
                        const struct strategic_field *field, struct osb_err *err)
{
    _cleanup_json_ struct osb_json *nothing = osb_json_new_array();
    if (osb_json_get_slice(patch, name) || !is_merge_list(field) ||
        osb_json_type(osb_json_get_slice(target, name)) != OSB_JSON_ARRAY)
        return 0;
    return merge_list_member(target, name, nothing, field, order, err);
}

static int apply_member(struct osb_json *target, const struct osb_json *patch, struct osb_slice key,
                        const struct osb_json *value, const struct strategic_type *type,
                        struct osb_err *err)
{
    if (osb_slice_starts(key, OSB_SLICE(DELETE_ITEMS)))
        return delete_from_set(target, osb_slice_from(key, sizeof(DELETE_ITEMS) - 1), value, err);
    if (osb_slice_starts(key, OSB_SLICE(SET_ORDER))) {
        struct osb_slice name = osb_slice_from(key, sizeof(SET_ORDER) - 1);
        return order_member(target, patch, name, value, strategic_field_of(type, name), err);
    }
    if (is_directive_key(key))
        return 0;
    return merge_member(target, key, value, strategic_field_of(type, key), order_of(patch, key),
                        err);
}

int strategic_merge_object(struct osb_json *target, const struct osb_json *patch,
                           const struct strategic_type *type, struct osb_err *err)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    enum strategic_directive directive = strategic_directive_of(patch);
    if (directive == STRATEGIC_UNKNOWN)
        return osb_fail(err, -OSB_E_INVALID, "an unknown $patch directive");
    if (directive == STRATEGIC_REPLACE || directive == STRATEGIC_DELETE) {
        clear(target);
        if (directive == STRATEGIC_REPLACE)
            clean_members(target, patch);
        return 0;
    }
    int r = retain_keys(target, patch, err);
    while (r >= 0 && osb_json_next_member(patch, &cursor, &key, &value))
        r = osb_wrap(err, apply_member(target, patch, key, value, type, err), "%.*s",
                     OSB_SLICE_ARG(key));
    return r;
}

int osb_strategic_merge(struct osb_json **target, const struct osb_json *patch, const char *kind,
                        struct osb_err *err)
{
    if (osb_json_type(*target) != OSB_JSON_OBJECT || osb_json_type(patch) != OSB_JSON_OBJECT)
        return osb_fail(err, -OSB_E_INVALID, "a strategic merge patch is an object for an object");
    _cleanup_json_ struct osb_json *merged = osb_json_copy(*target);
    int r = strategic_merge_object(merged, patch, strategic_type_of_kind(kind), err);
    if (r < 0)
        return r;
    osb_json_free(*target);
    *target = osb_take_ptr(merged);
    return 0;
}
