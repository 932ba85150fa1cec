// SPDX-License-Identifier: Apache-2.0
#include "rest_filter.h"

#include <osb/text.h>

#include <stdlib.h>
#include <string.h>

#include "rest_sandbox.h"
#include "rest_status.h"

/* ---- metadata ---- */

static int decode(struct osb_slice text, struct osb_arena *arena, const char **ret)
{
    _cleanup_buf_ struct osb_buf plain = {0};
    int r = osb_percent_decode(&plain, text, true);
    if (r < 0)
        return r;
    if (osb_slice_find(osb_buf_slice(&plain), '\0') >= 0)
        return -OSB_E_SYNTAX;
    *ret = osb_arena_slice_dup(arena, osb_buf_slice(&plain));
    return 0;
}

static int add_pair(struct rest_filter *filter, const char *key, const char *value)
{
    size_t i = 0;
    while (i < filter->pair_count && strcmp(filter->pairs[i].key, key) != 0)
        i++;
    if (i == REST_MAX_FILTERS)
        return -OSB_E_TOO_LARGE;
    filter->pairs[i].key = key;
    filter->pairs[i].value = value;
    if (i == filter->pair_count)
        filter->pair_count++;
    return 0;
}

int rest_filter_metadata(struct rest_filter *filter, struct osb_slice text, struct osb_arena *arena)
{
    struct osb_slice part;
    while (osb_slice_split(&text, '&', &part)) {
        const char *key;
        const char *value;
        ptrdiff_t equals = osb_slice_find(part, '=');
        if (equals < 0)
            return -OSB_E_SYNTAX;
        int r = decode(osb_slice_first(part, (size_t)equals), arena, &key);
        if (r < 0 || (r = decode(osb_slice_from(part, (size_t)equals + 1), arena, &value)) < 0 ||
            (r = add_pair(filter, key, value)) < 0)
            return r;
    }
    return 0;
}

/* ---- matching ---- */

static bool has_state(const struct rest_filter *filter, const struct batchsandbox *bs)
{
    struct osb_slice state = osb_slice_str(rest_status_of(bs).state);
    for (size_t i = 0; i < filter->state_count; i++)
        if (osb_slice_ieq(filter->states[i], state))
            return true;
    return filter->state_count == 0;
}

static bool has_pairs(const struct rest_filter *filter, const struct batchsandbox *bs)
{
    for (size_t i = 0; i < filter->pair_count; i++) {
        const char *value = pairs_get(&bs->labels, filter->pairs[i].key);
        if (!value || rest_is_system_label(filter->pairs[i].key) ||
            strcmp(value, filter->pairs[i].value) != 0)
            return false;
    }
    return true;
}

bool rest_filter_matches(const struct rest_filter *filter, const struct batchsandbox *bs)
{
    return has_pairs(filter, bs) && has_state(filter, bs);
}

/* ---- order and pages ---- */

static int compare(const void *a, const void *b)
{
    const struct batchsandbox *left = *(const struct batchsandbox *const *)a;
    const struct batchsandbox *right = *(const struct batchsandbox *const *)b;
    if (left->created_ns != right->created_ns)
        return left->created_ns > right->created_ns ? -1 : 1;
    return strcmp(left->object.name, right->object.name);
}

void rest_filter_sort(const struct batchsandbox **items, size_t count)
{
    if (count > 1)
        qsort(items, count, sizeof(*items), compare);
}

struct rest_page rest_page_of(size_t total, int64_t page, int64_t size)
{
    struct rest_page result = {.page = page, .size = size, .total = (int64_t)total};
    result.pages = (result.total + size - 1) / size;
    result.has_next = page < result.pages;
    result.first = page <= result.pages ? (size_t)((page - 1) * size) : total;
    result.count = total - result.first < (size_t)size ? total - result.first : (size_t)size;
    return result;
}
