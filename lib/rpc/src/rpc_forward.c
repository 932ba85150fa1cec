// SPDX-License-Identifier: Apache-2.0
#include "rpc_forward.h"

#include "rpc_channel.h"
#include "rpc_ops.h"
#include "rpc_tsan.h"

#include <osb/clock.h>
#include <stdlib.h>

enum {
    /* Memory is given back when idle after a message of this size, or so many calls at once. */
    TRIM_MESSAGE_BYTES = 1024 * 1024,
    TRIM_CALLS = 64,
    /* A client's going so near to its deadline is the deadline: that much, and a part of the call's
     * duration. */
    DEADLINE_SLACK_MS = 20,
    DEADLINE_SLACK_PART = 50,
};

static void on_closed(struct rpc_event *event)
{
    struct rpc_forward *forward = event->arg;

    if (forward->was_cancelled)
        rpc_forward_give_up(forward);
    rpc_forward_batch_over(forward);
}

void rpc_forward_init(struct rpc_forward *forward, struct osb_rpc_server *server,
                      const struct rpc_inbound *inbound, enum osb_rpc_route route,
                      bool (*is_over)(const struct rpc_forward *forward))
{
    const grpc_op close = rpc_op_recv_close(&forward->was_cancelled);

    osb_assert(server->options.backend);
    rpc_server_ref(server);
    forward->server = server;
    forward->route = route;
    forward->start_ns = osb_monotonic_ns();
    forward->in = *inbound;
    forward->is_over = is_over;
    forward->text = grpc_empty_slice();
    grpc_metadata_array_init(&forward->initial);
    grpc_metadata_array_init(&forward->trailing);
    rpc_forward_filter_metadata(&forward->in.metadata);
    if (++server->forwarded >= TRIM_CALLS)
        rpc_queue_trim_when_idle();
    forward->closed = (struct rpc_event){.on_done = on_closed, .arg = forward};
    rpc_forward_start(forward, forward->in.call, &forward->closed, &close, 1);
}

void rpc_forward_open(struct rpc_forward *forward)
{
    const grpc_call_details *details = &forward->in.details;

    forward->out = grpc_channel_create_call(
        forward->server->options.backend->channel, NULL, GRPC_PROPAGATE_DEFAULTS,
        forward->server->cq, details->method, &details->host, details->deadline, NULL);
}

void rpc_forward_start(struct rpc_forward *forward, grpc_call *call, struct rpc_event *event,
                       const grpc_op *ops, size_t count)
{
    grpc_call_error r;

    rpc_handed_over(event);
    r = grpc_call_start_batch(call, ops, count, event, NULL);
    /* Says only whether we broke a rule; what the peer does comes with the event. */
    osb_assert(r == GRPC_CALL_OK);
    forward->in_flight++;
}

void rpc_forward_give_up(struct rpc_forward *forward)
{
    forward->is_client_gone = true;
    if (forward->out)
        grpc_call_cancel(forward->out, NULL);
}

static void count_bytes(uint64_t *total, grpc_byte_buffer *message)
{
    size_t len = grpc_byte_buffer_length(message);

    *total += len;
    if (len >= TRIM_MESSAGE_BYTES)
        rpc_queue_trim_when_idle();
}

void rpc_forward_count_request(struct rpc_forward *forward)
{
    count_bytes(&forward->request_bytes, forward->request);
}

void rpc_forward_count_answer(struct rpc_forward *forward)
{
    count_bytes(&forward->response_bytes, forward->answer);
}

/*
 * The library checks what it sends more strictly than what it receives, and refuses the batch. It
 * sends a user-agent of its own.
 */
static bool may_be_sent(const grpc_metadata *pair)
{
    if (!grpc_header_key_is_legal(pair->key))
        return false;
    if (!grpc_is_binary_header(pair->key) && !grpc_header_nonbin_value_is_legal(pair->value))
        return false;
    return !osb_slice_eq_str(rpc_slice(&pair->key), "user-agent");
}

void rpc_forward_filter_metadata(grpc_metadata_array *pairs)
{
    size_t kept = 0;

    /* The bytes are of the call; the array only points to them. */
    for (size_t i = 0; i < pairs->count; i++)
        if (may_be_sent(&pairs->metadata[i]))
            pairs->metadata[kept++] = pairs->metadata[i];
    pairs->count = kept;
}

/*
 * A client ends its call itself when its deadline passes, which looks like any other going. Ours
 * is later: what is left is rounded up on the wire, by one hundredth at most.
 */
static bool is_deadline_over(const struct rpc_forward *forward)
{
    gpr_timespec deadline = forward->in.details.deadline;
    gpr_timespec now = gpr_now(deadline.clock_type);
    int64_t left_ms;

    if (gpr_time_cmp(deadline, gpr_inf_future(deadline.clock_type)) == 0)
        return false;
    left_ms = gpr_time_to_millis(gpr_time_sub(deadline, now));
    return left_ms <= DEADLINE_SLACK_MS + (int64_t)((osb_monotonic_ns() - forward->start_ns) /
                                                    OSB_NS_PER_MS / DEADLINE_SLACK_PART);
}

static void report(const struct rpc_forward *forward)
{
    struct osb_rpc_server *server = forward->server;
    struct osb_rpc_done done = {
        .method = rpc_slice(&forward->in.details.method),
        .route = forward->route,
        .code = (int)forward->code,
        .message = rpc_slice(&forward->text),
        .duration_ns = osb_monotonic_ns() - forward->start_ns,
        .request_bytes = forward->request_bytes,
        .response_bytes = forward->response_bytes,
    };

    if (!server->options.on_done)
        return;
    if (!forward->is_answered) {
        bool is_late = is_deadline_over(forward);

        done.code = is_late ? GRPC_STATUS_DEADLINE_EXCEEDED : GRPC_STATUS_CANCELLED;
        done.message = is_late ? OSB_SLICE("the client's deadline passed")
                               : OSB_SLICE("the client cancelled or went away");
    }
    server->options.on_done(&done, server->options.arg);
}

void rpc_forward_batch_over(struct rpc_forward *forward)
{
    struct osb_rpc_server *server = forward->server;

    if (--forward->in_flight > 0)
        return;
    osb_assert(forward->is_over(forward));
    report(forward);
    server->forwarded--;
    rpc_message_clear(&forward->request);
    rpc_message_clear(&forward->answer);
    grpc_metadata_array_destroy(&forward->initial);
    grpc_metadata_array_destroy(&forward->trailing);
    grpc_slice_unref(forward->text);
    if (forward->out)
        grpc_call_unref(forward->out);
    rpc_inbound_done(&forward->in);
    free(forward);
    rpc_server_unref(server);
}
