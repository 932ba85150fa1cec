// SPDX-License-Identifier: Apache-2.0
/*
 * An HTTP/1.1 server on one loop. A handler is called when a request head has been read; it takes
 * the body collected or streamed, and answers whole, streamed or from a file, now or later.
 *
 * Life cycle of an exchange: it is valid from the handler call until the answer has ended AND the
 * handler returned, or until its close callback ran. The close callback runs exactly once in every
 * case (after the answer was handed to the kernel, or when the client is gone) and is the place to
 * free what the handler made. After it, the exchange must not be touched.
 *
 * Limits (osb_http_server_options) cover heads, bodies, idle and slow peers, and connections.
 * Pipelined requests are answered in order, one at a time.
 */
#ifndef OSB_HTTP_SERVER_H
#define OSB_HTTP_SERVER_H

#include <osb/arena.h>
#include <osb/buf.h>
#include <osb/err.h>
#include <osb/http.h>
#include <osb/loop.h>
#include <osb/slice.h>
#include <osb/stream.h>
#include <stdbool.h>
#include <stdint.h>

struct osb_http_server;
struct osb_http_exchange;

typedef void osb_http_handler(struct osb_http_exchange *x, void *arg);

struct osb_http_server_options {
    size_t max_head;           /* bytes; 0: OSB_HTTP_MAX_HEAD */
    uint64_t head_timeout_ms;  /* first byte to end of head; 0: 10 s; then 408 */
    uint64_t idle_timeout_ms;  /* keep-alive without a request; 0: 75 s */
    uint64_t body_timeout_ms;  /* no body byte while one is wanted; 0: 60 s; then 408 */
    uint64_t write_timeout_ms; /* peer takes no byte while some wait; 0: 60 s; then closed */
    size_t max_connections;    /* 0: 4096; over it a connection gets 503 and is closed */
    const char *server_header; /* value of Server, NULL for none */
    /*
     * Writes the body of an error answer made by the server itself (400, 408, 414, 431, 501, …).
     * NULL gives {"code":"…","message":"…"} with code INVALID_REQUEST.
     */
    void (*error_body)(int status, const char *message, struct osb_buf *out);
    /*
     * Appends header lines, each "NAME: VALUE\r\n", to the head of such an answer; may be NULL.
     * What the handler had set is dropped with its answer. X is NULL when no request could be read.
     */
    void (*error_head)(struct osb_http_exchange *x, int status, struct osb_buf *out);
};

int osb_http_server_new(struct osb_loop *loop, const struct osb_http_server_options *options,
                        osb_http_handler *handler, void *arg, struct osb_http_server **ret,
                        struct osb_err *err);
/* Serves an accepted stream (plain or TLS); takes it. PEER is copied. */
void osb_http_server_serve(struct osb_http_server *server, struct osb_stream *stream,
                           const char *peer);
/* osb_accept_fn with the server as its argument, for osb_listener_new_…(). */
void osb_http_server_accept(struct osb_stream *stream, const char *peer, void *server);
/* Ends idle connections, lets running exchanges end; DONE runs when none is left. */
void osb_http_server_drain(struct osb_http_server *server, void (*done)(void *arg), void *arg);
/*
 * Closes everything at once (close callbacks run) and frees. Not from inside a callback of an
 * exchange.
 */
void osb_http_server_free(struct osb_http_server *server);
size_t osb_http_server_connections(const struct osb_http_server *server);

/* ---- the request; slices live as long as the exchange ---- */

const struct osb_http_head *osb_http_head_of(const struct osb_http_exchange *x);
struct osb_slice osb_http_method(const struct osb_http_exchange *x);
/* The raw path without the query. */
struct osb_slice osb_http_raw_path(const struct osb_http_exchange *x);
struct osb_slice osb_http_raw_query(const struct osb_http_exchange *x);
/* A request header's value; false when absent. */
bool osb_http_header(const struct osb_http_exchange *x, const char *name, struct osb_slice *ret);
/* The first query parameter NAME, decoded ('+' is a blank); false when absent. */
bool osb_http_query(struct osb_http_exchange *x, const char *name, struct osb_slice *ret);
/* The Nth value of a repeated parameter, from 0. */
bool osb_http_query_at(struct osb_http_exchange *x, const char *name, size_t index,
                       struct osb_slice *ret);
const char *osb_http_peer(const struct osb_http_exchange *x);
/* The stream below, borrowed: for osb_tls_peer_name() and SO_PEERCRED. */
struct osb_stream *osb_http_stream(struct osb_http_exchange *x);
struct osb_loop *osb_http_loop(const struct osb_http_exchange *x);
/* Freed with the exchange. */
struct osb_arena *osb_http_arena(struct osb_http_exchange *x);
/* A pointer of the handler's own. */
void osb_http_set_data(struct osb_http_exchange *x, void *data);
void *osb_http_data(const struct osb_http_exchange *x);

/* ---- the request body ---- */

/*
 * Collects the whole body, at most MAX bytes (0: OSB_HTTP_MAX_BODY), then calls FN once. A body
 * over MAX is answered 413 and FN is not called (close callback runs). FN runs from the loop, never
 * from inside this call. The body lives as long as the exchange.
 */
void osb_http_collect(struct osb_http_exchange *x, size_t max,
                      void (*fn)(struct osb_http_exchange *x, struct osb_slice body, void *arg),
                      void *arg);
/*
 * Streams the body: FN gets runs of content, then once with IS_END true. FN may pause. Framing
 * errors and slow peers end the exchange (close callback).
 */
void osb_http_on_body(struct osb_http_exchange *x,
                      void (*fn)(struct osb_http_exchange *x, struct osb_slice data, bool is_end,
                                 void *arg),
                      void *arg);
void osb_http_body_pause(struct osb_http_exchange *x);
void osb_http_body_resume(struct osb_http_exchange *x);

/* ---- the answer ---- */

/*
 * Adds a header before the head is written. A value with control bytes is dropped, and so are the
 * headers that are the server's own (Content-Length, Transfer-Encoding, Keep-Alive). "Connection:
 * close" closes after the answer.
 */
void osb_http_reply_header(struct osb_http_exchange *x, const char *name, struct osb_slice value);
void osb_http_reply_headerf(struct osb_http_exchange *x, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/*
 * The whole answer. CONTENT_TYPE NULL for none. BODY is copied or written before this returns.
 * HEAD requests send no body, but its length. May be called after the client has gone (nothing
 * happens), once only otherwise.
 */
void osb_http_reply(struct osb_http_exchange *x, int status, const char *content_type,
                    struct osb_slice body);
/* Starts a streamed answer: LENGTH bytes, or chunked when LENGTH is negative. */
void osb_http_reply_start(struct osb_http_exchange *x, int status, const char *content_type,
                          int64_t length);
/*
 * Queues a piece. Small ones gather until the end of this loop turn or 16 KiB, whichever is first;
 * from there on they are written at once, without a copy of what the peer takes. Returns the bytes
 * still queued: above the caller's water mark, wait for the drain callback.
 */
size_t osb_http_reply_write(struct osb_http_exchange *x, struct osb_slice data);
/* FN runs whenever the queue has become empty, until the answer is ended. */
void osb_http_on_drain(struct osb_http_exchange *x,
                       void (*fn)(struct osb_http_exchange *x, void *arg), void *arg);
/* Ends a streamed answer; the last chunk goes out with what is queued, in one write. */
void osb_http_reply_end(struct osb_http_exchange *x);
/* Cuts the connection: the peer sees an incomplete answer. */
void osb_http_abort(struct osb_http_exchange *x);
/*
 * Answers with LEN bytes of FD from OFFSET (sendfile where the stream can); takes FD. Headers and
 * status as for osb_http_reply_start().
 */
void osb_http_reply_file(struct osb_http_exchange *x, int status, const char *content_type, int fd,
                         int64_t offset, int64_t len);
bool osb_http_has_started(const struct osb_http_exchange *x);
/* IS_COMPLETE: the whole answer was handed to the kernel. Replaces an earlier callback. */
void osb_http_on_close(struct osb_http_exchange *x,
                       void (*fn)(struct osb_http_exchange *x, bool is_complete, void *arg),
                       void *arg);
/*
 * Takes the connection over after an answer of 101 (WebSocket, SPDY): writes the head with the
 * headers set so far, returns the stream (the caller's) and what was read ahead (appended to
 * LEFTOVER). The exchange ends: its close callback runs with IS_COMPLETE true. NULL when the client
 * has gone: then the close callback says false.
 */
struct osb_stream *osb_http_upgrade(struct osb_http_exchange *x, struct osb_buf *leftover);

#endif
