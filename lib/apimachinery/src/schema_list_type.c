// SPDX-License-Identifier: Apache-2.0
/* x-kubernetes-list-type: no item twice in a set, no key twice in a map. */
#include "schema.h"

#include <osb/alloc.h>
#include <osb/map.h>

/* The members of ITEM that KEYS name. */
static struct osb_json *key_of(const struct osb_json *keys, const struct osb_json *item)
{
    struct osb_json *key = osb_json_new_object();
    for (size_t i = 0; i < osb_json_count(keys); i++) {
        struct osb_slice name = osb_json_str(osb_json_at(keys, i));
        const struct osb_json *member = osb_json_get_slice(item, name);
        if (member)
            osb_json_set_slice(key, name, osb_json_copy(member));
    }
    return key;
}

/* KEYS is NULL for a set. */
static void find_duplicates(struct schema_walk *walk, const struct osb_json *keys,
                            const struct osb_json *array)
{
    struct osb_map seen = {0};
    for (size_t i = 0; i < osb_json_count(array); i++) {
        _cleanup_buf_ struct osb_buf text = {0};
        _cleanup_json_ struct osb_json *identity =
            keys ? key_of(keys, osb_json_at(array, i)) : osb_json_copy(osb_json_at(array, i));
        osb_json_print(identity, &text);
        if (osb_map_has(&seen, osb_buf_slice(&text))) {
            _cleanup_free_ char *shown = schema_show(identity);
            size_t mark = schema_push_index(walk, i);
            schema_problem(walk, "FieldValueDuplicate", "Duplicate value: %s", shown);
            schema_pop(walk, mark);
        }
        osb_map_set(&seen, osb_buf_slice(&text), &seen);
    }
    osb_map_done(&seen, NULL);
}

void schema_validate_list_type(struct schema_walk *walk, const struct osb_json *schema,
                               const struct osb_json *array)
{
    struct osb_slice type = osb_json_str(osb_json_get(schema, "x-kubernetes-list-type"));
    if (osb_slice_eq_str(type, "set"))
        find_duplicates(walk, NULL, array);
    else if (osb_slice_eq_str(type, "map"))
        find_duplicates(walk, osb_json_get(schema, "x-kubernetes-list-map-keys"), array);
}
