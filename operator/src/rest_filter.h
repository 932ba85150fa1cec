// SPDX-License-Identifier: Apache-2.0
/* Which sandboxes a list shows, in which order, and which page of them. Free of I/O. */
#ifndef OPERATOR_REST_FILTER_H
#define OPERATOR_REST_FILTER_H

#include <osb/arena.h>
#include <osb/slice.h>

#include "batchsandbox.h"

enum {
    REST_MAX_FILTERS = 64, /* metadata pairs or states of one list */
    REST_DEFAULT_PAGE_SIZE = 20,
    REST_MAX_PAGE_SIZE = 200,
};

struct rest_filter {
    struct osb_slice states[REST_MAX_FILTERS];
    size_t state_count; /* 0: any */
    struct {
        const char *key;
        const char *value;
    } pairs[REST_MAX_FILTERS];
    size_t pair_count;
};

/*
 * TEXT is "k=v&k2=v2", each part form-encoded once more; a later value of a key replaces an earlier
 * one. -OSB_E_SYNTAX when a part has no "=" or an escape is broken, -OSB_E_TOO_LARGE.
 */
int rest_filter_metadata(struct rest_filter *filter, struct osb_slice text,
                         struct osb_arena *arena);
bool rest_filter_matches(const struct rest_filter *filter, const struct batchsandbox *bs);
/* Newest first, then by id. */
void rest_filter_sort(const struct batchsandbox **items, size_t count);

struct rest_page {
    int64_t page;
    int64_t size;
    int64_t total;
    int64_t pages;
    size_t first; /* index of its first item; `total` when it is beyond the end */
    size_t count;
    bool has_next;
};

struct rest_page rest_page_of(size_t total, int64_t page, int64_t size);

#endif
