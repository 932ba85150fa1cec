// SPDX-License-Identifier: Apache-2.0
#include <grpc/status.h>
#include <osb/rpc.h>

/* By gRPC status code. Several meet in one of ours, so this is not the table of osb/err.h. */
static const int codes[] = {
    [GRPC_STATUS_OK] = 0,
    [GRPC_STATUS_CANCELLED] = -ECANCELED,
    [GRPC_STATUS_UNKNOWN] = -OSB_E_INTERNAL,
    [GRPC_STATUS_INVALID_ARGUMENT] = -OSB_E_INVALID,
    [GRPC_STATUS_DEADLINE_EXCEEDED] = -OSB_E_TIMEOUT,
    [GRPC_STATUS_NOT_FOUND] = -OSB_E_NOT_FOUND,
    [GRPC_STATUS_ALREADY_EXISTS] = -OSB_E_EXISTS,
    [GRPC_STATUS_PERMISSION_DENIED] = -OSB_E_FORBIDDEN,
    [GRPC_STATUS_RESOURCE_EXHAUSTED] = -OSB_E_TOO_LARGE,
    [GRPC_STATUS_FAILED_PRECONDITION] = -OSB_E_CONFLICT,
    [GRPC_STATUS_ABORTED] = -OSB_E_CONFLICT,
    [GRPC_STATUS_OUT_OF_RANGE] = -OSB_E_INVALID,
    [GRPC_STATUS_UNIMPLEMENTED] = -OSB_E_UNSUPPORTED,
    [GRPC_STATUS_INTERNAL] = -OSB_E_INTERNAL,
    [GRPC_STATUS_UNAVAILABLE] = -OSB_E_UNAVAILABLE,
    [GRPC_STATUS_DATA_LOSS] = -OSB_E_INTERNAL,
    [GRPC_STATUS_UNAUTHENTICATED] = -OSB_E_UNAUTHENTICATED,
};

int osb_rpc_status_to_err(const struct osb_rpc_status *status, struct osb_err *err)
{
    const int count = (int)(sizeof(codes) / sizeof(*codes));

    if (status->code == GRPC_STATUS_OK)
        return 0;
    if (status->code < 0 || status->code >= count)
        return osb_fail(err, -OSB_E_INTERNAL, "gRPC status %d: %.*s", status->code,
                        OSB_SLICE_ARG(status->message));
    if (status->message.len == 0)
        return osb_fail(err, codes[status->code], "gRPC status %d", status->code);
    return osb_fail(err, codes[status->code], "%.*s", OSB_SLICE_ARG(status->message));
}
