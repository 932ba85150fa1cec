// SPDX-License-Identifier: Apache-2.0
#include <osb/err.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Status codes of the gRPC protocol, as its specification numbers them. */
enum {
    GRPC_CANCELLED = 1,
    GRPC_INVALID_ARGUMENT = 3,
    GRPC_DEADLINE_EXCEEDED = 4,
    GRPC_NOT_FOUND = 5,
    GRPC_ALREADY_EXISTS = 6,
    GRPC_PERMISSION_DENIED = 7,
    GRPC_RESOURCE_EXHAUSTED = 8,
    GRPC_FAILED_PRECONDITION = 9,
    GRPC_ABORTED = 10,
    GRPC_OUT_OF_RANGE = 11,
    GRPC_UNIMPLEMENTED = 12,
    GRPC_INTERNAL = 13,
    GRPC_UNAVAILABLE = 14,
    GRPC_UNAUTHENTICATED = 16,
};

static const struct osb_err_info internal_row = {-OSB_E_INTERNAL, "internal",      500,
                                                 GRPC_INTERNAL,   "InternalError", false};

/* clang-format off: one row a line reads as the table that it is */
static const struct osb_err_info table[] = {
    {-OSB_E_INVALID, "invalid", 400, GRPC_INVALID_ARGUMENT, "Invalid", false},
    {-OSB_E_TOO_LARGE, "too_large", 413, GRPC_RESOURCE_EXHAUSTED, "TooLarge", false},
    {-OSB_E_TOO_DEEP, "too_deep", 400, GRPC_INVALID_ARGUMENT, "TooDeep", false},
    {-OSB_E_SYNTAX, "syntax", 400, GRPC_INVALID_ARGUMENT, "BadRequest", false},
    {-OSB_E_UNAUTHENTICATED, "unauthenticated", 401, GRPC_UNAUTHENTICATED, "Unauthorized", false},
    {-OSB_E_FORBIDDEN, "forbidden", 403, GRPC_PERMISSION_DENIED, "Forbidden", false},
    {-OSB_E_NOT_FOUND, "not_found", 404, GRPC_NOT_FOUND, "NotFound", false},
    {-OSB_E_CONFLICT, "conflict", 409, GRPC_ABORTED, "Conflict", false},
    {-OSB_E_EXISTS, "exists", 409, GRPC_ALREADY_EXISTS, "AlreadyExists", false},
    {-OSB_E_EXPIRED, "expired", 410, GRPC_OUT_OF_RANGE, "Expired", false},
    {-OSB_E_RATE_LIMITED, "rate_limited", 429, GRPC_RESOURCE_EXHAUSTED, "TooManyRequests", true},
    {-OSB_E_UNAVAILABLE, "unavailable", 503, GRPC_UNAVAILABLE, "ServiceUnavailable", true},
    {-OSB_E_TIMEOUT, "timeout", 504, GRPC_DEADLINE_EXCEEDED, "Timeout", true},
    {-OSB_E_CLOSED, "closed", 502, GRPC_UNAVAILABLE, "ConnectionClosed", true},
    {-OSB_E_UNSUPPORTED, "unsupported", 501, GRPC_UNIMPLEMENTED, "NotSupported", false},
    {-OSB_E_PRECONDITION, "precondition", 412, GRPC_FAILED_PRECONDITION, "PreconditionFailed",
     false},
    {-OSB_E_INTERNAL, "internal", 500, GRPC_INTERNAL, "InternalError", false},

    {-EPERM, "not_permitted", 403, GRPC_PERMISSION_DENIED, "NotPermitted", false},
    {-EACCES, "access_denied", 403, GRPC_PERMISSION_DENIED, "AccessDenied", false},
    {-EROFS, "read_only", 403, GRPC_FAILED_PRECONDITION, "ReadOnlyFileSystem", false},
    {-ENOENT, "no_such_file", 404, GRPC_NOT_FOUND, "FileNotFound", false},
    {-ESRCH, "no_such_process", 404, GRPC_NOT_FOUND, "ProcessNotFound", false},
    {-ECHILD, "no_child", 404, GRPC_NOT_FOUND, "ChildNotFound", false},
    {-ENXIO, "no_such_address", 404, GRPC_NOT_FOUND, "AddressNotFound", false},
    {-ENODEV, "no_device", 404, GRPC_NOT_FOUND, "DeviceNotFound", false},
    {-EEXIST, "file_exists", 409, GRPC_ALREADY_EXISTS, "FileExists", false},
    {-EBUSY, "busy", 409, GRPC_FAILED_PRECONDITION, "Busy", true},
    {-ENOTEMPTY, "not_empty", 409, GRPC_FAILED_PRECONDITION, "DirectoryNotEmpty", false},
    {-ETXTBSY, "text_busy", 409, GRPC_FAILED_PRECONDITION, "TextFileBusy", true},
    {-ESTALE, "stale", 409, GRPC_ABORTED, "StaleHandle", true},
    {-EDEADLK, "deadlock", 409, GRPC_ABORTED, "Deadlock", true},
    {-EINVAL, "invalid_argument", 400, GRPC_INVALID_ARGUMENT, "InvalidArgument", false},
    {-E2BIG, "arguments_too_long", 400, GRPC_INVALID_ARGUMENT, "ArgumentListTooLong", false},
    {-ENOEXEC, "not_executable", 400, GRPC_INVALID_ARGUMENT, "NotExecutable", false},
    {-ENOTDIR, "not_a_directory", 400, GRPC_FAILED_PRECONDITION, "NotADirectory", false},
    {-EISDIR, "is_a_directory", 400, GRPC_FAILED_PRECONDITION, "IsADirectory", false},
    {-ELOOP, "too_many_links", 400, GRPC_FAILED_PRECONDITION, "TooManyLinks", false},
    {-ENAMETOOLONG, "name_too_long", 400, GRPC_INVALID_ARGUMENT, "NameTooLong", false},
    {-ERANGE, "out_of_range", 400, GRPC_OUT_OF_RANGE, "OutOfRange", false},
    {-EDOM, "out_of_domain", 400, GRPC_OUT_OF_RANGE, "OutOfDomain", false},
    {-EOVERFLOW, "overflow", 400, GRPC_OUT_OF_RANGE, "Overflow", false},
    {-EILSEQ, "bad_sequence", 400, GRPC_INVALID_ARGUMENT, "BadByteSequence", false},
    {-EXDEV, "cross_device", 400, GRPC_FAILED_PRECONDITION, "CrossDevice", false},
    {-ESPIPE, "not_seekable", 400, GRPC_FAILED_PRECONDITION, "NotSeekable", false},
    {-ENOTTY, "not_a_terminal", 400, GRPC_FAILED_PRECONDITION, "NotATerminal", false},
    {-EFBIG, "file_too_large", 413, GRPC_RESOURCE_EXHAUSTED, "FileTooLarge", false},
    {-EMSGSIZE, "message_too_long", 413, GRPC_RESOURCE_EXHAUSTED, "MessageTooLong", false},
    {-ENOSPC, "no_space", 507, GRPC_RESOURCE_EXHAUSTED, "NoSpaceLeft", false},
    {-EDQUOT, "quota_exceeded", 507, GRPC_RESOURCE_EXHAUSTED, "QuotaExceeded", false},
    {-ENOMEM, "no_memory", 503, GRPC_RESOURCE_EXHAUSTED, "OutOfMemory", true},
    {-ENOBUFS, "no_buffers", 503, GRPC_RESOURCE_EXHAUSTED, "NoBufferSpace", true},
    {-EMFILE, "too_many_files", 503, GRPC_RESOURCE_EXHAUSTED, "TooManyOpenFiles", true},
    {-ENFILE, "file_table_full", 503, GRPC_RESOURCE_EXHAUSTED, "FileTableFull", true},
    {-EAGAIN, "again", 503, GRPC_UNAVAILABLE, "TryAgain", true},
    {-EINTR, "interrupted", 503, GRPC_UNAVAILABLE, "Interrupted", true},
    {-EINPROGRESS, "in_progress", 503, GRPC_UNAVAILABLE, "InProgress", true},
    {-EALREADY, "already_in_progress", 409, GRPC_ABORTED, "AlreadyInProgress", true},
    {-ECANCELED, "canceled", 499, GRPC_CANCELLED, "Canceled", false},
    {-ETIMEDOUT, "timed_out", 504, GRPC_DEADLINE_EXCEEDED, "TimedOut", true},
    {-ETIME, "timer_expired", 504, GRPC_DEADLINE_EXCEEDED, "TimerExpired", true},
    {-ECONNREFUSED, "connection_refused", 502, GRPC_UNAVAILABLE, "ConnectionRefused", true},
    {-ECONNRESET, "connection_reset", 502, GRPC_UNAVAILABLE, "ConnectionReset", true},
    {-ECONNABORTED, "connection_aborted", 502, GRPC_UNAVAILABLE, "ConnectionAborted", true},
    {-EPIPE, "broken_pipe", 502, GRPC_UNAVAILABLE, "BrokenPipe", true},
    {-ENOTCONN, "not_connected", 502, GRPC_UNAVAILABLE, "NotConnected", true},
    {-ESHUTDOWN, "shut_down", 502, GRPC_UNAVAILABLE, "ShutDown", true},
    {-EHOSTUNREACH, "host_unreachable", 502, GRPC_UNAVAILABLE, "HostUnreachable", true},
    {-EHOSTDOWN, "host_down", 502, GRPC_UNAVAILABLE, "HostDown", true},
    {-ENETUNREACH, "network_unreachable", 502, GRPC_UNAVAILABLE, "NetworkUnreachable", true},
    {-ENETDOWN, "network_down", 502, GRPC_UNAVAILABLE, "NetworkDown", true},
    {-EADDRINUSE, "address_in_use", 409, GRPC_FAILED_PRECONDITION, "AddressInUse", true},
    {-EADDRNOTAVAIL, "address_unavailable", 503, GRPC_UNAVAILABLE, "AddressUnavailable", true},
    {-EAFNOSUPPORT, "no_address_family", 501, GRPC_UNIMPLEMENTED, "AddressFamilyNotSupported",
     false},
    {-EPROTO, "protocol_error", 502, GRPC_INTERNAL, "ProtocolError", false},
    {-EBADMSG, "bad_message", 502, GRPC_INTERNAL, "BadMessage", false},
    {-ENOSYS, "no_system_call", 501, GRPC_UNIMPLEMENTED, "SystemCallNotSupported", false},
    {-EOPNOTSUPP, "not_supported", 501, GRPC_UNIMPLEMENTED, "OperationNotSupported", false},
    {-EPROTONOSUPPORT, "no_protocol", 501, GRPC_UNIMPLEMENTED, "ProtocolNotSupported", false},
    {-EBADF, "bad_descriptor", 500, GRPC_INTERNAL, "BadDescriptor", false},
    {-EFAULT, "bad_address", 500, GRPC_INTERNAL, "BadAddress", false},
    {-ENOTSOCK, "not_a_socket", 500, GRPC_INTERNAL, "NotASocket", false},
    {-EIO, "io_error", 500, GRPC_INTERNAL, "InputOutputError", false},
};
/* clang-format on */

static const size_t table_len = sizeof(table) / sizeof(table[0]);

const struct osb_err_info *osb_err_table(size_t *ret_count)
{
    *ret_count = table_len;
    return table;
}

/* A linear search: errors are the rare path and the table fits a few cache lines. */
const struct osb_err_info *osb_err_info(int code)
{
    for (size_t i = 0; i < table_len; i++) {
        if (table[i].code == code)
            return &table[i];
    }
    return &internal_row;
}

static void set_code(struct osb_err *err, int code)
{
    const struct osb_err_info *info = osb_err_info(code);
    err->code = code;
    err->http_status = info->http_status;
    err->is_retriable = info->is_retriable;
}

int osb_fail(struct osb_err *err, int code, const char *format, ...)
{
    osb_assert(code < 0);
    if (!err)
        return code;

    /* Formatted aside, because the arguments may point into err->message. */
    char message[OSB_ERR_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);

    set_code(err, code);
    memcpy(err->message, message, sizeof(message));
    return code;
}

int osb_wrap(struct osb_err *err, int r, const char *format, ...)
{
    if (r >= 0 || !err)
        return r;

    /* A call that returns a bare code raised nothing; its name stands for the message. */
    if (err->code == 0)
        snprintf(err->message, sizeof(err->message), "%s", osb_err_info(r)->name);
    if (err->code != r)
        set_code(err, r);

    char message[OSB_ERR_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    size_t used = n < 0 ? 0 : (size_t)n;
    if (used < sizeof(message)) {
        int room = (int)(sizeof(message) - used);
        /* Cut at the end on purpose: the context in front is what the reader needs first. */
        int added = snprintf(message + used, (size_t)room, ": %s", err->message);
        if (added >= room)
            message[sizeof(message) - 1] = '\0';
    }
    memcpy(err->message, message, sizeof(message));
    return r;
}

void osb_err_set_http(struct osb_err *err, int http_status)
{
    if (err)
        err->http_status = http_status;
}

void osb_err_clear(struct osb_err *err)
{
    if (!err)
        return;
    err->code = 0;
    err->http_status = 0;
    err->is_retriable = false;
    err->message[0] = '\0';
}

static int from_http_4xx(int http_status)
{
    switch (http_status) {
    case 401:
        return -OSB_E_UNAUTHENTICATED;
    case 403:
        return -OSB_E_FORBIDDEN;
    case 404:
        return -OSB_E_NOT_FOUND;
    case 405:
    case 406:
    case 415:
        return -OSB_E_UNSUPPORTED;
    case 408:
        return -OSB_E_TIMEOUT;
    case 409:
    case 412:
        return -OSB_E_CONFLICT;
    case 410:
        return -OSB_E_EXPIRED;
    case 413:
    case 414:
    case 431:
        return -OSB_E_TOO_LARGE;
    case 429:
        return -OSB_E_RATE_LIMITED;
    default:
        return -OSB_E_INVALID;
    }
}

int osb_err_from_http(int http_status)
{
    if (http_status >= 200 && http_status < 300)
        return 0;
    if (http_status >= 300 && http_status < 400)
        return -OSB_E_UNSUPPORTED; /* a redirect reached someone who does not follow it */
    if (http_status >= 400 && http_status < 500)
        return from_http_4xx(http_status);
    switch (http_status) {
    case 501:
    case 505:
        return -OSB_E_UNSUPPORTED;
    case 502:
    case 503:
        return -OSB_E_UNAVAILABLE;
    case 504:
        return -OSB_E_TIMEOUT;
    default:
        return -OSB_E_INTERNAL;
    }
}

_Noreturn void osb_assert_failed(const char *expr, const char *file, int line)
{
    dprintf(STDERR_FILENO, "%s:%d: assertion failed: %s\n", file, line, expr);
    abort();
}
