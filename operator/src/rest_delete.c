// SPDX-License-Identifier: Apache-2.0
#include "rest_find.h"

/* The caller's next read must not find it running. */
static void on_cache(struct rest_wait *wait, const struct batchsandbox *bs, bool is_over)
{
    struct rest_request *request = wait->arg;
    if (bs && !bs->is_deleting && !is_over)
        return;
    rest_wait_stop(wait);
    rest_reply_empty(request, 204);
}

static void on_deleted(struct rest_request *request, int r, struct osb_slice body,
                       const struct osb_err *err)
{
    (void)body;
    if (r >= 0)
        rest_wait_start(&request->wait, request->rest, request->sandbox, REST_CACHE_WAIT_MS,
                        on_cache, request);
    else if (r == -OSB_E_NOT_FOUND || r == -OSB_E_CONFLICT)
        rest_fail_not_found(request); /* gone; or the name is another object's by now */
    else
        rest_fail_backend(request, r, err);
}

static void delete_it(struct rest_request *request, const struct batchsandbox *bs)
{
    if (bs->is_deleting) {
        rest_reply_empty(request, 204);
        return;
    }
    rest_call_delete(request, bs->object.name, bs->object.uid, on_deleted);
}

void rest_delete_handle(struct rest_request *request, const struct osb_http_params *params)
{
    rest_find(request, osb_http_param(params, "id"), delete_it);
}
