// SPDX-License-Identifier: Apache-2.0
/*
 * The edge: HTTP exchanges in, verbs and documents out. One call struct accompanies each API
 * request until both the exchange has closed and its write, if any, has ended.
 */
#ifndef SERVER_H
#define SERVER_H

#include "authz.h"
#include "cluster.h"
#include "output.h"
#include "verb_read.h"
#include "verbs.h"

#include <osb/http_client.h>
#include <osb/http_server.h>
#include <osb/tls.h>

enum {
    REQUEST_MAX_BODY = 3 * 1024 * 1024, /* as real servers */
    WATCH_MAX_QUEUED = 256 * 1024,      /* bytes a watcher's connection holds; then it waits */
    WATCH_DEFAULT_TIMEOUT_S = 1800,     /* at least; up to twice as much */
    WATCH_MAX_TIMEOUT_S = 24 * 3600,    /* whatever the client asks for */
    WATCH_BOOKMARK_MS = 60 * 1000,      /* between two bookmarks */
    LOG_MAX_QUEUED = 256 * 1024,        /* bytes of a log before the node is told to wait */
    DRAIN_MS = 5000,                    /* after SIGTERM */
};

struct server_options {
    const char *address;
    int port;
    const char *tls_cert; /* NULL with is_insecure */
    const char *tls_key;
    const char *client_ca;
    const char *node_socket;
    bool is_insecure; /* plain HTTP, every client is the administrator */
};

struct server {
    struct osb_loop *loop;
    struct cluster *cluster;
    struct server_options options;
    struct osb_http_server *http;
    struct osb_listener *listener;
    struct osb_tls_context *tls;
    struct osb_http_client *node;
    struct osb_list watches;
    struct osb_timer bookmarks;
    struct osb_defer pump;
    bool is_stopping;
};

struct call {
    struct server *server;
    struct osb_http_exchange *x; /* NULL once it has closed */
    struct osb_arena arena;
    struct identity who;
    struct request request;
    struct output output;
    struct refusal refusal; /* of everything before the write */
    int64_t start_ns;
    int status; /* answered, for the log */

    /* writes */
    struct write write;
    bool is_writing;
    struct osb_json *body;
    enum patch_type patch_type;
    struct delete_options deletion;
    struct verb_context context;
    struct outcome outcome;
    int deleted_count;

    /* what else lives as long as the exchange, freed by it */
    void *stream;
    void (*free_stream)(void *stream);
};

int server_start(struct server *server, struct osb_loop *loop, struct cluster *cluster,
                 const struct server_options *options, struct osb_err *err);
int server_port(const struct server *server);
/* No new requests; DONE when all have ended (watches are ended at once). */
void server_drain(struct server *server, void (*done)(void *arg), void *arg);
void server_stop(struct server *server);

/* ---- shared by the serve_… files ---- */

/* The answers; each is the last thing done with the exchange. */
void reply_json(struct call *call, int status, struct osb_slice body);
void reply_refusal(struct call *call, const struct refusal *refusal);
void reply_object(struct call *call, int status, const struct object *object);

void serve_read(struct call *call);
void serve_write(struct call *call);
void serve_watch(struct call *call);
void serve_log(struct call *call);
/* New events were committed: watchers get them at the end of this turn. */
void watches_wake(struct server *server);
void watches_init(struct server *server);
/* Ends all watches in good order. */
void watches_end(struct server *server);
void call_maybe_free(struct call *call);

#endif
