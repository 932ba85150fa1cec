// SPDX-License-Identifier: Apache-2.0
#include "grpc_stopwatch.h"

#include <grpc/byte_buffer.h>
#include <grpc/grpc_security.h>
#include <osb/alloc.h>
#include <osb/clock.h>
#include <osb/err.h>
#include <stdio.h>
#include <stdlib.h>

enum { STOPWATCH_MAX_BYTES = 64 * 1024 * 1024 };

struct grpc_stopwatch {
    grpc_completion_queue *cq;
    grpc_channel *channel;
};

struct grpc_stopwatch *grpc_stopwatch_new(const char *target)
{
    struct grpc_stopwatch *client = osb_new(struct grpc_stopwatch);
    grpc_channel_credentials *plain;
    grpc_arg large = {.type = GRPC_ARG_INTEGER,
                      .key = GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH,
                      .value.integer = STOPWATCH_MAX_BYTES};
    grpc_channel_args args = {.num_args = 1, .args = &large};

    grpc_init();
    plain = grpc_insecure_credentials_create();
    client->cq = grpc_completion_queue_create_for_next(NULL);
    client->channel = grpc_channel_create(target, plain, &args);
    grpc_channel_credentials_release(plain);
    return client;
}

void grpc_stopwatch_free(struct grpc_stopwatch *client)
{
    grpc_channel_destroy(client->channel);
    grpc_completion_queue_shutdown(client->cq);
    while (grpc_completion_queue_next(client->cq, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL).type !=
           GRPC_QUEUE_SHUTDOWN)
        continue;
    grpc_completion_queue_destroy(client->cq);
    grpc_shutdown();
    free(client);
}

static grpc_call *create_call(struct grpc_stopwatch *client, const char *method)
{
    return grpc_channel_create_call(client->channel, NULL, GRPC_PROPAGATE_DEFAULTS, client->cq,
                                    grpc_slice_from_static_string(method), NULL,
                                    gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
}

static void run_batch(struct grpc_stopwatch *client, grpc_call *call, const grpc_op *ops,
                      size_t count)
{
    grpc_event event;

    osb_assert(grpc_call_start_batch(call, ops, count, call, NULL) == GRPC_CALL_OK);
    event = grpc_completion_queue_next(client->cq, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
    osb_assert(event.tag == call);
}

/* Sending empties a message, so each call has one of its own. */
static grpc_byte_buffer *message_of(size_t len)
{
    char *bytes = osb_calloc(1, len);
    grpc_slice slice = grpc_slice_from_copied_buffer(bytes, len);
    grpc_byte_buffer *message = grpc_raw_byte_buffer_create(&slice, 1);

    grpc_slice_unref(slice);
    free(bytes);
    return message;
}

static void check(const char *method, grpc_status_code code, const grpc_slice *text,
                  grpc_byte_buffer *answer, size_t len)
{
    if (code == GRPC_STATUS_OK && answer && grpc_byte_buffer_length(answer) == len)
        return;
    fprintf(stderr, "%s: gRPC status %d: %.*s\n", method, (int)code, (int)GRPC_SLICE_LENGTH(*text),
            (const char *)GRPC_SLICE_START_PTR(*text));
    exit(1);
}

double grpc_stopwatch_echo(struct grpc_stopwatch *client, const char *method, size_t len)
{
    grpc_byte_buffer *request = message_of(len), *answer = NULL;
    uint64_t start_ns = osb_monotonic_ns(), end_ns;
    grpc_call *call = create_call(client, method);
    grpc_metadata_array initial, trailing;
    grpc_status_code code = GRPC_STATUS_UNKNOWN;
    grpc_slice text = grpc_empty_slice();
    const grpc_op ops[] = {{.op = GRPC_OP_SEND_INITIAL_METADATA},
                           {.op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = request},
                           {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT},
                           {.op = GRPC_OP_RECV_INITIAL_METADATA,
                            .data.recv_initial_metadata.recv_initial_metadata = &initial},
                           {.op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &answer},
                           {.op = GRPC_OP_RECV_STATUS_ON_CLIENT,
                            .data.recv_status_on_client = {.trailing_metadata = &trailing,
                                                           .status = &code,
                                                           .status_details = &text}}};

    grpc_metadata_array_init(&initial);
    grpc_metadata_array_init(&trailing);
    run_batch(client, call, ops, sizeof(ops) / sizeof(*ops));
    end_ns = osb_monotonic_ns();
    check(method, code, &text, answer, len);
    grpc_byte_buffer_destroy(request);
    grpc_byte_buffer_destroy(answer);
    grpc_metadata_array_destroy(&initial);
    grpc_metadata_array_destroy(&trailing);
    grpc_slice_unref(text);
    grpc_call_unref(call);
    return (double)(end_ns - start_ns) / 1e3;
}

grpc_call **grpc_stopwatch_open(struct grpc_stopwatch *client, const char *method, int count,
                                size_t len)
{
    grpc_call **calls = osb_calloc((size_t)count, sizeof(grpc_call *));

    for (int i = 0; i < count; i++) {
        grpc_byte_buffer *request = message_of(len);
        const grpc_op ops[] = {
            {.op = GRPC_OP_SEND_INITIAL_METADATA},
            {.op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = request}};

        calls[i] = create_call(client, method);
        run_batch(client, calls[i], ops, 2);
        grpc_byte_buffer_destroy(request);
    }
    return calls;
}

void grpc_stopwatch_close(grpc_call **calls, int count)
{
    for (int i = 0; i < count; i++) {
        grpc_call_cancel(calls[i], NULL);
        grpc_call_unref(calls[i]);
    }
    free(calls);
}
