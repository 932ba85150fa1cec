// SPDX-License-Identifier: Apache-2.0
#include "pairs.h"

#include <osb/alloc.h>

#include <stdlib.h>
#include <string.h>

#include "lenient.h"

void pairs_read(struct osb_json_reader *r, struct pairs *pairs)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    struct osb_slice key;
    if (!lenient_enter_object(r))
        return;
    while (osb_json_next_key_arena(r, &arena, &key)) {
        char *value = NULL;
        if (!lenient_string(r, &value))
            continue;
        osb_grow(pairs->items, pairs->count, pairs->cap);
        pairs->items[pairs->count++] = (struct pair){osb_strndup(key.data, key.len), value};
    }
    osb_shrink(pairs->items, pairs->count, pairs->cap);
}

void pairs_clear(struct pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        free(pairs->items[i].key);
        free(pairs->items[i].value);
    }
    free(pairs->items);
    *pairs = (struct pairs){0};
}

const char *pairs_get(const struct pairs *pairs, const char *key)
{
    for (size_t i = 0; i < pairs->count; i++)
        if (strcmp(pairs->items[i].key, key) == 0)
            return pairs->items[i].value;
    return NULL;
}
