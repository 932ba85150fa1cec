// SPDX-License-Identifier: Apache-2.0
/*
 * Inside the server: one struct a connection, one an exchange. Everything that calls the user
 * (handler, body, drain, close) happens in http_conn_run(), which is entered from the loop alone
 * and never nested; calls of the user only change state and kick the connection, so that an
 * exchange never goes away below its handler.
 */
#ifndef OSB_HTTP_SERVER_PRIVATE_H
#define OSB_HTTP_SERVER_PRIVATE_H

#include "date.h"
#include "input.h"
#include "out.h"

#include <osb/http_server.h>

enum {
    HTTP_OUT_KEPT = 4 * 1024,      /* of an empty output buffer between two writes of a stream */
    HTTP_READ_AHEAD = 16 * 1024,   /* kept unread by a handler before reading stops */
    HTTP_PARSE_STEP = 4 * 1024,    /* bytes without a line end after which a head is looked at */
    HTTP_DISCARD_MAX = 256 * 1024, /* unread body dropped to keep a connection */
    HTTP_DISCARD_MS = 5 * 1000,    /* and for how long */
    HTTP_LINGER_MAX = 64 * 1024 * 1024, /* dropped so that the peer sees the last answer */
    HTTP_LINGER_MS = 5 * 1000,
    HTTP_MAX_REJECTED = 64,         /* connections that are being told 503 at a time */
    HTTP_SENDFILE_MAX = 1 << 20,    /* bytes of a file sent before other connections have a turn */
    HTTP_FILE_COPY_MAX = 16 * 1024, /* files up to here go out with their head, in one write */
};

enum http_conn_state {
    HTTP_CONN_HEAD,     /* idle, or a head is coming in */
    HTTP_CONN_EXCHANGE, /* a handler has it */
    HTTP_CONN_DISCARD,  /* answered; the rest of the request body is dropped */
    HTTP_CONN_LINGER,   /* the last answer is out; what still comes in is dropped */
};

struct http_conn {
    struct osb_http_server *server;
    struct osb_list link;
    struct osb_stream *stream; /* NULL once an upgrade has taken it */
    struct osb_http_exchange *x;
    char *peer;
    struct osb_timer timer;
    struct osb_defer kick;
    struct osb_buf in;
    size_t parsed_len; /* bytes of IN already looked at without finding a whole head */
    struct http_out out;
    struct osb_http_body body; /* of the current request, also after its exchange */
    uint64_t dropped;          /* in DISCARD and LINGER */
    uint64_t read_since_ns;    /* what the reading timeouts count from */
    uint64_t write_since_ns;   /* the last progress of the peer */
    enum http_conn_state state;
    bool is_running;
    bool can_read; /* the stream said so and was not read since */
    bool is_eof;
    bool is_broken; /* to be closed without another byte */
    bool is_shut;
    bool is_rejected; /* over the limit of connections */
};

enum http_sink { HTTP_SINK_NONE, HTTP_SINK_COLLECT, HTTP_SINK_STREAM };

struct osb_http_exchange {
    struct http_conn *conn;
    struct osb_arena arena;
    void *data;
    struct osb_slice path;
    struct osb_slice query;

    enum http_sink sink;
    bool is_paused;
    bool is_end_told;
    bool wants_continue; /* the client waits for a 100 */
    void (*collect_fn)(struct osb_http_exchange *x, struct osb_slice body, void *arg);
    void (*body_fn)(struct osb_http_exchange *x, struct osb_slice data, bool is_end, void *arg);
    void *sink_arg;
    struct osb_buf collected;

    struct osb_buf headers; /* "Name: value" lines of the answer */
    bool has_date;
    bool is_keep_alive;
    bool is_started;
    bool is_ended;
    bool is_refused; /* answered by the server itself: the handler's answer is dropped */
    bool is_chunked;
    bool is_until_close;
    bool has_no_body; /* HEAD, 204, 304 */
    bool is_drain_due;
    uint64_t left; /* of an answer with a length */
    int file_fd;
    off_t file_offset;
    uint64_t file_left;
    void (*drain_fn)(struct osb_http_exchange *x, void *arg);
    void *drain_arg;
    void (*close_fn)(struct osb_http_exchange *x, bool is_complete, void *arg);
    void *close_arg;

    struct osb_http_head head; /* last: its array is not cleared between requests */
};

struct osb_http_server {
    struct osb_loop *loop;
    struct osb_http_server_options options;
    osb_http_handler *handler;
    void *arg;
    struct osb_list conns;
    size_t conn_count;
    size_t rejected_count;
    struct osb_buf spare_in;           /* lent to whichever connection reads */
    struct osb_http_exchange *spare_x; /* likewise */
    struct osb_defer drained;
    void (*drained_fn)(void *arg);
    void *drained_arg;
    bool is_draining;
    time_t date_seconds;
    char date[HTTP_DATE_MAX];
};

/* ---- server.c ---- */
const char *http_server_date(struct osb_http_server *server);
/* The body of an error answer made by the server itself. */
void http_server_error_body(const struct osb_http_server *server, int status, const char *message,
                            struct osb_buf *out);

/* ---- server_conn.c ---- */
void http_conn_start(struct osb_http_server *server, struct osb_stream *stream, const char *peer,
                     bool is_rejected);
void http_conn_run(struct http_conn *conn);
/* Runs the connection at the end of this loop turn. */
void http_conn_kick(struct http_conn *conn);
void http_conn_free(struct http_conn *conn);
/* Moves to another state; asserts that the move is allowed. */
void http_conn_enter(struct http_conn *conn, enum http_conn_state state);

/* ---- server_input.c ---- */
/* Reads once; end of file and errors become flags. */
void http_conn_read(struct http_conn *conn);
/* Holds no more memory than what waits in the buffers. */
void http_conn_park_input(struct http_conn *conn);
/* Each returns true when it got something done. */
bool http_conn_parse(struct http_conn *conn);
bool http_conn_discard(struct http_conn *conn);
/* Answers outside an exchange and closes. */
void http_conn_refuse(struct http_conn *conn, int status, const char *message);

/* ---- server_body.c ---- */
bool http_exchange_deliver(struct osb_http_exchange *x);
bool http_exchange_wants_body(const struct osb_http_exchange *x);

/* ---- server_exchange.c ---- */
struct osb_http_exchange *http_exchange_take(struct http_conn *conn);
/* Copies the head's bytes, which start at BASE, into the arena and calls the handler. */
void http_exchange_start(struct osb_http_exchange *x, struct osb_slice raw);
/* Runs the close callback and frees. */
void http_exchange_close(struct osb_http_exchange *x, bool is_complete);
void http_exchange_put_back(struct osb_http_server *server, struct osb_http_exchange *x);

/* ---- server_reply.c ---- */
/* The server's own error answer in place of the handler's; cuts an answer that has begun. */
void http_exchange_refuse(struct osb_http_exchange *x, int status, const char *message);

/* ---- server_file.c ---- */
/* Queues the next part of a file, or sends it past the buffer; 0 or an error. */
int http_exchange_copy_file(struct osb_http_exchange *x);
int http_exchange_send_file(struct osb_http_exchange *x);

#endif
