// SPDX-License-Identifier: Apache-2.0
/* The shapes of execd's answers (execd contract 2, 2.1). */
#ifndef EXECD_REPLY_H
#define EXECD_REPLY_H

#include <osb/err.h>
#include <osb/http_server.h>

/* 200 with no body and no type. */
void reply_empty(struct osb_http_exchange *x);
/* 200 with JSON. */
void reply_json(struct osb_http_exchange *x, struct osb_slice json);
/* {"code":…,"message":…}; CODE is one of the contract's. */
void reply_error(struct osb_http_exchange *x, int status, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* An error of a file or a path: 404 FILE_NOT_FOUND when it is missing, else 500 RUNTIME_ERROR. */
void reply_file_error(struct osb_http_exchange *x, int code, const char *message);
/* 400 INVALID_REQUEST_BODY with ERR's message. */
void reply_bad_request(struct osb_http_exchange *x, const struct osb_err *err);

#endif
