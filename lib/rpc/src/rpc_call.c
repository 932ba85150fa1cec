// SPDX-License-Identifier: Apache-2.0
/*
 * A call is one batch that lives as long as the call (what is sent, and the status at the end) and,
 * for a stream, one read at a time. Whatever happens, call_advance() looks at the state and does
 * the one thing that is due; nothing else delivers, ends or frees.
 */
#include "rpc_channel.h"
#include "rpc_ops.h"
#include "rpc_tsan.h"

#include <osb/alloc.h>
#include <osb/cleanup.h>

struct osb_rpc_call {
    struct osb_list link;
    struct osb_rpc_channel *channel;
    grpc_call *call;
    struct osb_rpc_callbacks callbacks;
    void *arg;
    struct osb_defer advance;
    struct rpc_event whole; /* the batch that ends with the status */
    struct rpc_event read;
    int in_flight; /* batches */
    bool is_unary;
    bool is_reading;
    bool has_asked_initial; /* the headers of the answer come with the first read */
    bool is_drained;        /* no further message will come */
    bool has_status;
    bool is_paused;
    bool is_broken; /* the peer broke the protocol; stands for its status */
    bool is_cancelled;
    bool is_ended;
    grpc_byte_buffer *request;
    grpc_byte_buffer *message; /* received, not yet delivered */
    grpc_metadata_array initial;
    grpc_metadata_array trailing;
    grpc_status_code code;
    grpc_slice text;
};

struct osb_rpc_call *rpc_call_of_link(struct osb_list *link)
{
    return osb_container_of(link, struct osb_rpc_call, link);
}

void rpc_call_free(struct osb_rpc_call *call)
{
    osb_list_remove(&call->link);
    osb_defer_cancel(&call->advance);
    grpc_call_unref(call->call);
    rpc_message_clear(&call->request);
    rpc_message_clear(&call->message);
    grpc_metadata_array_destroy(&call->initial);
    grpc_metadata_array_destroy(&call->trailing);
    grpc_slice_unref(call->text);
    free(call);
}

void rpc_call_abandon(struct osb_rpc_call *call)
{
    call->is_cancelled = true;
    grpc_call_cancel(call->call, NULL);
}

static void start_batch(struct osb_rpc_call *call, struct rpc_event *event, const grpc_op *ops,
                        size_t count)
{
    grpc_call_error r;

    rpc_handed_over(event);
    r = grpc_call_start_batch(call->call, ops, count, event, NULL);
    /* Says only whether we broke a rule; what the peer does comes with the event. */
    osb_assert(r == GRPC_CALL_OK);
    call->in_flight++;
    call->channel->in_flight++;
}

static void start_read(struct osb_rpc_call *call)
{
    grpc_op ops[2];
    size_t count = 0;

    call->is_reading = true;
    if (!call->has_asked_initial)
        ops[count++] = rpc_op_recv_initial(&call->initial);
    call->has_asked_initial = true;
    ops[count++] = rpc_op_recv_message(&call->message);
    start_batch(call, &call->read, ops, count);
}

/* A unary call needs no batch but this one, which spares it wake-ups of both threads. */
static void start_whole(struct osb_rpc_call *call)
{
    struct osb_rpc_channel *channel = call->channel;
    grpc_op ops[6] = {
        rpc_op_send_initial(channel->metadata, channel->metadata_count),
        rpc_op_send_message(call->request),
        rpc_op_send_close(),
        rpc_op_recv_status(&call->trailing, &call->code, &call->text),
    };
    size_t count = 4;

    if (call->is_unary) {
        ops[count++] = rpc_op_recv_initial(&call->initial);
        ops[count++] = rpc_op_recv_message(&call->message);
        call->is_drained = true;
    }
    start_batch(call, &call->whole, ops, count);
}

static void deliver_message(struct osb_rpc_call *call)
{
    grpc_byte_buffer *message = osb_take_ptr(call->message);
    grpc_slice bytes;

    if (!rpc_message_read(message, &bytes)) {
        call->is_broken = true;
        grpc_call_cancel(call->call, NULL);
    } else {
        if (call->callbacks.on_message)
            call->callbacks.on_message(call, rpc_slice(&bytes), call->arg);
        grpc_slice_unref(bytes);
    }
    grpc_byte_buffer_destroy(message);
}

static struct osb_slice status_details(const struct osb_rpc_call *call)
{
    for (size_t i = 0; i < call->trailing.count; i++) {
        const grpc_metadata *pair = &call->trailing.metadata[i];

        if (osb_slice_eq_str(rpc_slice(&pair->key), "grpc-status-details-bin"))
            return rpc_slice(&pair->value);
    }
    return OSB_SLICE_NULL;
}

static void end(struct osb_rpc_call *call)
{
    struct osb_rpc_status status = {
        .code = (int)call->code,
        .message = rpc_slice(&call->text),
        .details = status_details(call),
    };

    if (call->is_broken)
        status = (struct osb_rpc_status){
            .code = GRPC_STATUS_INTERNAL,
            .message = OSB_SLICE("the peer answered with no message or an unreadable one")};
    call->is_ended = true;
    call->callbacks.on_end(call, &status, call->arg);
    if (!call->channel->is_closing)
        rpc_call_free(call);
}

static void call_advance(struct osb_rpc_call *call)
{
    struct osb_rpc_channel *channel = call->channel;

    rpc_channel_enter(channel);
    if (call->message && !call->is_paused && !call->is_cancelled && !channel->is_closing)
        deliver_message(call);
    if (channel->is_closing) {
        /* Nothing: all calls are freed together, when the queue is empty. */
    } else if (call->is_cancelled) {
        if (call->in_flight == 0)
            rpc_call_free(call);
    } else if (call->has_status && call->is_drained && !call->message && call->in_flight == 0) {
        end(call);
    } else if (!call->is_drained && !call->message && !call->is_paused && !call->is_reading) {
        start_read(call);
    }
    rpc_channel_leave(channel);
}

static void on_deferred(struct osb_defer *defer)
{
    call_advance(defer->arg);
}

static void batch_over(struct osb_rpc_call *call)
{
    call->in_flight--;
    call->channel->in_flight--;
}

static void on_read(struct rpc_event *event)
{
    struct osb_rpc_call *call = event->arg;

    batch_over(call);
    call->is_reading = false;
    if (!call->message)
        call->is_drained = true;
    call_advance(call);
}

static void on_whole(struct rpc_event *event)
{
    struct osb_rpc_call *call = event->arg;

    batch_over(call);
    call->has_status = true;
    if (call->is_unary && call->code == GRPC_STATUS_OK && !call->message)
        call->is_broken = true;
    call_advance(call);
}

static grpc_call *create_call(struct osb_rpc_channel *channel, const char *method,
                              uint64_t timeout_ms)
{
    gpr_timespec deadline = gpr_inf_future(GPR_CLOCK_MONOTONIC);
    grpc_slice path = grpc_slice_from_copied_string(method);
    grpc_call *call;

    if (timeout_ms > 0 && timeout_ms <= INT64_MAX)
        deadline = gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                                gpr_time_from_millis((int64_t)timeout_ms, GPR_TIMESPAN));
    call = grpc_channel_create_call(channel->channel, NULL, GRPC_PROPAGATE_DEFAULTS, channel->cq,
                                    path, NULL, deadline, NULL);
    grpc_slice_unref(path);
    return call;
}

static int start(struct osb_rpc_channel *channel, bool is_unary, const char *method,
                 struct osb_slice request, uint64_t timeout_ms,
                 const struct osb_rpc_callbacks *callbacks, void *arg, struct osb_rpc_call **ret,
                 struct osb_err *err)
{
    struct osb_rpc_call *call;

    osb_assert(callbacks->on_end && method[0] == '/' && !channel->is_closing);
    if (request.len > OSB_RPC_MAX_MESSAGE)
        return osb_fail(err, -OSB_E_TOO_LARGE, "request of %zu bytes, at most %d", request.len,
                        OSB_RPC_MAX_MESSAGE);
    call = osb_new(struct osb_rpc_call);
    call->channel = channel;
    call->callbacks = *callbacks;
    call->arg = arg;
    call->text = grpc_empty_slice();
    call->request = rpc_message_new(request);
    call->is_unary = is_unary;
    grpc_metadata_array_init(&call->initial);
    grpc_metadata_array_init(&call->trailing);
    osb_defer_init(&call->advance, channel->loop, on_deferred, call);
    call->whole =
        (struct rpc_event){.mailbox = &channel->mailbox, .on_done = on_whole, .arg = call};
    call->read = (struct rpc_event){.mailbox = &channel->mailbox, .on_done = on_read, .arg = call};
    osb_list_append(&channel->calls, &call->link);
    call->call = create_call(channel, method, timeout_ms);
    start_whole(call);
    if (!is_unary)
        start_read(call);
    if (ret)
        *ret = call;
    return 0;
}

int osb_rpc_unary(struct osb_rpc_channel *channel, const char *method, struct osb_slice request,
                  uint64_t timeout_ms, const struct osb_rpc_callbacks *callbacks, void *arg,
                  struct osb_rpc_call **ret, struct osb_err *err)
{
    return start(channel, true, method, request, timeout_ms, callbacks, arg, ret, err);
}

int osb_rpc_server_stream(struct osb_rpc_channel *channel, const char *method,
                          struct osb_slice request, uint64_t timeout_ms,
                          const struct osb_rpc_callbacks *callbacks, void *arg,
                          struct osb_rpc_call **ret, struct osb_err *err)
{
    return start(channel, false, method, request, timeout_ms, callbacks, arg, ret, err);
}

void osb_rpc_call_pause(struct osb_rpc_call *call)
{
    call->is_paused = true;
}

void osb_rpc_call_resume(struct osb_rpc_call *call)
{
    call->is_paused = false;
    osb_defer_post(&call->advance);
}

void osb_rpc_call_cancel(struct osb_rpc_call *call)
{
    if (call->is_ended || call->is_cancelled)
        return;
    rpc_call_abandon(call);
    osb_defer_post(&call->advance);
}
