// SPDX-License-Identifier: Apache-2.0
/* RFC 6902. The operations work on a copy, which takes the target's place when all are done. */
#include <osb/json_patch.h>

#include "json_node.h"
#include "json_pointer.h"

#include <string.h>

struct patch {
    struct osb_json *root;
    struct osb_arena arena; /* unescaped tokens of the current operation */
    size_t copied;          /* values made by "copy" so far */
};

struct operation {
    const struct osb_json *object;
    struct json_place place;
};

static int missing(struct osb_err *err)
{
    return osb_fail(err, -OSB_E_NOT_FOUND, "the path does not exist");
}

static void replace_root(struct patch *p, struct osb_json *value)
{
    osb_json_free(p->root);
    p->root = value;
}

static int resolve(struct patch *p, const struct osb_json *operation, const char *member,
                   struct json_place *ret, struct osb_err *err)
{
    const struct osb_json *pointer = osb_json_get(operation, member);
    if (osb_json_type(pointer) != OSB_JSON_STRING)
        return osb_fail(err, -OSB_E_INVALID, "no \"%s\"", member);
    return json_pointer_resolve(p->root, osb_json_str(pointer), &p->arena, ret, err);
}

/* Takes VALUE, also on failure. */
static int add_to_array(const struct json_place *place, struct osb_json *value, struct osb_err *err)
{
    size_t count = osb_json_count(place->parent);
    size_t index = count;
    if (!osb_slice_eq_str(place->token, "-") &&
        (!json_pointer_index(place->token, &index) || index > count)) {
        osb_json_free(value);
        return osb_fail(err, -OSB_E_NOT_FOUND, "no place of that index in the array");
    }
    osb_json_insert(place->parent, index, value);
    return 0;
}

/* Takes VALUE, also on failure. */
static int add(struct patch *p, const struct json_place *place, struct osb_json *value,
               struct osb_err *err)
{
    if (place->depth + json_node_depth(value) > OSB_JSON_MAX_DEPTH) {
        osb_json_free(value);
        return osb_fail(err, -OSB_E_TOO_DEEP, "the result would be nested too deeply");
    }
    if (!place->parent) {
        replace_root(p, value);
        return 0;
    }
    if (osb_json_type(place->parent) == OSB_JSON_ARRAY)
        return add_to_array(place, value, err);
    if (place->token.len && memchr(place->token.data, '\0', place->token.len)) {
        osb_json_free(value);
        return osb_fail(err, -OSB_E_INVALID, "a key with U+0000");
    }
    osb_json_set_slice(place->parent, place->token, value);
    return 0;
}

static int remove_at(struct patch *p, const struct json_place *place, struct osb_err *err)
{
    size_t index;
    if (!place->parent)
        return osb_fail(err, -OSB_E_INVALID, "the whole document cannot be removed");
    if (!json_place_get(p->root, place))
        return missing(err);
    if (osb_json_type(place->parent) == OSB_JSON_OBJECT)
        osb_json_del(place->parent, place->token);
    else if (json_pointer_index(place->token, &index))
        osb_json_remove_at(place->parent, index);
    return 0;
}

static int op_add(struct patch *p, const struct operation *op, struct osb_err *err)
{
    const struct osb_json *value = osb_json_get(op->object, "value");
    if (!value)
        return osb_fail(err, -OSB_E_INVALID, "no \"value\"");
    return add(p, &op->place, osb_json_copy(value), err);
}

static int op_remove(struct patch *p, const struct operation *op, struct osb_err *err)
{
    return remove_at(p, &op->place, err);
}

static int op_replace(struct patch *p, const struct operation *op, struct osb_err *err)
{
    const struct osb_json *value = osb_json_get(op->object, "value");
    size_t index;
    if (!value)
        return osb_fail(err, -OSB_E_INVALID, "no \"value\"");
    if (!json_place_get(p->root, &op->place))
        return missing(err);
    if (osb_json_type(op->place.parent) != OSB_JSON_ARRAY)
        return add(p, &op->place, osb_json_copy(value), err);
    if (op->place.depth + json_node_depth(value) > OSB_JSON_MAX_DEPTH)
        return osb_fail(err, -OSB_E_TOO_DEEP, "the result would be nested too deeply");
    if (json_pointer_index(op->place.token, &index))
        osb_json_replace_at(op->place.parent, index, osb_json_copy(value));
    return 0;
}

static size_t count_values(const struct osb_json *value)
{
    size_t total = 1;
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *child;
    if (osb_json_type(value) == OSB_JSON_ARRAY)
        for (size_t i = 0; i < osb_json_count(value); i++)
            total += count_values(osb_json_at(value, i));
    while (osb_json_next_member(value, &cursor, &key, &child))
        total += count_values(child);
    /* Long text costs as well. */
    return total + osb_json_str(value).len / 64;
}

/* A copy of the value at "from". */
static int copy_source(struct patch *p, const struct operation *op, struct json_place *ret_from,
                       struct osb_json **ret, struct osb_err *err)
{
    int r = resolve(p, op->object, "from", ret_from, err);
    if (r < 0)
        return r;
    const struct osb_json *value = json_place_get(p->root, ret_from);
    if (!value)
        return missing(err);
    p->copied += count_values(value);
    if (p->copied > OSB_JSON_PATCH_MAX_COPIED)
        return osb_fail(err, -OSB_E_TOO_LARGE, "the patch copies too much");
    *ret = osb_json_copy(value);
    return 0;
}

static int op_copy(struct patch *p, const struct operation *op, struct osb_err *err)
{
    struct json_place from;
    struct osb_json *value;
    int r = copy_source(p, op, &from, &value, err);
    return r < 0 ? r : add(p, &op->place, value, err);
}

static int op_move(struct patch *p, const struct operation *op, struct osb_err *err)
{
    struct json_place from;
    struct json_place to;
    struct osb_slice from_text = osb_json_str(osb_json_get(op->object, "from"));
    struct osb_slice to_text = osb_json_str(osb_json_get(op->object, "path"));
    if (to_text.len > from_text.len && osb_slice_starts(to_text, from_text) &&
        to_text.data[from_text.len] == '/')
        return osb_fail(err, -OSB_E_INVALID, "a value cannot move into itself");
    _cleanup_json_ struct osb_json *value = NULL;
    int r = copy_source(p, op, &from, &value, err);
    if (r < 0 || osb_slice_eq(from_text, to_text))
        return r;
    r = remove_at(p, &from, err);
    if (r < 0)
        return r;
    /* The removal may have moved, or freed, what the place pointed to. */
    r = resolve(p, op->object, "path", &to, err);
    return r < 0 ? r : add(p, &to, osb_take_ptr(value), err);
}

static int op_test(struct patch *p, const struct operation *op, struct osb_err *err)
{
    const struct osb_json *expected = osb_json_get(op->object, "value");
    const struct osb_json *found = json_place_get(p->root, &op->place);
    if (!expected)
        return osb_fail(err, -OSB_E_INVALID, "no \"value\"");
    if (!found)
        return missing(err);
    if (!json_node_equal_numerically(expected, found))
        return osb_fail(err, -OSB_E_CONFLICT, "the test failed");
    return 0;
}

static const struct {
    const char *name;
    int (*apply)(struct patch *p, const struct operation *op, struct osb_err *err);
} OPERATIONS[] = {
    {"add", op_add},   {"remove", op_remove}, {"replace", op_replace},
    {"move", op_move}, {"copy", op_copy},     {"test", op_test},
};

static int apply(struct patch *p, const struct osb_json *object, struct osb_err *err)
{
    struct operation op = {.object = object};
    struct osb_slice name = osb_json_str(osb_json_get(object, "op"));
    int (*fn)(struct patch *, const struct operation *, struct osb_err *) = NULL;
    for (size_t i = 0; i < sizeof(OPERATIONS) / sizeof(OPERATIONS[0]); i++)
        if (osb_slice_eq_str(name, OPERATIONS[i].name))
            fn = OPERATIONS[i].apply;
    if (!fn)
        return osb_fail(err, -OSB_E_INVALID, "no \"op\", or an unknown one");
    int r = resolve(p, object, "path", &op.place, err);
    return r < 0 ? r : fn(p, &op, err);
}

int osb_json_patch(struct osb_json **target, const struct osb_json *operations, struct osb_err *err)
{
    if (osb_json_type(operations) != OSB_JSON_ARRAY)
        return osb_fail(err, -OSB_E_INVALID, "a JSON patch is an array of operations");
    if (osb_json_count(operations) > OSB_JSON_PATCH_MAX_OPERATIONS)
        return osb_fail(err, -OSB_E_TOO_LARGE, "a JSON patch of more than %d operations",
                        OSB_JSON_PATCH_MAX_OPERATIONS);
    struct patch p = {.root = osb_json_copy(*target)};
    int r = 0;
    for (size_t i = 0; i < osb_json_count(operations) && r >= 0; i++) {
        r = osb_wrap(err, apply(&p, osb_json_at(operations, i), err), "operation %zu", i);
        osb_arena_done(&p.arena);
    }
    /* The loser of the two trees goes. */
    struct osb_json *old = r < 0 ? p.root : *target;
    if (r >= 0)
        *target = p.root;
    osb_json_free(old);
    return r;
}
