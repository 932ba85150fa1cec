// SPDX-License-Identifier: Apache-2.0
#include <osb/json_reader.h>

#include <stdio.h>

#include "scale.h"

static void read_metadata(struct osb_json_reader *r, struct scale_object *object)
{
    struct osb_slice key;
    osb_json_enter_object(r);
    while (osb_json_next_key(r, &key)) {
        if (osb_slice_eq_str(key, "deletionTimestamp"))
            object->is_deleting = true;
        osb_json_skip(r);
    }
}

static void read_status(struct osb_json_reader *r, struct scale_object *object)
{
    struct osb_slice key;
    osb_json_enter_object(r);
    while (osb_json_next_key(r, &key)) {
        if (osb_slice_eq_str(key, "ready")) {
            osb_json_read_i64(r, &object->ready);
            continue;
        }
        if (osb_slice_eq_str(key, "podIP"))
            object->has_address = true;
        osb_json_skip(r);
    }
}

static int decode(struct osb_slice raw, struct osb_kube_object *head, struct osb_err *err)
{
    struct scale_object *object = (struct scale_object *)head;
    struct osb_json_reader r;
    struct osb_slice key;
    osb_json_reader_init(&r, raw);
    osb_json_enter_object(&r);
    while (osb_json_next_key(&r, &key)) {
        if (osb_slice_eq_str(key, "metadata"))
            read_metadata(&r, object);
        else if (osb_slice_eq_str(key, "status"))
            read_status(&r, object);
        else
            osb_json_skip(&r);
    }
    return osb_json_reader_finish(&r, err);
}

static const struct osb_kube_projection projection = {
    .size = sizeof(struct scale_object),
    .decode = decode,
};

static void on_error(int r, const struct osb_err *err, void *arg)
{
    scale_fail(arg, "a watch", r, err);
}

void scale_cache_start(struct scale_cache *cache, struct scale *scale,
                       const struct osb_api_kind *kind, osb_kube_change_fn *fn, void *arg)
{
    struct osb_kube_reflector_options options = {
        .kind = kind,
        .namespace_ = scale->options->namespace_,
        .on_error = on_error,
        .on_error_arg = scale,
    };
    cache->store = osb_kube_store_new(&projection);
    osb_kube_store_subscribe(cache->store, fn, arg);
    cache->reflector = osb_kube_reflector_new(scale->loop, scale->client, cache->store, &options);
    osb_kube_reflector_start(cache->reflector);
}

void scale_cache_done(struct scale_cache *cache)
{
    osb_kube_reflector_free(cache->reflector);
    osb_kube_store_free(cache->store);
}
