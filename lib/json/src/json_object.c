// SPDX-License-Identifier: Apache-2.0
/* Members of objects. json-c keys are C strings, so a key never holds U+0000. */
#include "json_node.h"

#include <osb/alloc.h>
#include <string.h>

enum { SHORT_KEY = 128 }; /* keys up to this length need no allocation */

struct osb_json *osb_json_get(const struct osb_json *object, const char *key)
{
    struct json_object *member;
    if (!json_node_is_object(object) ||
        !json_object_object_get_ex(json_node_unwrap(object), key, &member))
        return NULL;
    return json_node_wrap(member);
}

/* KEY as a C string in BUFFER, or in *HEAP when it is too long for it. */
static const char *key_cstr(struct osb_slice key, char buffer[static SHORT_KEY], char **heap)
{
    if (key.len >= SHORT_KEY)
        return *heap = osb_slice_dup(key);
    if (key.len)
        memcpy(buffer, key.data, key.len);
    buffer[key.len] = '\0';
    return buffer;
}

static bool has_nul(struct osb_slice key)
{
    return key.len && memchr(key.data, '\0', key.len);
}

struct osb_json *osb_json_get_slice(const struct osb_json *object, struct osb_slice key)
{
    char buffer[SHORT_KEY];
    _cleanup_free_ char *heap = NULL;
    return has_nul(key) ? NULL : osb_json_get(object, key_cstr(key, buffer, &heap));
}

struct osb_json *osb_json_get_path(const struct osb_json *object, const char *dotted_path)
{
    struct osb_slice rest = osb_slice_str(dotted_path);
    struct osb_slice step;
    const struct osb_json *value = object;
    while (value && osb_slice_split(&rest, '.', &step))
        value = osb_json_get_slice(value, step);
    return (struct osb_json *)(void *)value;
}

void osb_json_set(struct osb_json *object, const char *key, struct osb_json *value)
{
    osb_assert(json_node_is_object(object) && value);
    osb_assert(json_object_object_add(json_node_unwrap(object), key, json_node_unwrap(value)) == 0);
}

void osb_json_set_slice(struct osb_json *object, struct osb_slice key, struct osb_json *value)
{
    char buffer[SHORT_KEY];
    _cleanup_free_ char *heap = NULL;
    osb_assert(!has_nul(key));
    osb_json_set(object, key_cstr(key, buffer, &heap), value);
}

bool osb_json_del(struct osb_json *object, struct osb_slice key)
{
    char buffer[SHORT_KEY];
    _cleanup_free_ char *heap = NULL;
    if (has_nul(key))
        return false;
    const char *name = key_cstr(key, buffer, &heap);
    if (!osb_json_get(object, name))
        return false;
    json_object_object_del(json_node_unwrap(object), name);
    return true;
}

struct osb_json *osb_json_ensure_object(struct osb_json *object, const char *key)
{
    struct osb_json *member = osb_json_get(object, key);
    if (json_node_is_object(member))
        return member;
    member = osb_json_new_object();
    osb_json_set(object, key, member);
    return member;
}

bool osb_json_next_member(const struct osb_json *object, void **cursor, struct osb_slice *ret_key,
                          struct osb_json **ret_value)
{
    struct lh_entry *entry = *cursor;
    if (entry)
        entry = lh_entry_next(entry);
    else if (json_node_is_object(object))
        entry = lh_table_head(json_object_get_object(json_node_unwrap(object)));
    if (!entry)
        return false;
    *cursor = entry;
    *ret_key = osb_slice_str(lh_entry_k(entry));
    *ret_value = json_node_wrap((struct json_object *)(uintptr_t)lh_entry_v(entry));
    return true;
}
