// SPDX-License-Identifier: Apache-2.0
#include "rest_find.h"
#include "rest_sandbox.h"

static void reply(struct rest_request *request, const struct batchsandbox *bs)
{
    _cleanup_buf_ struct osb_buf body = {0};
    struct osb_json_writer w;
    osb_json_writer_init(&w, &body);
    rest_sandbox_print(&w, bs, REST_FULL);
    osb_assert(osb_json_writer_finish(&w, NULL) == 0);
    rest_reply(request, 200, osb_buf_slice(&body));
}

void rest_get_handle(struct rest_request *request, const struct osb_http_params *params)
{
    rest_find(request, osb_http_param(params, "id"), reply);
}
