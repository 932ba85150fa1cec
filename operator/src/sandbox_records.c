// SPDX-License-Identifier: Apache-2.0
#include "sandbox_records.h"

#include <osb/json_reader.h>

#include <stdlib.h>
#include <string.h>

/* The strings of a JSON array; what is no such array reads as empty. */
static size_t read_strings(const char *text, struct osb_arena *arena, char **strings, size_t max)
{
    struct osb_json_reader r;
    size_t count = 0;
    if (!text)
        return 0;
    osb_json_reader_init(&r, osb_slice_str(text));
    osb_json_enter_array(&r);
    while (osb_json_next_item(&r)) {
        char *value = NULL;
        osb_json_read_cstr(&r, arena, &value);
        if (value && count < max)
            strings[count++] = value;
    }
    return osb_json_reader_finish(&r, NULL) < 0 ? 0 : count;
}

void sandbox_records_update(const struct batchsandbox *bs, struct osb_arena *arena,
                            struct sandbox_view *view)
{
    const char *replaced = batchsandbox_annotation(bs, ANNOTATION_REPLACED);
    size_t count = view->slot_count;
    view->uids = osb_arena_calloc(arena, count + 1, sizeof(char *));
    size_t known =
        read_strings(batchsandbox_annotation(bs, ANNOTATION_POD_UIDS), arena, view->uids, count);
    view->replaced = replaced ? strtoll(replaced, NULL, 10) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct slot *slot = &view->slots[i];
        if (i >= known)
            view->uids[i] = osb_arena_strdup(arena, "");
        if (!slot->pod || !slot->pod->address || strcmp(view->uids[i], slot->pod->object.uid) == 0)
            continue;
        if (view->uids[i][0])
            view->replaced++;
        view->uids[i] = osb_arena_strdup(arena, slot->pod->object.uid);
    }
}
