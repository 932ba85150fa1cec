// SPDX-License-Identifier: Apache-2.0
#include "grpc_caller.h"

#include <fcntl.h>
#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/clock.h>
#include <osb/err.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    CALLER_MAX_BYTES = 64 * 1024 * 1024,
    CALLER_BOUND_MS = 20000, /* of every wait; sanitizers on a busy machine are slow */
};

struct grpc_caller {
    struct osb_loop *loop;
    grpc_completion_queue *cq;
    grpc_channel *channel;
    int fd; /* a second descriptor of the connection */
    struct osb_list calls;
};

static grpc_arg integer(char *key, int value)
{
    return (grpc_arg){.type = GRPC_ARG_INTEGER, .key = key, .value.integer = value};
}

struct grpc_caller *grpc_caller_new(struct osb_loop *loop, int fd)
{
    struct grpc_caller *caller = osb_new(struct grpc_caller);
    grpc_channel_credentials *plain;
    grpc_arg args[] = {
        integer(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, CALLER_MAX_BYTES),
        integer(GRPC_ARG_MAX_METADATA_SIZE, CALLER_MAX_BYTES),
    };
    grpc_channel_args list = {.num_args = sizeof(args) / sizeof(*args), .args = args};

    grpc_init();
    plain = grpc_insecure_credentials_create();
    caller->loop = loop;
    osb_list_init(&caller->calls);
    caller->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    osb_assert(caller->fd >= 0);
    caller->cq = grpc_completion_queue_create_for_next(NULL);
    caller->channel = grpc_channel_create_from_fd("test", fd, plain, &list);
    grpc_channel_credentials_release(plain);
    return caller;
}

void grpc_caller_hang_up(struct grpc_caller *caller)
{
    osb_assert(shutdown(caller->fd, SHUT_RDWR) == 0);
}

void grpc_caller_free(struct grpc_caller *caller)
{
    struct caller_call *call;

    while ((call = osb_list_first(&caller->calls, struct caller_call, link)))
        caller_free(call);
    grpc_channel_destroy(caller->channel);
    grpc_completion_queue_shutdown(caller->cq);
    while (grpc_completion_queue_next(caller->cq, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL).type !=
           GRPC_QUEUE_SHUTDOWN)
        continue;
    grpc_completion_queue_destroy(caller->cq);
    grpc_shutdown();
    close(caller->fd);
    free(caller);
}

uint64_t grpc_caller_bound_ns(void)
{
    return osb_monotonic_ns() + CALLER_BOUND_MS * OSB_NS_PER_MS;
}

void grpc_caller_turn(struct grpc_caller *caller, uint64_t end_ns)
{
    gpr_timespec soon =
        gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(1, GPR_TIMESPAN));
    grpc_event event;

    osb_assert(osb_monotonic_ns() < end_ns);
    osb_loop_turn(caller->loop, 0);
    event = grpc_completion_queue_next(caller->cq, soon, NULL);
    if (event.type == GRPC_OP_COMPLETE) {
        struct caller_batch *batch = event.tag;

        batch->is_pending = false;
        batch->is_ok = event.success;
    }
}

static void start(struct caller_call *call, struct caller_batch *batch, grpc_op op)
{
    osb_assert(!batch->is_pending);
    batch->is_pending = true;
    osb_assert(grpc_call_start_batch(call->call, &op, 1, batch, NULL) == GRPC_CALL_OK);
}

struct caller_call *caller_open(struct grpc_caller *caller, const char *method, uint64_t timeout_ms,
                                grpc_metadata *metadata, size_t count)
{
    struct caller_call *call = osb_new(struct caller_call);
    grpc_slice path = grpc_slice_from_copied_string(method);
    grpc_slice host = grpc_slice_from_static_string("some.host");
    gpr_timespec deadline = gpr_inf_future(GPR_CLOCK_MONOTONIC);

    if (timeout_ms > 0)
        deadline = gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                                gpr_time_from_millis((int64_t)timeout_ms, GPR_TIMESPAN));
    call->caller = caller;
    osb_list_append(&caller->calls, &call->link);
    call->call = grpc_channel_create_call(caller->channel, NULL, GRPC_PROPAGATE_DEFAULTS,
                                          caller->cq, path, &host, deadline, NULL);
    grpc_slice_unref(path);
    call->text = grpc_empty_slice();
    grpc_metadata_array_init(&call->initial);
    grpc_metadata_array_init(&call->trailing);
    start(call, &call->status,
          (grpc_op){.op = GRPC_OP_RECV_STATUS_ON_CLIENT,
                    .data.recv_status_on_client = {.trailing_metadata = &call->trailing,
                                                   .status = &call->code,
                                                   .status_details = &call->text}});
    start(call, &call->opened,
          (grpc_op){.op = GRPC_OP_SEND_INITIAL_METADATA,
                    .data.send_initial_metadata = {.count = count, .metadata = metadata}});
    start(call, &call->headers,
          (grpc_op){.op = GRPC_OP_RECV_INITIAL_METADATA,
                    .data.recv_initial_metadata.recv_initial_metadata = &call->initial});
    return call;
}

bool caller_wait(struct caller_call *call, struct caller_batch *batch)
{
    grpc_caller_until(call->caller, !batch->is_pending);
    return batch->is_ok;
}

void caller_cancel(struct caller_call *call)
{
    grpc_call_cancel(call->call, NULL);
}

void caller_free(struct caller_call *call)
{
    caller_cancel(call);
    grpc_caller_until(call->caller, !call->opened.is_pending && !call->headers.is_pending &&
                                        !call->sent.is_pending && !call->closed.is_pending &&
                                        !call->received.is_pending && !call->status.is_pending);
    osb_list_remove(&call->link);
    grpc_call_unref(call->call);
    if (call->request)
        grpc_byte_buffer_destroy(call->request);
    if (call->answer)
        grpc_byte_buffer_destroy(call->answer);
    grpc_metadata_array_destroy(&call->initial);
    grpc_metadata_array_destroy(&call->trailing);
    grpc_slice_unref(call->text);
    free(call);
}

void caller_start_send(struct caller_call *call, struct osb_slice message)
{
    grpc_slice bytes = grpc_slice_from_copied_buffer(message.len ? message.data : "", message.len);

    if (call->request)
        grpc_byte_buffer_destroy(call->request);
    call->request = grpc_raw_byte_buffer_create(&bytes, 1);
    grpc_slice_unref(bytes);
    start(call, &call->sent,
          (grpc_op){.op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = call->request});
}

bool caller_send(struct caller_call *call, struct osb_slice message)
{
    caller_start_send(call, message);
    return caller_wait(call, &call->sent);
}

bool caller_close(struct caller_call *call)
{
    start(call, &call->closed, (grpc_op){.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT});
    return caller_wait(call, &call->closed);
}

void caller_start_receive(struct caller_call *call)
{
    if (call->answer)
        grpc_byte_buffer_destroy(osb_take_ptr(call->answer));
    start(call, &call->received,
          (grpc_op){.op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &call->answer});
}

bool caller_receive(struct caller_call *call, struct osb_buf *ret)
{
    grpc_byte_buffer_reader reader;
    grpc_slice bytes;

    if (!call->received.is_pending && !call->answer)
        caller_start_receive(call);
    caller_wait(call, &call->received);
    if (!call->answer)
        return false;
    osb_assert(grpc_byte_buffer_reader_init(&reader, call->answer));
    bytes = grpc_byte_buffer_reader_readall(&reader);
    osb_buf_clear(ret);
    osb_buf_append(ret, GRPC_SLICE_START_PTR(bytes), GRPC_SLICE_LENGTH(bytes));
    grpc_slice_unref(bytes);
    grpc_byte_buffer_reader_destroy(&reader);
    grpc_byte_buffer_destroy(osb_take_ptr(call->answer));
    return true;
}

int caller_status(struct caller_call *call)
{
    _cleanup_buf_ struct osb_buf dropped = {0};

    /* The library tells the status only when no message is left in front of it. */
    while (call->status.is_pending && caller_receive(call, &dropped))
        continue;
    caller_wait(call, &call->status);
    return (int)call->code;
}

static struct osb_slice slice_of(const grpc_slice *slice)
{
    return osb_slice(GRPC_SLICE_START_PTR(*slice), GRPC_SLICE_LENGTH(*slice));
}

struct osb_slice caller_text(const struct caller_call *call)
{
    return slice_of(&call->text);
}

struct osb_slice caller_metadata(const grpc_metadata_array *pairs, const char *name, int index)
{
    for (size_t i = 0; i < pairs->count; i++)
        if (osb_slice_eq_str(slice_of(&pairs->metadata[i].key), name) && index-- == 0)
            return slice_of(&pairs->metadata[i].value);
    return OSB_SLICE_NULL;
}

int caller_unary(struct grpc_caller *caller, const char *method, struct osb_slice request,
                 struct osb_buf *ret)
{
    struct caller_call *call = caller_open(caller, method, 0, NULL, 0);
    _cleanup_buf_ struct osb_buf answer = {0};
    int code;

    caller_send(call, request);
    caller_close(call);
    caller_receive(call, ret ? ret : &answer);
    code = caller_status(call);
    caller_free(call);
    return code;
}
