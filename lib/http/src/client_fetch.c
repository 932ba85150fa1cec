// SPDX-License-Identifier: Apache-2.0
// A whole exchange for callers that want a small answer in one piece.
#include "client.h"

#include <osb/alloc.h>
#include <stdlib.h>

struct fetch {
    struct osb_buf body;
    void (*fn)(int r, int status, struct osb_slice body, const struct osb_err *err, void *arg);
    void *arg;
};

static void on_data(struct osb_http_call *call, struct osb_slice data, void *arg)
{
    struct fetch *fetch = arg;
    osb_buf_append_slice(&fetch->body, data);
    if (fetch->body.err < 0)
        call->failure = osb_fail(&call->err, fetch->body.err, "the answer is too large");
}

static void fetch_free(struct fetch *fetch)
{
    osb_buf_done(&fetch->body);
    free(fetch);
}

static void on_end(struct osb_http_call *call, int r, const struct osb_err *err, void *arg)
{
    struct fetch *fetch = arg;
    struct osb_slice body = r < 0 ? OSB_SLICE_NULL : osb_buf_slice(&fetch->body);
    fetch->fn(r, r < 0 ? 0 : osb_http_call_status(call), body, err, fetch->arg);
}

/* Runs in every case, also when the call is cancelled. */
static void on_free(void *arg)
{
    fetch_free(arg);
}

int osb_http_fetch(struct osb_http_client *client, const struct osb_http_request *request,
                   size_t max_body,
                   void (*fn)(int r, int status, struct osb_slice body, const struct osb_err *err,
                              void *arg),
                   void *arg, struct osb_http_call **ret, struct osb_err *err)
{
    static const struct osb_http_call_callbacks callbacks = {.on_data = on_data, .on_end = on_end};
    struct fetch *fetch = osb_new(struct fetch);
    struct osb_http_call *call;
    osb_buf_init(&fetch->body, max_body ? max_body : OSB_HTTP_MAX_BODY);
    fetch->fn = fn;
    fetch->arg = arg;
    int r = osb_http_call_start(client, request, &callbacks, fetch, &call, err);
    if (r < 0) {
        fetch_free(fetch);
        return r;
    }
    call->on_free = on_free;
    if (ret)
        *ret = call;
    return 0;
}
