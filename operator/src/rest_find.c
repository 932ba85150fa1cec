// SPDX-License-Identifier: Apache-2.0
#include "rest_find.h"

#include <osb/api_meta.h>

#include <string.h>

#include "rest_sandbox.h"

bool rest_is_sandbox(const struct batchsandbox *bs)
{
    const char *id = pairs_get(&bs->labels, LABEL_ID);
    return id && strcmp(id, bs->object.name) == 0;
}

/* ---- one object ---- */

/* A store of its own does what decoding an object needs, and owns the result. */
struct rest_object rest_object_read(struct osb_slice text)
{
    struct rest_object object = {.store = osb_kube_store_new(&batchsandbox_projection)};
    osb_kube_store_apply(object.store, text, NULL);
    object.bs = batchsandbox_of(osb_kube_store_next(object.store, NULL));
    return object;
}

void rest_object_done(struct rest_object *object)
{
    osb_kube_store_free(object->store);
}

/* ---- finding ---- */

static void on_got(struct rest_request *request, int r, struct osb_slice body,
                   const struct osb_err *err)
{
    if (r == -OSB_E_NOT_FOUND) {
        rest_fail_not_found(request);
        return;
    }
    if (r < 0) {
        rest_fail_backend(request, r, err);
        return;
    }
    struct rest_object object = rest_object_read(body);
    if (object.bs && rest_is_sandbox(object.bs))
        request->found(request, object.bs);
    else
        rest_fail_not_found(request);
    rest_object_done(&object);
}

void rest_find(struct rest_request *request, struct osb_slice id, rest_found_fn *fn)
{
    const struct operator* op = request->rest->op;
    if (id.len > REST_MAX_ID || !osb_api_is_dns_subdomain(id)) {
        rest_fail_not_found(request); /* no object can have this name */
        return;
    }
    request->sandbox = osb_arena_slice_dup(request->arena, id);
    const struct batchsandbox *bs =
        batchsandbox_get(op->batchsandboxes, op->namespace_, request->sandbox);
    if (bs && rest_is_sandbox(bs)) {
        fn(request, bs);
        return;
    }
    request->found = fn;
    rest_call_get(request, &osb_kind_batchsandbox, request->sandbox, on_got);
}

/* ---- reading our own writes ---- */

static void on_cache(struct rest_wait *wait, const struct batchsandbox *bs, bool is_over)
{
    struct rest_request *request = wait->arg;
    if (!is_over && bs && bs->object.version < request->after_version)
        return;
    rest_wait_stop(wait);
    request->after(request);
}

void rest_after_cache(struct rest_request *request, uint64_t version, rest_then_fn *fn)
{
    request->after_version = version;
    request->after = fn;
    rest_wait_start(&request->wait, request->rest, request->sandbox, REST_CACHE_WAIT_MS, on_cache,
                    request);
}
