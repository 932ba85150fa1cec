// SPDX-License-Identifier: Apache-2.0
/*
 * Inside the client: a connection serves one call at a time and is pooled between calls. As in the
 * server, everything that calls the user happens in http_link_run(), entered from the loop alone
 * and never nested.
 */
#ifndef OSB_HTTP_CLIENT_PRIVATE_H
#define OSB_HTTP_CLIENT_PRIVATE_H

#include "input.h"
#include "out.h"

#include <osb/http_client.h>
#include <osb/list.h>

/* A connection to an origin. */
struct http_link {
    struct osb_http_client *client;
    struct osb_list list; /* in client->idle, while it has no call */
    char *origin;         /* the key of the pool */
    struct osb_stream *stream;
    struct osb_http_call *call;
    struct osb_buf in;
    size_t parsed_len;
    struct http_out out;
    struct osb_http_body body;
    struct osb_timer idle;
    struct osb_defer kick;
    bool is_used; /* had a call before: the server may be about to close it */
    bool is_running;
    bool can_read;
    bool is_eof;
    bool is_broken;
    int failure; /* what broke it */
};

enum http_body_mode { HTTP_SEND_WHOLE, HTTP_SEND_LENGTH, HTTP_SEND_CHUNKED };

struct osb_http_call {
    struct osb_http_client *client;
    struct osb_list list;   /* in client->calls */
    struct http_link *link; /* NULL until connected */
    struct osb_connect *connect;
    struct osb_http_call_callbacks callbacks;
    void *arg;
    void (*on_free)(void *arg); /* of osb_http_fetch(); also after a cancel */

    char *origin;
    char *unix_path;
    char *address;
    char *host;
    int port;
    bool is_tls;
    bool is_idempotent;
    bool is_head_request;

    struct osb_buf request; /* the head, and a whole body */
    struct osb_buf early;   /* of a streamed body, before there is a connection */
    enum http_body_mode mode;
    uint64_t body_left;
    bool has_streamed; /* body bytes were given: no second try */
    bool is_body_ended;
    bool is_writable_due;

    int status;
    bool has_answer; /* the first byte of it */
    bool has_head;
    bool is_end_due; /* the answer is complete */
    bool is_keep_alive;
    bool is_paused;
    bool is_cancelled;
    bool is_retried;
    bool is_taken;
    struct osb_err err;
    int failure; /* set: the call ends with it */

    struct osb_timer timer;
    uint64_t head_deadline_ns;
    uint64_t total_deadline_ns;
    struct osb_defer start;
};

struct osb_http_client {
    struct osb_loop *loop;
    struct osb_http_client_options options;
    struct osb_list idle;
    struct osb_list calls;
    struct osb_buf spare_in;
    struct osb_http_head head; /* of the answer that is being read: large, and needed briefly */
};

/* ---- client_call.c ---- */
/* Writes the head of REQUEST and checks it; 0 or -OSB_E_INVALID. */
int http_request_write(struct osb_http_call *call, const struct osb_http_request *request,
                       struct osb_err *err);
/* Runs on_end (unless cancelled) and frees; the call has no link any more. */
void http_call_finish(struct osb_http_call *call, int r);
void http_call_free(struct osb_http_call *call);

/* ---- client_link.c ---- */
/* An idle connection to ORIGIN that is still open, or NULL. */
struct http_link *http_link_take_idle(struct osb_http_client *client, const char *origin);
struct http_link *http_link_new(struct osb_http_client *client, const char *origin,
                                struct osb_stream *stream);
/* Sends the call's request over the link. */
void http_link_attach(struct http_link *link, struct osb_http_call *call);
void http_link_run(struct http_link *link);
void http_link_kick(struct http_link *link);
/*
 * The request cannot be sent on. The reason may be an answer that is on its way, so what has come
 * is read before the call fails.
 */
void http_link_break(struct http_link *link, int r);
void http_link_free(struct http_link *link);
/* Gets a connection for the call, now or later; failures end the call. */
void http_call_connect(struct osb_http_call *call);

#endif
