// SPDX-License-Identifier: Apache-2.0
#include "json_node.h"

#include <osb/alloc.h>
#include <string.h>

static bool is_array(const struct osb_json *value)
{
    return osb_json_type(value) == OSB_JSON_ARRAY;
}

struct osb_json *osb_json_at(const struct osb_json *array, size_t index)
{
    if (!is_array(array) || index >= osb_json_count(array))
        return NULL;
    return json_node_wrap(json_object_array_get_idx(json_node_unwrap(array), index));
}

void osb_json_append(struct osb_json *array, struct osb_json *value)
{
    osb_assert(is_array(array) && value);
    osb_assert(json_object_array_add(json_node_unwrap(array), json_node_unwrap(value)) == 0);
}

/* json-c before 0.17 has no insert: the new last element is moved to its place. */
void osb_json_insert(struct osb_json *array, size_t index, struct osb_json *value)
{
    size_t count = osb_json_count(array);
    osb_assert(index <= count);
    osb_json_append(array, value);
    void **items = json_object_get_array(json_node_unwrap(array))->array;
    void *last = items[count];
    memmove(items + index + 1, items + index, (count - index) * sizeof(*items));
    items[index] = last;
}

void osb_json_replace_at(struct osb_json *array, size_t index, struct osb_json *value)
{
    osb_assert(index < osb_json_count(array) && is_array(array) && value);
    osb_assert(json_object_array_put_idx(json_node_unwrap(array), index, json_node_unwrap(value)) ==
               0);
}

void osb_json_remove_at(struct osb_json *array, size_t index)
{
    osb_assert(is_array(array) && index < osb_json_count(array));
    json_object_array_del_idx(json_node_unwrap(array), index, 1);
}

void osb_json_permute(struct osb_json *array, const size_t *order)
{
    size_t count = osb_json_count(array);
    if (count == 0)
        return;
    osb_assert(is_array(array));
    void **items = json_object_get_array(json_node_unwrap(array))->array;
    _cleanup_free_ void **old = osb_calloc(count, sizeof(*old));
    memcpy(old, items, count * sizeof(*old));
    for (size_t i = 0; i < count; i++) {
        osb_assert(order[i] < count);
        items[i] = old[order[i]];
    }
}
