// SPDX-License-Identifier: Apache-2.0
#include "json_node.h"

#include <osb/alloc.h>
#include <string.h>

char json_node_null;

void osb_json_free(struct osb_json *value)
{
    json_object_put(json_node_unwrap(value));
}

struct osb_json *osb_json_copy(const struct osb_json *value)
{
    struct json_object *copy = NULL;
    struct json_object *node = json_node_unwrap(value);
    osb_assert(value);
    if (node)
        osb_assert(json_object_deep_copy(node, &copy, NULL) == 0);
    return json_node_wrap(copy);
}

enum osb_json_type osb_json_type(const struct osb_json *value)
{
    if (!value)
        return OSB_JSON_NONE;
    switch (json_object_get_type(json_node_unwrap(value))) {
    case json_type_boolean:
        return OSB_JSON_BOOL;
    case json_type_int:
    case json_type_double:
        return OSB_JSON_NUMBER;
    case json_type_string:
        return OSB_JSON_STRING;
    case json_type_array:
        return OSB_JSON_ARRAY;
    case json_type_object:
        return OSB_JSON_OBJECT;
    case json_type_null:
        break;
    }
    return OSB_JSON_NULL;
}

/* json-c answers exhausted memory with NULL. */
static struct osb_json *made(struct json_object *node)
{
    osb_assert(node);
    return json_node_wrap(node);
}

struct osb_json *osb_json_new_null(void)
{
    return json_node_wrap(NULL);
}

struct osb_json *osb_json_new_bool(bool value)
{
    return made(json_object_new_boolean(value));
}

struct osb_json *osb_json_new_i64(int64_t value)
{
    return made(json_object_new_int64(value));
}

struct osb_json *osb_json_new_double(double value)
{
    return made(json_object_new_double(value));
}

struct osb_json *osb_json_new_string(struct osb_slice value)
{
    osb_assert(value.len <= INT32_MAX);
    return made(json_object_new_string_len(value.data ? value.data : "", (int)value.len));
}

struct osb_json *osb_json_new_str(const char *value)
{
    return osb_json_new_string(osb_slice_str(value));
}

struct osb_json *osb_json_new_array(void)
{
    return made(json_object_new_array());
}

struct osb_json *osb_json_new_object(void)
{
    return made(json_object_new_object());
}

bool osb_json_bool_or(const struct osb_json *value, bool fallback)
{
    if (osb_json_type(value) != OSB_JSON_BOOL)
        return fallback;
    return json_object_get_boolean(json_node_unwrap(value));
}

bool osb_json_is_i64(const struct osb_json *value)
{
    return value && json_object_is_type(json_node_unwrap(value), json_type_int);
}

int64_t osb_json_i64_or(const struct osb_json *value, int64_t fallback)
{
    return osb_json_is_i64(value) ? json_object_get_int64(json_node_unwrap(value)) : fallback;
}

double osb_json_double_or(const struct osb_json *value, double fallback)
{
    if (osb_json_type(value) != OSB_JSON_NUMBER)
        return fallback;
    return json_object_get_double(json_node_unwrap(value));
}

struct osb_slice osb_json_str(const struct osb_json *value)
{
    struct json_object *node = json_node_unwrap(value);
    if (osb_json_type(value) != OSB_JSON_STRING)
        return OSB_SLICE_NULL;
    return osb_slice(json_object_get_string(node), (size_t)json_object_get_string_len(node));
}

const char *osb_json_cstr(const struct osb_json *value)
{
    return osb_json_str(value).data;
}

size_t osb_json_count(const struct osb_json *array_or_object)
{
    struct json_object *node = json_node_unwrap(array_or_object);
    switch (osb_json_type(array_or_object)) {
    case OSB_JSON_ARRAY:
        return json_object_array_length(node);
    case OSB_JSON_OBJECT:
        return (size_t)json_object_object_length(node);
    default:
        return 0;
    }
}

static bool equal(const struct osb_json *a, const struct osb_json *b, bool is_numeric);

static bool equal_objects(const struct osb_json *a, const struct osb_json *b, bool is_numeric)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    while (osb_json_next_member(a, &cursor, &key, &value)) {
        const struct osb_json *other = osb_json_get_slice(b, key);
        if (!other || !equal(value, other, is_numeric))
            return false;
    }
    return true;
}

static bool equal_numbers(const struct osb_json *a, const struct osb_json *b, bool is_numeric)
{
    if (osb_json_is_i64(a) && osb_json_is_i64(b))
        return osb_json_i64_or(a, 0) == osb_json_i64_or(b, 0);
    if (osb_json_is_i64(a) != osb_json_is_i64(b) && !is_numeric)
        return false;
    return osb_json_double_or(a, 0) == osb_json_double_or(b, 0);
}

static bool equal(const struct osb_json *a, const struct osb_json *b, bool is_numeric)
{
    enum osb_json_type type = osb_json_type(a);
    if (type != osb_json_type(b) || osb_json_count(a) != osb_json_count(b))
        return false;
    switch (type) {
    case OSB_JSON_NONE:
    case OSB_JSON_NULL:
        return true;
    case OSB_JSON_BOOL:
        return osb_json_bool_or(a, false) == osb_json_bool_or(b, false);
    case OSB_JSON_NUMBER:
        return equal_numbers(a, b, is_numeric);
    case OSB_JSON_STRING:
        return osb_slice_eq(osb_json_str(a), osb_json_str(b));
    case OSB_JSON_ARRAY:
        for (size_t i = 0; i < osb_json_count(a); i++)
            if (!equal(osb_json_at(a, i), osb_json_at(b, i), is_numeric))
                return false;
        return true;
    case OSB_JSON_OBJECT:
        return equal_objects(a, b, is_numeric);
    }
    return false;
}

bool osb_json_equal(const struct osb_json *a, const struct osb_json *b)
{
    return equal(a, b, false);
}

bool json_node_equal_numerically(const struct osb_json *a, const struct osb_json *b)
{
    return equal(a, b, true);
}

int json_node_depth(const struct osb_json *value)
{
    int deepest = 0;
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *child;
    if (osb_json_type(value) == OSB_JSON_ARRAY) {
        for (size_t i = 0; i < osb_json_count(value); i++) {
            int depth = json_node_depth(osb_json_at(value, i));
            deepest = depth > deepest ? depth : deepest;
        }
        return deepest + 1;
    }
    if (!json_node_is_object(value))
        return 0;
    while (osb_json_next_member(value, &cursor, &key, &child)) {
        int depth = json_node_depth(child);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + 1;
}
