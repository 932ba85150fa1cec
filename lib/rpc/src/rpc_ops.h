// SPDX-License-Identifier: Apache-2.0
/* The operations that batches are made of, and messages as bytes. */
#ifndef RPC_OPS_H
#define RPC_OPS_H

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <osb/slice.h>
#include <stdbool.h>

/* Borrowed. */
static inline struct osb_slice rpc_slice(const grpc_slice *slice)
{
    return osb_slice(GRPC_SLICE_START_PTR(*slice), GRPC_SLICE_LENGTH(*slice));
}

/* A message of its own with a copy of BYTES. */
grpc_byte_buffer *rpc_message_new(struct osb_slice bytes);
/* The bytes of MESSAGE in one piece, to be unreferenced; false when they cannot be had. */
bool rpc_message_read(grpc_byte_buffer *message, grpc_slice *ret_bytes);
/* Frees *MESSAGE, which may be NULL, and forgets it. */
void rpc_message_clear(grpc_byte_buffer **message);

static inline grpc_arg rpc_arg(char *key, int value)
{
    return (grpc_arg){.type = GRPC_ARG_INTEGER, .key = key, .value.integer = value};
}

static inline grpc_op rpc_op_send_initial(grpc_metadata *pairs, size_t count)
{
    return (grpc_op){.op = GRPC_OP_SEND_INITIAL_METADATA,
                     .data.send_initial_metadata = {.count = count, .metadata = pairs}};
}

static inline grpc_op rpc_op_send_message(grpc_byte_buffer *message)
{
    return (grpc_op){.op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = message};
}

static inline grpc_op rpc_op_send_close(void)
{
    return (grpc_op){.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT};
}

/* TEXT may be NULL and is read when the batch is started. */
static inline grpc_op rpc_op_send_status(grpc_status_code code, grpc_slice *text,
                                         grpc_metadata *pairs, size_t count)
{
    return (grpc_op){.op = GRPC_OP_SEND_STATUS_FROM_SERVER,
                     .data.send_status_from_server = {.status = code,
                                                      .status_details = text,
                                                      .trailing_metadata = pairs,
                                                      .trailing_metadata_count = count}};
}

static inline grpc_op rpc_op_recv_initial(grpc_metadata_array *pairs)
{
    return (grpc_op){.op = GRPC_OP_RECV_INITIAL_METADATA,
                     .data.recv_initial_metadata.recv_initial_metadata = pairs};
}

static inline grpc_op rpc_op_recv_message(grpc_byte_buffer **message)
{
    return (grpc_op){.op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = message};
}

static inline grpc_op rpc_op_recv_status(grpc_metadata_array *pairs, grpc_status_code *code,
                                         grpc_slice *text)
{
    return (grpc_op){.op = GRPC_OP_RECV_STATUS_ON_CLIENT,
                     .data.recv_status_on_client = {
                         .trailing_metadata = pairs, .status = code, .status_details = text}};
}

static inline grpc_op rpc_op_recv_close(int *was_cancelled)
{
    return (grpc_op){.op = GRPC_OP_RECV_CLOSE_ON_SERVER,
                     .data.recv_close_on_server.cancelled = was_cancelled};
}

#endif
