// SPDX-License-Identifier: Apache-2.0
/*
 * An HTTP/1.1 client on one loop: keep-alive pool per origin, bodies streamed both ways, over TCP
 * (IP literals; names are not resolved here), UNIX sockets and TLS. Calls that need proxies, HTTP/2
 * or name resolution use libcurl (lib/kube) instead.
 */
#ifndef OSB_HTTP_CLIENT_H
#define OSB_HTTP_CLIENT_H

#include <osb/buf.h>
#include <osb/err.h>
#include <osb/http.h>
#include <osb/loop.h>
#include <osb/stream.h>
#include <stdbool.h>
#include <stdint.h>

struct osb_http_client;
struct osb_http_call;
struct osb_tls_context;

struct osb_http_client_options {
    uint64_t connect_timeout_ms; /* 0: 5 s */
    uint64_t idle_timeout_ms;    /* pooled connections; 0: 30 s */
    size_t max_idle_per_origin;  /* 0: 8 */
    /* Takes INNER in every case; NULL fails the call. */
    struct osb_stream *(*wrap_tls)(struct osb_stream *inner, const char *server_name, void *arg);
    void *wrap_tls_arg; /* for https; lib/tls has osb_tls_client_wrap_hook() */
};

int osb_http_client_new(struct osb_loop *loop, const struct osb_http_client_options *options,
                        struct osb_http_client **ret, struct osb_err *err);
/*
 * Cancels running calls (their end callback runs with -ECANCELED). From callbacks, only from an
 * on_end.
 */
void osb_http_client_free(struct osb_http_client *client);
struct osb_loop *osb_http_client_loop(const struct osb_http_client *client);

/* Where to: exactly one of UNIX_PATH and ADDRESS. All strings are copied. */
struct osb_http_origin {
    const char *unix_path;
    const char *address; /* IP literal */
    int port;
    bool is_tls;
    const char *host; /* Host header and TLS name; NULL: the address and port */
};

struct osb_http_request {
    struct osb_http_origin origin;
    const char *method;
    const char *target;                    /* origin form: "/path?query" */
    const struct osb_http_header *headers; /* beside Host and the framing ones; copied */
    int header_count;
    struct osb_slice body;      /* whole body, copied; or */
    int64_t body_stream_length; /* >0: length, -1: chunked, 0: `body` is used */
    uint64_t timeout_ms;        /* until the head of the answer; 0: none */
    uint64_t total_timeout_ms;  /* until the end; 0: none */
};

struct osb_http_call_callbacks {
    /* Slices of HEAD are valid during the call only. May be NULL. */
    void (*on_head)(struct osb_http_call *call, const struct osb_http_head *head, void *arg);
    /* A run of the body. May be NULL: then the body is dropped. */
    void (*on_data)(struct osb_http_call *call, struct osb_slice data, void *arg);
    /*
     * Exactly once, last: 0 when the answer is complete, else an error. The call is freed after
     * it returns.
     */
    void (*on_end)(struct osb_http_call *call, int r, const struct osb_err *err, void *arg);
    /* A streamed request body may be written (or go on after a full queue). */
    void (*on_writable)(struct osb_http_call *call, void *arg);
};

/*
 * Starts a call. Callbacks never run from inside this function. An idempotent call without a body
 * that meets a pooled connection which the server has just closed is sent once more.
 */
int osb_http_call_start(struct osb_http_client *client, const struct osb_http_request *request,
                        const struct osb_http_call_callbacks *callbacks, void *arg,
                        struct osb_http_call **ret, struct osb_err *err);
/* Queues a piece of a streamed request body; returns bytes queued (0 once the answer is over). */
size_t osb_http_call_write(struct osb_http_call *call, struct osb_slice data);
void osb_http_call_end_body(struct osb_http_call *call);
void osb_http_call_pause(struct osb_http_call *call);
void osb_http_call_resume(struct osb_http_call *call);
/* on_end will not run; frees the call. */
void osb_http_call_cancel(struct osb_http_call *call);
/*
 * After a 101: takes the stream over inside on_head; LEFTOVER gets what was read ahead. The call
 * ends with on_end(0).
 */
struct osb_stream *osb_http_call_take_stream(struct osb_http_call *call, struct osb_buf *leftover);
/* The answer's status; 0 before the head. */
int osb_http_call_status(const struct osb_http_call *call);

/* One whole exchange, collected: FN gets the answer's status and body, or R < 0. */
int osb_http_fetch(struct osb_http_client *client, const struct osb_http_request *request,
                   size_t max_body,
                   void (*fn)(int r, int status, struct osb_slice body, const struct osb_err *err,
                              void *arg),
                   void *arg, struct osb_http_call **ret, struct osb_err *err);

#endif
