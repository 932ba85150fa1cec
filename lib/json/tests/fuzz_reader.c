// SPDX-License-Identifier: Apache-2.0
/* The pull reader: walking a document and skipping it must come to the same verdict. */
#include <osb/json_reader.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(struct osb_json_reader *r, struct osb_arena *arena);

static void walk_scalar(struct osb_json_reader *r, struct osb_arena *arena)
{
    struct osb_slice text;
    bool flag;
    switch (osb_json_peek(r)) {
    case OSB_JSON_BOOL:
        osb_json_read_bool(r, &flag);
        break;
    case OSB_JSON_NULL:
        osb_json_read_null(r);
        break;
    case OSB_JSON_STRING:
        osb_json_read_string(r, arena, &text);
        break;
    default:
        osb_json_skip(r); /* numbers may be out of a double's range */
    }
}

static void walk(struct osb_json_reader *r, struct osb_arena *arena)
{
    struct osb_slice key;
    switch (osb_json_peek(r)) {
    case OSB_JSON_OBJECT:
        osb_json_enter_object(r);
        while (osb_json_next_key_arena(r, arena, &key))
            walk(r, arena);
        break;
    case OSB_JSON_ARRAY:
        osb_json_enter_array(r);
        while (osb_json_next_item(r))
            walk(r, arena);
        break;
    default:
        walk_scalar(r, arena);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct osb_json_reader walker;
    struct osb_json_reader skipper;
    struct osb_arena arena = {0};
    osb_json_reader_init(&walker, osb_slice(data, size));
    walk(&walker, &arena);
    osb_json_reader_init(&skipper, osb_slice(data, size));
    osb_json_skip(&skipper);
    if (osb_json_reader_finish(&walker, NULL) != osb_json_reader_finish(&skipper, NULL))
        abort();
    osb_arena_done(&arena);
    return 0;
}
