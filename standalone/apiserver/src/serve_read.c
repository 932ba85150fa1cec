// SPDX-License-Identifier: Apache-2.0
#include "server.h"
#include "txn.h"

static void serve_scale(struct call *call)
{
    const struct request *q = &call->request;
    char *key = object_key(&call->arena, q->namespace_, q->name);
    const struct object *object = cache_get(&call->server->cluster->cache, q->resource, key);
    if (!object) {
        refuse_not_found(&call->refusal, &q->resource->kind, q->name);
        reply_refusal(call, &call->refusal);
        return;
    }
    _cleanup_json_ struct osb_json *tree = object_tree(object);
    _cleanup_json_ struct osb_json *scale = scale_of(q->resource, tree);
    _cleanup_buf_ struct osb_buf body = {0};
    osb_json_print(scale, &body);
    reply_json(call, 200, osb_buf_slice(&body));
}

void serve_read(struct call *call)
{
    if (call->request.sub == SUB_SCALE) {
        serve_scale(call);
        return;
    }
    struct read_context context = {.cache = &call->server->cluster->cache,
                                   .history = &call->server->cluster->history,
                                   .request = &call->request,
                                   .output = &call->output,
                                   .arena = &call->arena,
                                   .refusal = &call->refusal,
                                   .now_ns = osb_loop_realtime_ns(call->server->loop)};
    _cleanup_buf_ struct osb_buf body = {0};
    int r = call->request.verb == VERB_GET ? verb_get(&context, &body) : verb_list(&context, &body);
    if (r < 0)
        reply_refusal(call, &call->refusal);
    else
        reply_json(call, 200, osb_buf_slice(&body));
}
