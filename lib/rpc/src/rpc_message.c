// SPDX-License-Identifier: Apache-2.0
#include "rpc_ops.h"

#include <grpc/byte_buffer_reader.h>

grpc_byte_buffer *rpc_message_new(struct osb_slice bytes)
{
    grpc_slice slice = grpc_slice_from_copied_buffer(bytes.len ? bytes.data : "", bytes.len);
    grpc_byte_buffer *message = grpc_raw_byte_buffer_create(&slice, 1);

    grpc_slice_unref(slice);
    return message;
}

bool rpc_message_read(grpc_byte_buffer *message, grpc_slice *ret_bytes)
{
    grpc_byte_buffer_reader reader;

    if (!grpc_byte_buffer_reader_init(&reader, message))
        return false;
    *ret_bytes = grpc_byte_buffer_reader_readall(&reader);
    grpc_byte_buffer_reader_destroy(&reader);
    return true;
}

void rpc_message_clear(grpc_byte_buffer **message)
{
    if (*message)
        grpc_byte_buffer_destroy(*message);
    *message = NULL;
}
