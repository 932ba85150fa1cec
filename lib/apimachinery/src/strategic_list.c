// SPDX-License-Identifier: Apache-2.0
/*
 * Lists that merge. The result is in two streams: the items that the patch names, in its order (or
 * in that of $setElementOrder), and the others in the order they had. Where both streams have an
 * item of the old list, the one that stood first there goes first; otherwise the patch goes first.
 */
#include "strategic.h"

#include <osb/alloc.h>

/* Whether ITEM is the one that WANTED names: by key, or by value in a set. */
static bool is_same(const struct osb_json *item, const struct osb_json *wanted, const char *key)
{
    if (!key)
        return osb_json_equal(item, wanted);
    const struct osb_json *left = osb_json_get(item, key);
    const struct osb_json *right = osb_json_get(wanted, key);
    return left && right && osb_json_equal(left, right);
}

/* The index of the item that WANTED names, from START on; the count when there is none. */
static size_t find(const struct osb_json *list, const struct osb_json *wanted, const char *key,
                   size_t start)
{
    size_t count = osb_json_count(list);
    size_t i = start;
    while (i < count && !is_same(osb_json_at(list, i), wanted, key))
        i++;
    return i;
}

static bool is_special(const struct osb_json *item)
{
    return strategic_directive_of(item) != STRATEGIC_NONE;
}

static int check_item(const struct osb_json *item, const char *key, struct osb_err *err)
{
    enum osb_json_type type = osb_json_type(item);
    if (!key)
        return type != OSB_JSON_OBJECT && type != OSB_JSON_ARRAY
                   ? 0
                   : osb_fail(err, -OSB_E_INVALID, "a list of scalars holds something else");
    if (type != OSB_JSON_OBJECT)
        return osb_fail(err, -OSB_E_INVALID, "an item of the list is no object");
    if (strategic_directive_of(item) != STRATEGIC_REPLACE && !osb_json_get(item, key))
        return osb_fail(err, -OSB_E_INVALID, "an item does not contain the declared merge key: %s",
                        key);
    return 0;
}

/* Every item of PATCH; *RET_REPLACES when one of them says so. */
static int check_items(const struct osb_json *patch, const char *key, bool *ret_replaces,
                       struct osb_err *err)
{
    *ret_replaces = false;
    for (size_t i = 0; i < osb_json_count(patch); i++) {
        const struct osb_json *item = osb_json_at(patch, i);
        enum strategic_directive directive = strategic_directive_of(item);
        if (directive == STRATEGIC_MERGE || directive == STRATEGIC_UNKNOWN)
            return osb_fail(err, -OSB_E_INVALID, "an item has an unknown $patch");
        int r = check_item(item, key, err);
        if (r < 0)
            return r;
        *ret_replaces |= directive == STRATEGIC_REPLACE;
    }
    return 0;
}

static void clear(struct osb_json *list)
{
    while (osb_json_count(list))
        osb_json_remove_at(list, osb_json_count(list) - 1);
}

static void append_clean(struct osb_json *list, const struct osb_json *item)
{
    struct osb_json *clean = strategic_clean_copy(item);
    if (clean)
        osb_json_append(list, clean);
}

static void replace_list(struct osb_json *list, const struct osb_json *patch)
{
    clear(list);
    for (size_t i = 0; i < osb_json_count(patch); i++)
        if (!is_special(osb_json_at(patch, i)))
            append_clean(list, osb_json_at(patch, i));
}

static void delete_items(struct osb_json *list, const struct osb_json *patch, const char *key)
{
    for (size_t i = 0; i < osb_json_count(patch); i++) {
        const struct osb_json *item = osb_json_at(patch, i);
        if (strategic_directive_of(item) != STRATEGIC_DELETE)
            continue;
        size_t at = 0;
        while ((at = find(list, item, key, at)) < osb_json_count(list))
            osb_json_remove_at(list, at);
    }
}

static int merge_items(struct osb_json *list, const struct osb_json *patch,
                       const struct strategic_field *field, struct osb_err *err)
{
    for (size_t i = 0; i < osb_json_count(patch); i++) {
        const struct osb_json *item = osb_json_at(patch, i);
        if (is_special(item))
            continue;
        size_t at = find(list, item, field->key, 0);
        if (at == osb_json_count(list)) {
            append_clean(list, item);
        } else if (field->key) {
            int r = strategic_merge_object(osb_json_at(list, at), item, field->type, err);
            if (r < 0)
                return osb_wrap(err, r, "item %zu", i);
        }
    }
    return 0;
}

/* Indexes of LIST in two streams; OLD_COUNT of its items were there before the patch. */
struct streams {
    size_t *named; /* by the patch or the order directive */
    size_t named_count;
    size_t *others;
    size_t other_count;
};

static void split(const struct osb_json *list, const struct osb_json *order, const char *key,
                  struct streams *s)
{
    size_t count = osb_json_count(list);
    _cleanup_free_ bool *is_named = osb_calloc(count + 1, sizeof(*is_named));
    for (size_t i = 0; i < osb_json_count(order); i++) {
        size_t at = find(list, osb_json_at(order, i), key, 0);
        if (at == count || is_named[at] || is_special(osb_json_at(order, i)))
            continue;
        is_named[at] = true;
        s->named[s->named_count++] = at;
    }
    for (size_t at = 0; at < count; at++)
        if (!is_named[at])
            s->others[s->other_count++] = at;
}

static void reorder(struct osb_json *list, size_t old_count, const struct osb_json *order,
                    const char *key)
{
    size_t count = osb_json_count(list);
    _cleanup_free_ size_t *named = osb_calloc(count + 1, sizeof(size_t));
    _cleanup_free_ size_t *others = osb_calloc(count + 1, sizeof(size_t));
    _cleanup_free_ size_t *result = osb_calloc(count + 1, sizeof(size_t));
    struct streams s = {.named = named, .others = others};
    split(list, order, key, &s);
    size_t i = 0;
    size_t j = 0;
    for (size_t k = 0; k < count; k++) {
        bool other_first = i < s.other_count && j < s.named_count && named[j] < old_count &&
                           others[i] < old_count && others[i] < named[j];
        if (j == s.named_count || other_first)
            result[k] = others[i++];
        else
            result[k] = named[j++];
    }
    osb_json_permute(list, result);
}

/* The patch must be a part of the order directive, in its order. */
static int check_order(const struct osb_json *patch, const struct osb_json *order, const char *key,
                       struct osb_err *err)
{
    size_t at = 0;
    if (osb_json_count(order) > OSB_STRATEGIC_MAX_ITEMS)
        return osb_fail(err, -OSB_E_TOO_LARGE, "$setElementOrder has more than %d items",
                        OSB_STRATEGIC_MAX_ITEMS);
    for (size_t i = 0; i < osb_json_count(patch); i++) {
        if (is_special(osb_json_at(patch, i)))
            continue;
        at = find(order, osb_json_at(patch, i), key, at);
        if (at == osb_json_count(order))
            return osb_fail(err, -OSB_E_INVALID,
                            "the order in the patch does not match its $setElementOrder");
        at++;
    }
    return 0;
}

int strategic_merge_list(struct osb_json *target, const struct osb_json *patch,
                         const struct strategic_field *field, const struct osb_json *order,
                         struct osb_err *err)
{
    bool replaces;
    if (osb_json_count(target) > OSB_STRATEGIC_MAX_ITEMS ||
        osb_json_count(patch) > OSB_STRATEGIC_MAX_ITEMS)
        return osb_fail(err, -OSB_E_TOO_LARGE, "a list that merges has more than %d items",
                        OSB_STRATEGIC_MAX_ITEMS);
    int r = check_items(patch, field->key, &replaces, err);
    if (r >= 0 && order)
        r = check_order(patch, order, field->key, err);
    if (r < 0)
        return r;
    /* An empty list has nothing to merge with: the patch is taken as it is, two ports of one number
     * and two protocols included. */
    if (replaces || osb_json_count(target) == 0) {
        replace_list(target, patch);
        if (order)
            reorder(target, 0, order, field->key);
        return 0;
    }
    delete_items(target, patch, field->key);
    size_t old_count = osb_json_count(target);
    r = merge_items(target, patch, field, err);
    if (r < 0)
        return r;
    reorder(target, old_count, order ? order : patch, field->key);
    return 0;
}
