// SPDX-License-Identifier: Apache-2.0
#include "schema.h"

static bool is_forbidden_null(const struct osb_json *schema, const struct osb_json *value)
{
    return osb_json_type(value) == OSB_JSON_NULL && !schema_flag(schema, "nullable");
}

static void default_properties(const struct osb_json *schema, struct osb_json *value)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *property;
    const struct osb_json *properties = osb_json_get(schema, "properties");
    while (osb_json_next_member(properties, &cursor, &key, &property)) {
        const struct osb_json *fallback = osb_json_get(property, "default");
        const struct osb_json *member = osb_json_get_slice(value, key);
        if (member && !is_forbidden_null(property, member))
            continue;
        if (fallback)
            osb_json_set_slice(value, key, osb_json_copy(fallback));
        else if (member)
            osb_json_del(value, key);
    }
}

void osb_schema_default(const struct osb_json *schema, struct osb_json *value)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *member;
    if (osb_json_type(value) == OSB_JSON_ARRAY) {
        for (size_t i = 0; i < osb_json_count(value); i++)
            osb_schema_default(osb_json_get(schema, "items"), osb_json_at(value, i));
        return;
    }
    if (osb_json_type(value) != OSB_JSON_OBJECT || !schema)
        return;
    default_properties(schema, value);
    while (osb_json_next_member(value, &cursor, &key, &member))
        osb_schema_default(schema_of_member(schema, key), member);
}
