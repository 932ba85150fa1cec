// SPDX-License-Identifier: Apache-2.0
#include "thing.h"

#include <osb/alloc.h>

#include <stdio.h>

static int decode(struct osb_slice raw, struct osb_kube_object *object, struct osb_err *err)
{
    struct thing *thing = (struct thing *)object;
    _cleanup_arena_ struct osb_arena arena = {0};
    struct osb_json_reader r;
    struct osb_slice key, color = OSB_SLICE_NULL;
    osb_json_reader_init(&r, raw);
    osb_json_enter_object(&r);
    while (osb_json_next_key(&r, &key)) {
        if (osb_slice_eq_str(key, "color"))
            osb_json_read_string(&r, &arena, &color);
        else
            osb_json_skip(&r);
    }
    if (osb_slice_eq_str(color, "refused"))
        return osb_fail(err, -OSB_E_INVALID, "refused");
    snprintf(thing->color, sizeof(thing->color), "%.*s", OSB_SLICE_ARG(color));
    return osb_json_reader_finish(&r, err);
}

static void by_color(const struct osb_kube_object *object, int i,
                     void (*emit)(const char *value, void *arg), void *arg)
{
    osb_assert(i == 0);
    emit(thing_of(object)->color, arg);
}

const struct osb_kube_projection thing_projection = {
    .size = sizeof(struct thing),
    .decode = decode,
    .index_count = 1,
    .index = by_color,
};

char *thing_text(const char *namespace_, const char *name, int version, const char *color)
{
    return osb_asprintf("{\"metadata\":{\"namespace\":\"%s\",\"name\":\"%s\",\"uid\":\"u-%s\","
                        "\"resourceVersion\":\"%d\"},\"color\":\"%s\"}",
                        namespace_, name, name, version, color);
}
