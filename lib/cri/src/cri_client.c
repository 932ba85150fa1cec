// SPDX-License-Identifier: Apache-2.0
#include "cri_method.h"

#include <osb/alloc.h>
#include <osb/rpc.h>

struct osb_cri_client {
    struct osb_rpc_channel *channel;
    struct osb_list calls;
};

struct osb_cri_call {
    struct osb_list link;
    const struct cri_method *method;
    struct osb_rpc_call *rpc;
    osb_cri_done *done;
    void *arg;
    ProtobufCMessage *response;
};

int osb_cri_client_new(struct osb_loop *loop, const char *endpoint, struct osb_cri_client **ret,
                       struct osb_err *err)
{
    _cleanup_free_ struct osb_cri_client *client = osb_new(struct osb_cri_client);
    int r = osb_rpc_channel_new(loop, endpoint, &client->channel, err);

    if (r < 0)
        return r;
    osb_list_init(&client->calls);
    *ret = osb_take_ptr(client);
    return 0;
}

static void call_free(struct osb_cri_call *call)
{
    osb_list_remove(&call->link);
    if (call->response)
        protobuf_c_message_free_unpacked(call->response, NULL);
    free(call);
}

void osb_cri_client_free(struct osb_cri_client *client)
{
    struct osb_cri_call *call;

    if (!client)
        return;
    osb_rpc_channel_free(client->channel);
    while ((call = osb_list_first(&client->calls, struct osb_cri_call, link)))
        call_free(call);
    free(client);
}

static void on_message(struct osb_rpc_call *rpc, struct osb_slice message, void *arg)
{
    struct osb_cri_call *call = arg;

    (void)rpc;
    call->response = protobuf_c_message_unpack(call->method->response, NULL, message.len,
                                               (const uint8_t *)message.data);
}

static void on_end(struct osb_rpc_call *rpc, const struct osb_rpc_status *status, void *arg)
{
    struct osb_cri_call *call = arg;
    struct osb_err err = {0};
    int r = osb_rpc_status_to_err(status, &err);

    (void)rpc;
    if (r == 0 && !call->response)
        r = osb_fail(&err, -OSB_E_INTERNAL, "the answer cannot be read");
    osb_wrap(&err, r, "%s", call->method->name);
    /* Out of the client's reach, which may be freed in the callback. */
    osb_list_remove(&call->link);
    call->rpc = NULL;
    call->done(r, r < 0 ? NULL : call->response, &err, call->arg);
    call_free(call);
}

static int send(struct osb_cri_client *client, struct osb_cri_call *call,
                const ProtobufCMessage *request, uint64_t timeout_ms, struct osb_err *err)
{
    static const struct osb_rpc_callbacks callbacks = {on_message, on_end};
    size_t size = protobuf_c_message_get_packed_size(request);
    _cleanup_free_ uint8_t *bytes = osb_calloc(1, size + 1);
    int r;

    protobuf_c_message_pack(request, bytes);
    r = osb_rpc_unary(client->channel, call->method->path, osb_slice(bytes, size),
                      timeout_ms ? timeout_ms : call->method->timeout_ms, &callbacks, call,
                      &call->rpc, err);
    return osb_wrap(err, r, "%s", call->method->name);
}

int osb_cri_call(struct osb_cri_client *client, enum osb_cri_method method,
                 const struct ProtobufCMessage *request, uint64_t timeout_ms, osb_cri_done *done,
                 void *arg, struct osb_cri_call **ret, struct osb_err *err)
{
    struct osb_cri_call *call = osb_new(struct osb_cri_call);
    int r;

    call->method = cri_method(method);
    call->done = done;
    call->arg = arg;
    osb_assert(request->descriptor == call->method->request);
    osb_list_append(&client->calls, &call->link);
    r = send(client, call, request, timeout_ms, err);
    if (r < 0) {
        call_free(call);
        return r;
    }
    if (ret)
        *ret = call;
    return 0;
}

void osb_cri_call_cancel(struct osb_cri_call *call)
{
    if (!call->rpc) /* inside its own callback: it is over */
        return;
    osb_rpc_call_cancel(call->rpc);
    call_free(call);
}
