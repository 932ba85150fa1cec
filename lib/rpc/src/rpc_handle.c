// SPDX-License-Identifier: Apache-2.0
/*
 * A call that the loop handles. The queue's thread only makes it and hands it over; from then on it
 * is of the loop, which starts its batches and hears of their ends. From the hand-over to its end
 * the batch `closed` is in flight, and the call lives until that one is over and the owner has
 * finished it, whichever comes last.
 */
#include "rpc_ops.h"
#include "rpc_server.h"
#include "rpc_tsan.h"

#include <osb/alloc.h>
#include <osb/clock.h>
#include <stdlib.h>

struct osb_rpc_server_call {
    struct osb_list link;
    struct osb_rpc_server *server;
    struct rpc_inbound in;
    struct rpc_event arrived;
    struct rpc_event closed;
    struct rpc_event read;
    struct rpc_event written;
    struct rpc_event ended;
    int in_flight;     /* batches */
    int was_cancelled; /* says the library, when `closed` fires */
    bool is_reading;
    bool is_writing;
    bool has_sent_initial;
    bool is_cancelled;
    bool is_finished; /* by its owner */
    bool is_ended;    /* the status is on its way, or nobody would get it */
    grpc_byte_buffer *request;
    grpc_byte_buffer *answer;
    grpc_status_code code;
    grpc_slice text;
    grpc_slice details;
    void (*on_read)(struct osb_rpc_server_call *call, struct osb_slice message, bool is_end,
                    void *arg);
    void *read_arg;
    void (*on_written)(struct osb_rpc_server_call *call, void *arg);
    void *write_arg;
    void (*on_cancel)(struct osb_rpc_server_call *call, void *arg);
    void *cancel_arg;
    struct osb_defer cancel;
};

static void free_if_over(struct osb_rpc_server_call *call)
{
    struct osb_rpc_server *server = call->server;

    if (call->in_flight > 0 || !call->is_finished)
        return;
    osb_list_remove(&call->link);
    osb_defer_cancel(&call->cancel);
    rpc_message_clear(&call->request);
    rpc_message_clear(&call->answer);
    grpc_slice_unref(call->text);
    grpc_slice_unref(call->details);
    rpc_inbound_done(&call->in);
    free(call);
    rpc_server_unref(server);
}

/* Must be the last thing an event does. */
static void batch_over(struct osb_rpc_server_call *call)
{
    call->in_flight--;
    free_if_over(call);
}

static void start(struct osb_rpc_server_call *call, struct rpc_event *event, const grpc_op *ops,
                  size_t count)
{
    grpc_call_error r;

    rpc_handed_over(event);
    r = grpc_call_start_batch(call->in.call, ops, count, event, NULL);
    osb_assert(r == GRPC_CALL_OK);
    call->in_flight++;
}

/* Sends the status once it is there and nothing is in front of it. */
static void end_if_due(struct osb_rpc_server_call *call)
{
    grpc_metadata details = {.key = grpc_slice_from_static_string("grpc-status-details-bin"),
                             .value = call->details};
    grpc_op ops[2];
    size_t count = 0;

    if (!call->is_finished || call->is_ended || call->is_writing)
        return;
    call->is_ended = true;
    if (call->is_cancelled)
        return;
    if (!call->has_sent_initial)
        ops[count++] = rpc_op_send_initial(NULL, 0);
    ops[count++] = rpc_op_send_status(call->code, &call->text, &details,
                                      GRPC_SLICE_LENGTH(call->details) > 0 ? 1 : 0);
    start(call, &call->ended, ops, count);
}

static void run_cancel(struct osb_rpc_server_call *call)
{
    if (call->on_cancel && !call->is_finished)
        call->on_cancel(call, call->cancel_arg);
}

static void on_cancel_deferred(struct osb_defer *defer)
{
    struct osb_rpc_server_call *call = defer->arg;
    struct osb_rpc_server *server = call->server;

    rpc_server_enter(server);
    run_cancel(call);
    rpc_server_leave(server);
}

static void on_closed(struct rpc_event *event)
{
    struct osb_rpc_server_call *call = event->arg;

    if (call->was_cancelled) {
        call->is_cancelled = true;
        if (call->on_cancel)
            osb_defer_post(&call->cancel);
    }
    batch_over(call);
}

static void on_read(struct rpc_event *event)
{
    struct osb_rpc_server_call *call = event->arg;
    bool is_end = !call->request;
    grpc_slice bytes = grpc_empty_slice();

    call->is_reading = false;
    /* No message is the half-close only if the client did not die: that looks the same. */
    if (is_end && grpc_call_failed_before_recv_message(call->in.call)) {
        batch_over(call);
        return;
    }
    if (!is_end && !rpc_message_read(call->request, &bytes)) {
        grpc_call_cancel_with_status(call->in.call, GRPC_STATUS_INVALID_ARGUMENT,
                                     "the request cannot be decompressed", NULL);
    } else {
        rpc_message_clear(&call->request);
        if (!call->is_finished)
            call->on_read(call, rpc_slice(&bytes), is_end, call->read_arg);
        grpc_slice_unref(bytes);
    }
    batch_over(call);
}

static void on_written(struct rpc_event *event)
{
    struct osb_rpc_server_call *call = event->arg;

    call->is_writing = false;
    rpc_message_clear(&call->answer);
    if (event->is_ok && call->on_written && !call->is_finished)
        call->on_written(call, call->write_arg);
    end_if_due(call);
    batch_over(call);
}

static void on_ended(struct rpc_event *event)
{
    batch_over(event->arg);
}

/* The loop has it. */
static void on_arrived(struct rpc_event *event)
{
    struct osb_rpc_server_call *call = event->arg;
    struct osb_rpc_server *server = call->server;
    const grpc_op close = rpc_op_recv_close(&call->was_cancelled);

    osb_defer_init(&call->cancel, server->loop, on_cancel_deferred, call);
    if (server->is_closing) {
        call->is_finished = true;
        free_if_over(call);
        return;
    }
    osb_list_append(&server->handled, &call->link);
    start(call, &call->closed, &close, 1);
    server->options.on_call(call, rpc_slice(&call->in.details.method), server->options.arg);
}

static struct rpc_event event_of(struct osb_rpc_server_call *call,
                                 void (*on_done)(struct rpc_event *event))
{
    return (struct rpc_event){.mailbox = &call->server->mailbox, .on_done = on_done, .arg = call};
}

void rpc_handle_begin(struct osb_rpc_server *server, const struct rpc_inbound *inbound)
{
    struct osb_rpc_server_call *call = osb_new(struct osb_rpc_server_call);

    osb_assert(server->options.on_call);
    rpc_server_ref(server);
    call->server = server;
    call->in = *inbound;
    call->text = grpc_empty_slice();
    call->details = grpc_empty_slice();
    call->arrived = event_of(call, on_arrived);
    call->closed = event_of(call, on_closed);
    call->read = event_of(call, on_read);
    call->written = event_of(call, on_written);
    call->ended = event_of(call, on_ended);
    rpc_mailbox_push(&server->mailbox, &call->arrived);
}

void rpc_handle_abandon_all(struct osb_rpc_server *server)
{
    struct osb_rpc_server_call *call, *next;

    osb_list_foreach_safe (call, next, &server->handled, link) {
        call->is_finished = true;
        call->is_ended = true;
        osb_defer_cancel(&call->cancel);
        free_if_over(call);
    }
}

void osb_rpc_server_call_read(struct osb_rpc_server_call *call,
                              void (*fn)(struct osb_rpc_server_call *call, struct osb_slice message,
                                         bool is_end, void *arg),
                              void *arg)
{
    const grpc_op op = rpc_op_recv_message(&call->request);

    osb_assert(!call->is_finished && !call->is_reading);
    call->on_read = fn;
    call->read_arg = arg;
    call->is_reading = true;
    start(call, &call->read, &op, 1);
}

void osb_rpc_server_call_write(struct osb_rpc_server_call *call, struct osb_slice message,
                               void (*fn)(struct osb_rpc_server_call *call, void *arg), void *arg)
{
    grpc_op ops[2];
    size_t count = 0;

    osb_assert(!call->is_finished && !call->is_writing);
    call->on_written = fn;
    call->write_arg = arg;
    call->is_writing = true;
    call->answer = rpc_message_new(message);
    if (!call->has_sent_initial)
        ops[count++] = rpc_op_send_initial(NULL, 0);
    call->has_sent_initial = true;
    ops[count++] = rpc_op_send_message(call->answer);
    start(call, &call->written, ops, count);
}

void osb_rpc_server_call_finish(struct osb_rpc_server_call *call,
                                const struct osb_rpc_status *status)
{
    osb_assert(!call->is_finished);
    call->is_finished = true;
    call->code = (grpc_status_code)status->code;
    call->text = grpc_slice_from_copied_buffer(status->message.len ? status->message.data : "",
                                               status->message.len);
    call->details = grpc_slice_from_copied_buffer(status->details.len ? status->details.data : "",
                                                  status->details.len);
    osb_defer_cancel(&call->cancel);
    end_if_due(call);
    free_if_over(call);
}

void osb_rpc_server_call_on_cancel(struct osb_rpc_server_call *call,
                                   void (*fn)(struct osb_rpc_server_call *call, void *arg),
                                   void *arg)
{
    osb_assert(!call->is_finished);
    call->on_cancel = fn;
    call->cancel_arg = arg;
    if (call->is_cancelled && fn)
        osb_defer_post(&call->cancel);
}

uint64_t osb_rpc_server_call_deadline_ns(const struct osb_rpc_server_call *call)
{
    gpr_timespec deadline = gpr_convert_clock_type(call->in.details.deadline, GPR_CLOCK_MONOTONIC);

    if (gpr_time_cmp(deadline, gpr_inf_future(GPR_CLOCK_MONOTONIC)) == 0)
        return UINT64_MAX;
    if (deadline.tv_sec < 0)
        return 0;
    return (uint64_t)deadline.tv_sec * OSB_NS_PER_S + (uint64_t)deadline.tv_nsec;
}

bool osb_rpc_server_call_metadata(const struct osb_rpc_server_call *call, size_t index,
                                  struct osb_slice *ret_name, struct osb_slice *ret_value)
{
    if (index >= call->in.metadata.count)
        return false;
    *ret_name = rpc_slice(&call->in.metadata.metadata[index].key);
    *ret_value = rpc_slice(&call->in.metadata.metadata[index].value);
    return true;
}
