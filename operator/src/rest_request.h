// SPDX-License-Identifier: Apache-2.0
/*
 * One REST request from its head to its last byte: its id, its one call to the API server and its
 * one wait at a time, its answer, its log line. It lives in the exchange's arena, so every answer
 * is the last thing that a handler does with it.
 */
#ifndef OPERATOR_REST_REQUEST_H
#define OPERATOR_REST_REQUEST_H

#include <osb/json_tree.h>
#include <osb/json_writer.h>

#include "rest_errors.h"
#include "rest_server.h"
#include "rest_wait.h"

typedef void rest_called_fn(struct rest_request *request, int r, struct osb_slice body,
                            const struct osb_err *err);
typedef void rest_body_fn(struct rest_request *request, struct osb_json *body);
/* BS is valid during the call only. */
typedef void rest_found_fn(struct rest_request *request, const struct batchsandbox *bs);
typedef void rest_then_fn(struct rest_request *request);

struct rest_request {
    struct rest *rest;
    struct osb_http_exchange *x;
    struct osb_arena *arena;
    const char *id;
    const char *traceparent;      /* NULL when absent */
    struct rest_binding *binding; /* NULL: no route */
    const char *sandbox;          /* its id once known; for the log */
    uint64_t started_ns;
    int status; /* answered; 0: not yet */
    struct osb_kube_call *call;
    rest_called_fn *called;
    rest_body_fn *on_body;
    struct rest_wait wait;
    rest_found_fn *found;   /* of rest_find() */
    uint64_t after_version; /* of rest_after_cache() */
    rest_then_fn *after;
    void *data; /* the handler's, in the arena or freed by on_close */
    /* The client is gone, or has its answer (IS_COMPLETE). */
    void (*on_close)(struct rest_request *request, bool is_complete);
};

/* Makes the request of an exchange, with the headers that each answer has. */
struct rest_request *rest_request_new(struct rest *rest, struct osb_http_exchange *x);

/* ---- the body ---- */

/*
 * Collects a JSON body and calls FN with its tree, which FN borrows. What is no JSON object or too
 * large is answered here.
 */
void rest_read_body(struct rest_request *request, rest_body_fn *fn);

/* ---- one call to the API server at a time; ended when the client goes ---- */

void rest_call_get(struct rest_request *request, const struct osb_api_kind *kind, const char *name,
                   rest_called_fn *called);
void rest_call_patch(struct rest_request *request, const char *name, struct osb_slice patch,
                     rest_called_fn *called);
void rest_call_delete(struct rest_request *request, const char *name, const char *uid,
                      rest_called_fn *called);

/* ---- the answer ---- */

/* Header lines of errors that the HTTP server finds itself: an osb_http_server_options.error_head.
 */
void rest_error_head(struct osb_http_exchange *x, int status, struct osb_buf *out);
void rest_reply(struct rest_request *request, int status, struct osb_slice json);
/* No body, and a length of 0 where the status allows one. */
void rest_reply_empty(struct rest_request *request, int status);
void rest_fail(struct rest_request *request, int status, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void rest_fail_with(struct rest_request *request, const struct rest_error *error);
/* A call to the API server failed: its words go to the log, not to the caller. */
void rest_fail_backend(struct rest_request *request, int r, const struct osb_err *err);
void rest_fail_not_found(struct rest_request *request);

#endif
