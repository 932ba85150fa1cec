// SPDX-License-Identifier: Apache-2.0
/*
 * The error envelope: always an object with the strings `code` and `message`, for input that breaks
 * a rule also a list `detail`. Texts are ours: what a caller sent is never in them.
 */
#ifndef OPERATOR_REST_ERRORS_H
#define OPERATOR_REST_ERRORS_H

#include <osb/buf.h>
#include <osb/err.h>

/* Codes that several parts use; scripts match on them, so they are the public server's. */
#define REST_INVALID_PARAMETER "SANDBOX::INVALID_PARAMETER"
#define REST_NOT_SUPPORTED     "SANDBOX::API_NOT_SUPPORTED"
#define REST_NOT_FOUND         "KUBERNETES::SANDBOX_NOT_FOUND"
#define REST_API_ERROR         "KUBERNETES::API_ERROR"
#define REST_INVALID_STATE     "KUBERNETES::INVALID_STATE"
#define REST_POD_FAILED        "KUBERNETES::POD_FAILED"
#define REST_NO_ADDRESS        "KUBERNETES::POD_IP_NOT_AVAILABLE"
#define REST_QUOTA_EXCEEDED    "KUBERNETES::QUOTA_EXCEEDED"

enum {
    REST_MAX_PROBLEMS = 16,
    REST_MAX_MESSAGE = 640,
};

/* One thing that is wrong with the input; all three are static text. */
struct rest_problem {
    const char *type;  /* the public server's word: "missing", "string_type", … */
    const char *place; /* "body.resourceLimits" */
    const char *message;
};

struct rest_problems {
    struct rest_problem items[REST_MAX_PROBLEMS];
    int count;
};

/* Those beyond the limit are dropped. */
void rest_problem_add(struct rest_problems *problems, const char *type, const char *place,
                      const char *message);

/* An answer that a function without I/O decided on. */
struct rest_error {
    int status; /* 0: none */
    const char *code;
    char message[REST_MAX_MESSAGE];
    struct rest_problems problems;
};

/* Sets the error; returns -OSB_E_INVALID, for `return rest_error_set(…)`. */
int rest_error_set(struct rest_error *error, int status, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* 400 from the problems that were gathered; 0 when there are none. */
int rest_error_from_problems(struct rest_error *error);

/*
 * Appends the envelope. PROBLEMS may be NULL. Square brackets of MESSAGE become round ones: the
 * published CLI takes them for markup.
 */
void rest_error_print(struct osb_buf *out, const char *code, const char *message,
                      const struct rest_problems *problems);
/* Of errors that the HTTP server finds itself, as an osb_http_server_options.error_body. */
void rest_error_body(int status, const char *message, struct osb_buf *out);

#endif
