// SPDX-License-Identifier: Apache-2.0
/* The parsers of what clients and images send; the first byte says which one. */
#include "byte_range.h"
#include "command_request.h"
#include "env_file.h"
#include "glob.h"

#include <osb/alloc.h>
#include <osb/cleanup.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *lookup(struct osb_slice name, void *arg)
{
    (void)arg;
    return name.len % 2 ? "value" : NULL;
}

static void take(struct osb_slice name, struct osb_slice value, void *arg)
{
    (void)arg;
    osb_assert(name.len > 0 && osb_slice_find(value, '\0') < 0);
}

static void parse_request(struct osb_slice text)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    struct command_request request;

    if (command_request_parse(text, &arena, &request, NULL) == 0)
        osb_assert((request.command != NULL) != (request.argv != NULL));
}

static void parse_range(struct osb_slice text)
{
    struct byte_range range;

    if (byte_range_parse(text, 1000, &range) == RANGE_OK)
        osb_assert(range.offset >= 0 && range.len > 0 && range.offset + range.len <= 1000);
}

static void match(struct osb_slice text)
{
    _cleanup_free_ char *pattern = osb_slice_dup(text);

    glob_match(pattern, "name.txt");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct osb_slice text = osb_slice(data + 1, size ? size - 1 : 0);

    if (size == 0)
        return 0;
    switch (data[0] % 4) {
    case 0:
        parse_request(text);
        break;
    case 1:
        parse_range(text);
        break;
    case 2:
        env_file_parse(text, lookup, NULL, take, NULL);
        break;
    default:
        match(text);
    }
    return 0;
}
