// SPDX-License-Identifier: Apache-2.0
/* Validation, in the words of a real API server. Recursion ends with value and schema. */
#include "schema.h"

#include <math.h>
#include <string.h>

static void validate(struct schema_walk *walk, const struct osb_json *schema,
                     const struct osb_json *value);

/* A double without a fraction is an integer as well. */
static bool is_integer(const struct osb_json *value)
{
    double number = osb_json_double_or(value, 0.5);
    return osb_json_is_i64(value) || floor(number) == number;
}

static const char *type_name(const struct osb_json *value)
{
    switch (osb_json_type(value)) {
    case OSB_JSON_BOOL:
        return "boolean";
    case OSB_JSON_NUMBER:
        return is_integer(value) ? "integer" : "number";
    case OSB_JSON_STRING:
        return "string";
    case OSB_JSON_ARRAY:
        return "array";
    case OSB_JSON_OBJECT:
        return "object";
    default:
        return "null";
    }
}

static bool is_of_type(const struct osb_json *value, struct osb_slice type)
{
    const char *name = type_name(value);
    return osb_slice_eq_str(type, name) ||
           (osb_slice_eq_str(type, "number") && strcmp(name, "integer") == 0);
}

/* False, with a problem raised, when VALUE may not be what it is. */
static bool check_type(struct schema_walk *walk, const struct osb_json *schema,
                       const struct osb_json *value)
{
    struct osb_slice type = osb_json_str(osb_json_get(schema, "type"));
    if (osb_json_type(value) == OSB_JSON_NULL && schema_flag(schema, "nullable"))
        return true;
    if (schema_flag(schema, "x-kubernetes-int-or-string")) {
        if (is_of_type(value, OSB_SLICE("integer")) || is_of_type(value, OSB_SLICE("string")))
            return true;
        type = OSB_SLICE("integer,string");
    } else if (type.len == 0 || is_of_type(value, type)) {
        return true;
    }
    const char *found = type_name(value);
    schema_problem(walk, "FieldValueTypeInvalid",
                   "Invalid value: \"%s\": %s in body must be of type %.*s: \"%s\"", found,
                   osb_buf_cstr(&walk->path), OSB_SLICE_ARG(type), found);
    return false;
}

static void check_enum(struct schema_walk *walk, const struct osb_json *schema,
                       const struct osb_json *value)
{
    const struct osb_json *allowed = osb_json_get(schema, "enum");
    _cleanup_buf_ struct osb_buf names = {0};
    if (osb_json_type(allowed) != OSB_JSON_ARRAY)
        return;
    for (size_t i = 0; i < osb_json_count(allowed); i++) {
        const struct osb_json *choice = osb_json_at(allowed, i);
        if (osb_json_equal(choice, value))
            return;
        osb_buf_append_str(&names, i ? ", " : "");
        osb_json_print(choice, &names);
    }
    _cleanup_free_ char *shown = schema_show(value);
    schema_problem(walk, "FieldValueNotSupported", "Unsupported value: %s: supported values: %s",
                   shown, osb_buf_cstr(&names));
}

/* minItems and maxItems, minProperties and maxProperties. */
static void check_count(struct schema_walk *walk, const struct osb_json *schema,
                        const struct osb_json *value, const char *const keywords[2],
                        const char *what)
{
    int64_t count = (int64_t)osb_json_count(value);
    int64_t min = osb_json_i64_or(osb_json_get(schema, keywords[0]), 0);
    int64_t max = osb_json_i64_or(osb_json_get(schema, keywords[1]), INT64_MAX);
    if (count < min)
        schema_problem(walk, "FieldValueInvalid",
                       "Invalid value: %lld: %s in body should have at least %lld %s",
                       (long long)count, osb_buf_cstr(&walk->path), (long long)min, what);
    if (count > max)
        schema_problem(walk, "FieldValueTooMany", "Too many: %lld: must have at most %lld items",
                       (long long)count, (long long)max);
}

static void validate_array(struct schema_walk *walk, const struct osb_json *schema,
                           const struct osb_json *value)
{
    static const char *const KEYWORDS[2] = {"minItems", "maxItems"};
    const struct osb_json *items = osb_json_get(schema, "items");
    check_count(walk, schema, value, KEYWORDS, "items");
    schema_validate_list_type(walk, schema, value);
    for (size_t i = 0; items && i < osb_json_count(value); i++) {
        size_t mark = schema_push_index(walk, i);
        validate(walk, items, osb_json_at(value, i));
        schema_pop(walk, mark);
    }
}

static void check_required(struct schema_walk *walk, const struct osb_json *schema,
                           const struct osb_json *value)
{
    const struct osb_json *required = osb_json_get(schema, "required");
    if (osb_json_type(required) != OSB_JSON_ARRAY)
        return;
    for (size_t i = 0; i < osb_json_count(required); i++) {
        struct osb_slice key = osb_json_str(osb_json_at(required, i));
        if (osb_json_get_slice(value, key))
            continue;
        size_t mark = schema_push_key(walk, key);
        schema_problem(walk, "FieldValueRequired", "Required value");
        schema_pop(walk, mark);
    }
}

static void validate_object(struct schema_walk *walk, const struct osb_json *schema,
                            const struct osb_json *value)
{
    static const char *const KEYWORDS[2] = {"minProperties", "maxProperties"};
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *member;
    check_count(walk, schema, value, KEYWORDS, "properties");
    check_required(walk, schema, value);
    while (osb_json_next_member(value, &cursor, &key, &member)) {
        const struct osb_json *inner = schema_of_member(schema, key);
        if (!inner)
            continue;
        size_t mark = schema_push_key(walk, key);
        validate(walk, inner, member);
        schema_pop(walk, mark);
    }
}

static bool fits(struct schema_walk *walk, const struct osb_json *schema,
                 const struct osb_json *value)
{
    struct schema_walk silent = {.path = walk->path};
    validate(&silent, schema, value);
    walk->path = silent.path; /* it may have grown, and thereby moved */
    return silent.problems == 0;
}

static size_t count_fitting(struct schema_walk *walk, const struct osb_json *schemas,
                            const struct osb_json *value)
{
    size_t fitting = 0;
    for (size_t i = 0; i < osb_json_count(schemas); i++)
        fitting += fits(walk, osb_json_at(schemas, i), value);
    return fitting;
}

static void unfit(struct schema_walk *walk, const char *rule)
{
    schema_problem(walk, "FieldValueInvalid", "Invalid value: \"\": \"%s\" %s",
                   osb_buf_cstr(&walk->path), rule);
}

/* allOf, anyOf, oneOf and not. */
static void check_combinations(struct schema_walk *walk, const struct osb_json *schema,
                               const struct osb_json *value)
{
    const struct osb_json *all = osb_json_get(schema, "allOf");
    const struct osb_json *any = osb_json_get(schema, "anyOf");
    const struct osb_json *one = osb_json_get(schema, "oneOf");
    const struct osb_json *not = osb_json_get(schema, "not");
    for (size_t i = 0; i < osb_json_count(all); i++)
        validate(walk, osb_json_at(all, i), value);
    if (osb_json_count(any) && count_fitting(walk, any, value) == 0)
        unfit(walk, "must validate at least one schema (anyOf)");
    if (osb_json_count(one) && count_fitting(walk, one, value) != 1)
        unfit(walk, "must validate one and only one schema (oneOf)");
    if (not &&fits(walk, not, value))
        unfit(walk, "must not validate the schema (not)");
}

static void validate(struct schema_walk *walk, const struct osb_json *schema,
                     const struct osb_json *value)
{
    if (!check_type(walk, schema, value) || osb_json_type(value) == OSB_JSON_NULL)
        return;
    check_enum(walk, schema, value);
    switch (osb_json_type(value)) {
    case OSB_JSON_NUMBER:
        schema_validate_number(walk, schema, value);
        break;
    case OSB_JSON_STRING:
        schema_validate_string(walk, schema, value);
        break;
    case OSB_JSON_ARRAY:
        validate_array(walk, schema, value);
        break;
    case OSB_JSON_OBJECT:
        validate_object(walk, schema, value);
        break;
    default:
        break;
    }
    check_combinations(walk, schema, value);
}

bool osb_schema_validate(const struct osb_json *schema, const struct osb_json *value,
                         struct osb_schema_report *report)
{
    struct schema_walk walk = {.report = report};
    validate(&walk, schema, value);
    osb_buf_done(&walk.path);
    return walk.problems == 0;
}
