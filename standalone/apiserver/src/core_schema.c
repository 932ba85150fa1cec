// SPDX-License-Identifier: Apache-2.0
#include "core_types.h"

#include <osb/alloc.h>

/* One field of the table, cut into its parts. */
struct field {
    struct osb_slice name;
    struct osb_slice type;      /* with its "[]" and "{}" */
    struct osb_slice merge_key; /* of "@key" */
    bool is_merged;
    bool has_retain_keys;
    bool is_required;
};

/* How a reference to another type is written: expanded in place, or as "$ref" into PREFIX. */
struct shape {
    const char *prefix;       /* NULL: expand */
    struct osb_json *schemas; /* components, with a prefix */
};

static const struct core_type *find_type(struct osb_slice name)
{
    for (const struct core_type *t = core_types; t->name; t++)
        if (osb_slice_eq_str(name, t->name))
            return t;
    return NULL;
}

static struct field parse_field(struct osb_slice text)
{
    struct field f = {0};
    while (text.len && (text.data[text.len - 1] == '!' || text.data[text.len - 1] == '^')) {
        if (text.data[text.len - 1] == '!')
            f.is_required = true;
        else
            f.has_retain_keys = true;
        text.len--;
    }
    ptrdiff_t colon = osb_slice_find(text, ':');
    osb_assert(colon > 0);
    f.name = osb_slice_first(text, (size_t)colon);
    f.type = osb_slice_from(text, (size_t)colon + 1);
    ptrdiff_t at = osb_slice_find(f.type, '@');
    if (at >= 0) {
        f.is_merged = true;
        f.merge_key = osb_slice_from(f.type, (size_t)at + 1);
        f.type = osb_slice_first(f.type, (size_t)at);
    }
    return f;
}

static struct osb_json *typed(const char *type, const char *format)
{
    struct osb_json *schema = osb_json_new_object();
    osb_json_set(schema, "type", osb_json_new_str(type));
    if (format)
        osb_json_set(schema, "format", osb_json_new_str(format));
    return schema;
}

/* Quantities and ports: a number or a string. */
static struct osb_json *int_or_string(const struct shape *shape)
{
    struct osb_json *schema = osb_json_new_object();
    if (shape->prefix) {
        struct osb_json *any = osb_json_new_array();
        osb_json_append(any, typed("string", NULL));
        osb_json_append(any, typed("number", NULL));
        osb_json_set(schema, "oneOf", any);
        return schema;
    }
    osb_json_set(schema, "x-kubernetes-int-or-string", osb_json_new_bool(true));
    return schema;
}

static struct osb_json *scalar(struct osb_slice type, const struct shape *shape)
{
    static const struct {
        const char *name, *type, *format;
    } rows[] = {
        {"string", "string", NULL},      {"bool", "boolean", NULL},
        {"int32", "integer", "int32"},   {"int64", "integer", "int64"},
        {"time", "string", "date-time"}, {"microtime", "string", "date-time"},
        {"bytes", "string", "byte"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (osb_slice_eq_str(type, rows[i].name))
            return typed(rows[i].type, rows[i].format);
    if (osb_slice_eq_str(type, "quantity") || osb_slice_eq_str(type, "intstr"))
        return int_or_string(shape);
    if (osb_slice_eq_str(type, "any")) {
        struct osb_json *any = typed("object", NULL);
        osb_json_set(any, "x-kubernetes-preserve-unknown-fields", osb_json_new_bool(true));
        return any;
    }
    return NULL;
}

static struct osb_json *type_schema(struct osb_slice type, const struct shape *shape);
static struct osb_json *object_schema(const struct core_type *type, const struct shape *shape);

static void add_component(const struct core_type *type, const struct shape *shape)
{
    _cleanup_free_ char *name = osb_asprintf("%s%s", shape->prefix, type->name);
    if (osb_json_get(shape->schemas, name))
        return;
    osb_json_set(shape->schemas, name, osb_json_new_object()); /* ends recursion */
    osb_json_set(shape->schemas, name, object_schema(type, shape));
}

static struct osb_json *reference(const struct core_type *type, const struct shape *shape)
{
    add_component(type, shape);
    _cleanup_free_ char *target =
        osb_asprintf("#/components/schemas/%s%s", shape->prefix, type->name);
    /* A bare $ref may have no siblings, so references stand in allOf, as real servers do it. */
    struct osb_json *ref = osb_json_new_object();
    osb_json_set(ref, "$ref", osb_json_new_str(target));
    struct osb_json *all = osb_json_new_array();
    osb_json_append(all, ref);
    struct osb_json *schema = osb_json_new_object();
    osb_json_set(schema, "allOf", all);
    return schema;
}

static struct osb_json *type_schema(struct osb_slice type, const struct shape *shape)
{
    if (osb_slice_starts(type, OSB_SLICE("[]"))) {
        struct osb_json *list = typed("array", NULL);
        osb_json_set(list, "items", type_schema(osb_slice_from(type, 2), shape));
        return list;
    }
    if (osb_slice_starts(type, OSB_SLICE("{}"))) {
        struct osb_json *map = typed("object", NULL);
        osb_json_set(map, "additionalProperties", type_schema(osb_slice_from(type, 2), shape));
        return map;
    }
    struct osb_json *schema = scalar(type, shape);
    if (schema)
        return schema;
    const struct core_type *found = find_type(type);
    osb_assert(found);
    return shape->prefix ? reference(found, shape) : object_schema(found, shape);
}

static void add_merge_marks(struct osb_json *schema, const struct field *f)
{
    if (f->merge_key.len)
        osb_json_set(schema, "x-kubernetes-patch-merge-key", osb_json_new_string(f->merge_key));
    if (f->is_merged)
        osb_json_set(schema, "x-kubernetes-patch-strategy",
                     osb_json_new_str(f->has_retain_keys ? "merge,retainKeys" : "merge"));
}

static struct osb_json *object_schema(const struct core_type *type, const struct shape *shape)
{
    struct osb_json *schema = typed("object", NULL);
    struct osb_json *properties = osb_json_new_object();
    struct osb_json *required = osb_json_new_array();
    struct osb_slice rest = osb_slice_str(type->fields), word;
    while (osb_slice_split(&rest, ' ', &word)) {
        if (!word.len)
            continue;
        struct field f = parse_field(word);
        struct osb_json *property = type_schema(f.type, shape);
        if (shape->prefix)
            add_merge_marks(property, &f);
        osb_json_set_slice(properties, f.name, property);
        if (f.is_required)
            osb_json_append(required, osb_json_new_string(f.name));
    }
    osb_json_set(schema, "properties", properties);
    if (shape->prefix && osb_json_count(required))
        osb_json_set(schema, "required", osb_take_ptr(required));
    osb_json_free(required);
    return schema;
}

struct osb_json *core_schema(const char *type)
{
    const struct core_type *found = find_type(osb_slice_str(type));
    osb_assert(found);
    return object_schema(found, &(struct shape){0});
}

void core_components(const char *type, const char *prefix, struct osb_json *schemas)
{
    const struct core_type *found = find_type(osb_slice_str(type));
    osb_assert(found);
    add_component(found, &(struct shape){.prefix = prefix, .schemas = schemas});
}
