// SPDX-License-Identifier: Apache-2.0
/* The metadata filter of a list. */
#include <stddef.h>
#include <stdint.h>

#include "rest_filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pair label = {"a", "b"};
    struct batchsandbox bs = {.object.name = "s", .labels = {&label, 1, 1}};
    struct rest_filter filter = {0};
    struct osb_arena arena = {0};
    if (rest_filter_metadata(&filter, osb_slice(data, size), &arena) == 0)
        rest_filter_matches(&filter, &bs);
    osb_arena_done(&arena);
    return 0;
}
