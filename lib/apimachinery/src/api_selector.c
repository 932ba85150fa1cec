// SPDX-License-Identifier: Apache-2.0
/* Building and matching; the text forms are in api_selector_text.c. */
#include "api_selector.h"

#include <osb/alloc.h>
#include <osb/api_meta.h>
#include <stdlib.h>
#include <string.h>

struct selector_requirement *selector_add(struct osb_selector *s, struct osb_slice key,
                                          struct osb_err *err)
{
    if (s->count == OSB_SELECTOR_MAX_REQUIREMENTS) {
        osb_fail(err, -OSB_E_INVALID, "a selector of more than %d requirements",
                 OSB_SELECTOR_MAX_REQUIREMENTS);
        return NULL;
    }
    struct selector_requirement *requirement = &s->requirements[s->count++];
    requirement->key = osb_arena_slice_dup(&s->arena, key);
    return requirement;
}

int selector_add_value(struct osb_selector *s, struct selector_requirement *requirement,
                       struct osb_slice value, struct osb_err *err)
{
    int count = requirement->value_count;
    if (count == SELECTOR_MAX_VALUES)
        return osb_fail(err, -OSB_E_INVALID, "a selector with more than %d values",
                        SELECTOR_MAX_VALUES);
    /* Doubles at each power of two; the arena keeps the old ones. */
    if ((count & (count - 1)) == 0) {
        size_t room = count ? (size_t)count * 2 : 1;
        const char **values = osb_arena_calloc(&s->arena, room, sizeof(*values));
        if (count)
            memcpy(values, requirement->values, (size_t)count * sizeof(*values));
        requirement->values = values;
    }
    requirement->values[requirement->value_count++] = osb_arena_slice_dup(&s->arena, value);
    return 0;
}

static bool parse_integer(const char *text, int64_t *ret)
{
    return osb_slice_to_i64(osb_slice_str(text), ret) == 0;
}

static int check_values(const struct selector_requirement *q, struct osb_err *err)
{
    int64_t ignored;
    bool is_ordered = q->op == SELECTOR_GREATER || q->op == SELECTOR_LESS;
    for (int i = 0; i < q->value_count; i++) {
        if (!osb_api_is_label_value(osb_slice_str(q->values[i])))
            return osb_fail(err, -OSB_E_INVALID, "value %d of %s is no label value", i, q->key);
        if (is_ordered && !parse_integer(q->values[i], &ignored))
            return osb_fail(err, -OSB_E_INVALID,
                            "for 'Gt', 'Lt' operators, the value must be an integer");
    }
    return 0;
}

int selector_check_label(const struct selector_requirement *q, struct osb_err *err)
{
    if (!osb_api_is_qualified_name(osb_slice_str(q->key)))
        return osb_fail(err, -OSB_E_INVALID, "the key of a requirement is no label key");
    bool is_set = q->op == SELECTOR_IN || q->op == SELECTOR_NOT_IN;
    bool is_existence = q->op == SELECTOR_EXISTS || q->op == SELECTOR_ABSENT;
    if (is_set && q->value_count == 0)
        return osb_fail(err, -OSB_E_INVALID,
                        "for 'in', 'notin' operators, values set can't be empty");
    if (is_existence && q->value_count > 0)
        return osb_fail(err, -OSB_E_INVALID,
                        "values set must be empty for exists and does not exist");
    return check_values(q, err);
}

static bool has_value(const struct selector_requirement *q, const char *value)
{
    for (int i = 0; i < q->value_count; i++)
        if (strcmp(q->values[i], value) == 0)
            return true;
    return false;
}

static bool compare(const struct selector_requirement *q, const char *value)
{
    int64_t left;
    int64_t right;
    if (!value || !parse_integer(value, &left) || !parse_integer(q->values[0], &right))
        return false;
    return q->op == SELECTOR_GREATER ? left > right : left < right;
}

static bool holds(const struct selector_requirement *q, const char *value)
{
    switch (q->op) {
    case SELECTOR_IN:
        return value && has_value(q, value);
    case SELECTOR_NOT_IN:
        return !value || !has_value(q, value);
    case SELECTOR_EXISTS:
        return value;
    case SELECTOR_ABSENT:
        return !value;
    case SELECTOR_GREATER:
    case SELECTOR_LESS:
        return compare(q, value);
    }
    return false;
}

bool osb_selector_matches(const struct osb_selector *selector,
                          const char *(*get)(const char *key, void *arg), void *arg)
{
    for (int i = 0; i < selector->count; i++)
        if (!holds(&selector->requirements[i], get(selector->requirements[i].key, arg)))
            return false;
    return true;
}

static const char *get_label(const char *key, void *labels)
{
    return osb_json_cstr(osb_json_get(labels, key));
}

bool osb_selector_matches_labels(const struct osb_selector *selector, const struct osb_json *labels)
{
    return osb_selector_matches(selector, get_label, (void *)(uintptr_t)labels);
}

/* Fields of other types than string are compared by their JSON text. */
struct field_getter {
    const struct osb_json *object;
    struct osb_buf text;
};

static const char *get_field(const char *path, void *arg)
{
    struct field_getter *getter = arg;
    const struct osb_json *value = osb_json_get_path(getter->object, path);
    enum osb_json_type type = osb_json_type(value);
    if (type == OSB_JSON_STRING)
        return osb_json_cstr(value);
    if (type == OSB_JSON_NONE || type == OSB_JSON_NULL)
        return "";
    osb_buf_clear(&getter->text);
    osb_json_print(value, &getter->text);
    return osb_buf_cstr(&getter->text);
}

bool osb_selector_matches_fields(const struct osb_selector *selector, const struct osb_json *object)
{
    struct field_getter getter = {.object = object};
    bool is_match = osb_selector_matches(selector, get_field, &getter);
    osb_buf_done(&getter.text);
    return is_match;
}

void osb_selector_each_key(const struct osb_selector *selector,
                           void (*fn)(const char *key, void *arg), void *arg)
{
    for (int i = 0; i < selector->count; i++)
        fn(selector->requirements[i].key, arg);
}

bool osb_selector_is_empty(const struct osb_selector *selector)
{
    return selector->count == 0;
}

void osb_selector_free(struct osb_selector *selector)
{
    if (!selector)
        return;
    osb_arena_done(&selector->arena);
    free(selector);
}

static int add_match_labels(struct osb_selector *s, const struct osb_json *labels,
                            struct osb_err *err)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    while (osb_json_next_member(labels, &cursor, &key, &value)) {
        if (osb_json_type(value) != OSB_JSON_STRING)
            return osb_fail(err, -OSB_E_INVALID, "matchLabels: a value is no string");
        struct selector_requirement *q = selector_add(s, key, err);
        if (!q || selector_add_value(s, q, osb_json_str(value), err) < 0 ||
            selector_check_label(q, err) < 0)
            return osb_wrap(err, -OSB_E_INVALID, "matchLabels");
    }
    return 0;
}

static int parse_operator(struct osb_slice name, enum selector_op *ret)
{
    static const struct {
        const char *name;
        enum selector_op op;
    } OPERATORS[] = {
        {"In", SELECTOR_IN},
        {"NotIn", SELECTOR_NOT_IN},
        {"Exists", SELECTOR_EXISTS},
        {"DoesNotExist", SELECTOR_ABSENT},
    };
    for (size_t i = 0; i < sizeof(OPERATORS) / sizeof(OPERATORS[0]); i++) {
        if (osb_slice_eq_str(name, OPERATORS[i].name)) {
            *ret = OPERATORS[i].op;
            return 0;
        }
    }
    return -OSB_E_INVALID;
}

static int add_expression(struct osb_selector *s, const struct osb_json *expression,
                          struct osb_err *err)
{
    const struct osb_json *values = osb_json_get(expression, "values");
    struct selector_requirement *q =
        selector_add(s, osb_json_str(osb_json_get(expression, "key")), err);
    if (!q)
        return -OSB_E_INVALID;
    if (parse_operator(osb_json_str(osb_json_get(expression, "operator")), &q->op) < 0)
        return osb_fail(err, -OSB_E_INVALID, "not a valid label selector operator");
    for (size_t i = 0; osb_json_type(values) == OSB_JSON_ARRAY && i < osb_json_count(values); i++) {
        const struct osb_json *value = osb_json_at(values, i);
        if (osb_json_type(value) != OSB_JSON_STRING)
            return osb_fail(err, -OSB_E_INVALID, "a value is no string");
        int r = selector_add_value(s, q, osb_json_str(value), err);
        if (r < 0)
            return r;
    }
    return selector_check_label(q, err);
}

static int add_expressions(struct osb_selector *s, const struct osb_json *expressions,
                           struct osb_err *err)
{
    if (osb_json_type(expressions) != OSB_JSON_ARRAY)
        return 0;
    for (size_t i = 0; i < osb_json_count(expressions); i++) {
        int r = add_expression(s, osb_json_at(expressions, i), err);
        if (r < 0)
            return osb_wrap(err, r, "matchExpressions[%zu]", i);
    }
    return 0;
}

int osb_selector_from_object(const struct osb_json *selector, struct osb_selector **ret,
                             struct osb_err *err)
{
    struct osb_selector *s = osb_new(struct osb_selector);
    int r = add_match_labels(s, osb_json_get(selector, "matchLabels"), err);
    if (r >= 0)
        r = add_expressions(s, osb_json_get(selector, "matchExpressions"), err);
    if (r < 0) {
        osb_selector_free(s);
        return r;
    }
    *ret = s;
    return 0;
}
