// SPDX-License-Identifier: Apache-2.0
/* RFC 7386. Recursion ends with the patch, whose depth the parser has bounded. */
#include <osb/json_patch.h>

#include "json_node.h"

static void merge_into(struct osb_json *target, const struct osb_json *patch);

/* A patch value for a member that is absent or no object: its nulls have nothing to delete. */
static struct osb_json *without_nulls(const struct osb_json *patch)
{
    if (!json_node_is_object(patch))
        return osb_json_copy(patch);
    struct osb_json *fresh = osb_json_new_object();
    merge_into(fresh, patch);
    return fresh;
}

static void merge_into(struct osb_json *target, const struct osb_json *patch)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    while (osb_json_next_member(patch, &cursor, &key, &value)) {
        struct osb_json *member = osb_json_get_slice(target, key);
        if (osb_json_type(value) == OSB_JSON_NULL)
            osb_json_del(target, key);
        else if (json_node_is_object(value) && json_node_is_object(member))
            merge_into(member, value);
        else
            osb_json_set_slice(target, key, without_nulls(value));
    }
}

void osb_json_merge_patch(struct osb_json **target, const struct osb_json *patch)
{
    if (json_node_is_object(patch) && json_node_is_object(*target)) {
        merge_into(*target, patch);
        return;
    }
    struct osb_json *fresh = without_nulls(patch);
    if (*target)
        osb_json_free(*target);
    *target = fresh;
}

/* Members that FROM has and TO has not. */
static void diff_removed(const struct osb_json *from, const struct osb_json *to,
                         struct osb_json *patch)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    while (osb_json_next_member(from, &cursor, &key, &value))
        if (!osb_json_get_slice(to, key))
            osb_json_set_slice(patch, key, osb_json_new_null());
}

struct osb_json *osb_json_merge_diff(const struct osb_json *from, const struct osb_json *to)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    /* No patch leaves anything but an object as it is: `{}` would make an object of it. */
    if (!json_node_is_object(from) || !json_node_is_object(to))
        return osb_json_copy(to);
    struct osb_json *patch = osb_json_new_object();
    diff_removed(from, to, patch);
    while (osb_json_next_member(to, &cursor, &key, &value)) {
        struct osb_json *old = osb_json_get_slice(from, key);
        if (old && osb_json_equal(old, value))
            continue;
        if (json_node_is_object(old) && json_node_is_object(value))
            osb_json_set_slice(patch, key, osb_json_merge_diff(old, value));
        else
            osb_json_set_slice(patch, key, osb_json_copy(value));
    }
    return patch;
}
