// SPDX-License-Identifier: Apache-2.0
/*
 * Errors as values. Every fallible call returns an int: zero or positive is success, a negative
 * value is an error code. Codes extend -errno with the few conditions that errno has no word for.
 * Calls between modules also take a `struct osb_err *` as their last argument: it belongs to the
 * caller, has a fixed size, may be NULL, and is written only on failure. osb_fail() raises,
 * osb_wrap() puts context in front while the error travels up; the edge logs it once.
 * One table maps a code to its HTTP status, gRPC status and condition reason.
 */
#ifndef OSB_ERR_H
#define OSB_ERR_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* Conditions that errno cannot name. All are below -OSB_E_BASE, errno values are above it. */
enum {
    OSB_E_BASE = 4096,
    OSB_E_INVALID,         /* input that breaks a rule of a format or an API */
    OSB_E_TOO_LARGE,       /* a named limit was exceeded by a peer */
    OSB_E_TOO_DEEP,        /* nesting beyond a named limit */
    OSB_E_SYNTAX,          /* bytes that are not of the expected grammar */
    OSB_E_UNAUTHENTICATED, /* no or wrong credentials */
    OSB_E_FORBIDDEN,       /* credentials are known but do not allow it */
    OSB_E_NOT_FOUND,       /* the named object does not exist */
    OSB_E_CONFLICT,        /* optimistic lock lost, or the state does not allow it */
    OSB_E_EXISTS,          /* an object of that name is there already */
    OSB_E_EXPIRED,         /* a version or token is too old (410) */
    OSB_E_RATE_LIMITED,    /* asked to slow down */
    OSB_E_UNAVAILABLE,     /* the peer cannot serve now; try again */
    OSB_E_TIMEOUT,         /* a deadline passed */
    OSB_E_CLOSED,          /* the peer closed before the end */
    OSB_E_UNSUPPORTED,     /* known, but not built here */
    OSB_E_INTERNAL,        /* a peer or a library broke its own contract */
    OSB_E_PRECONDITION,    /* something else has to be set up or mended first; not by waiting */
    OSB_E_LAST
};

enum { OSB_ERR_MESSAGE_MAX = 512 };

/* A raised error: filled by osb_fail() and osb_wrap(), owned by the caller. */
struct osb_err {
    int code;          /* negative; 0 means nothing was raised */
    int http_status;   /* from the table, or set by osb_err_set_http() */
    bool is_retriable; /* from the table; a caller may try again after a back-off */
    char message[OSB_ERR_MESSAGE_MAX];
};

/* One row of the table that maps codes to the outside world. */
struct osb_err_info {
    int code;           /* negative */
    const char *name;   /* stable word for logs, e.g. "not_found" */
    int http_status;    /* RFC 9110 */
    int grpc_status;    /* gRPC status code */
    const char *reason; /* CamelCase condition or Status reason */
    bool is_retriable;
};

/* Raises CODE (negative) with a formatted message and returns CODE. ERR may be NULL. */
int osb_fail(struct osb_err *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Puts "CONTEXT: " in front of a raised message and returns R unchanged. R >= 0 is a no-op. When
 * nothing was raised, R's name in the table stands for the message.
 */
int osb_wrap(struct osb_err *err, int r, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Overrides the HTTP status of a raised error. */
void osb_err_set_http(struct osb_err *err, int http_status);

/* Forgets what was raised. */
void osb_err_clear(struct osb_err *err);

/* The table row of CODE; an unknown code gets the row of OSB_E_INTERNAL. Never NULL. */
const struct osb_err_info *osb_err_info(int code);

/* The rows, for the test that walks them; *RET_COUNT is their number. */
const struct osb_err_info *osb_err_table(size_t *ret_count);

/* The code for an HTTP status of a peer (RFC 9110): 404 gives -OSB_E_NOT_FOUND, 2xx gives 0. */
int osb_err_from_http(int http_status);

/* Ends the process when a rule of our own is broken; active in release builds too. */
#define osb_assert(expr)                                                                           \
    do {                                                                                           \
        if (__builtin_expect(!(expr), 0))                                                          \
            osb_assert_failed(#expr, __FILE__, __LINE__);                                          \
    } while (0)

_Noreturn void osb_assert_failed(const char *expr, const char *file, int line);

#endif
