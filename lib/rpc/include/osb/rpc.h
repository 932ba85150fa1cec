// SPDX-License-Identifier: Apache-2.0
/*
 * gRPC on the loop: channels and calls, servers, and raw-frame proxying, over gRPC C core's own
 * completion-queue thread. Nothing outside lib/rpc names gRPC. Messages are bytes here; typed
 * calls are made above (lib/cri with protobuf-c).
 *
 * Threads: every call is for the loop thread and every callback runs on it, but for the three
 * callbacks of a server that say otherwise: they run on the queue's thread, where forwarded calls
 * live from beginning to end. There is one such thread for all channels and servers of a process,
 * so what blocks it holds all of them. A process that holds a channel or server must not
 * fork() without exec (osb_spawn() is fine). Of the client, unary and server-streaming calls are
 * built.
 */
#ifndef OSB_RPC_H
#define OSB_RPC_H

#include <osb/buf.h>
#include <osb/err.h>
#include <osb/loop.h>
#include <osb/slice.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    OSB_RPC_MAX_MESSAGE = 16 * 1024 * 1024,  /* each way; over it RESOURCE_EXHAUSTED */
    OSB_RPC_MAX_METADATA = 16 * 1024 * 1024, /* long error texts of runtimes travel here */
};

/* The end of a call. Slices are valid during the callback. */
struct osb_rpc_status {
    int code; /* gRPC status code; 0 is OK */
    struct osb_slice message;
    struct osb_slice details; /* grpc-status-details-bin */
};

/* Turns a status that is not OK into a code of osb/err.h and raises it. 0 for OK. */
int osb_rpc_status_to_err(const struct osb_rpc_status *status, struct osb_err *err);

/* ---- client ---- */

struct osb_rpc_channel;
struct osb_rpc_call;

/* TARGET is "unix:///path". Connects lazily and again after a loss. */
int osb_rpc_channel_new(struct osb_loop *loop, const char *target, struct osb_rpc_channel **ret,
                        struct osb_err *err);
/* Cancels running calls; their end callbacks do not run. Blocks until the queue is drained. */
void osb_rpc_channel_free(struct osb_rpc_channel *channel);
/*
 * Whether there is a connection now. Asks an idle channel to connect, so that asking again later
 * tells more. Does not block; any thread.
 */
bool osb_rpc_channel_is_connected(struct osb_rpc_channel *channel);

struct osb_rpc_callbacks {
    /* A message of the answer (exactly one for unary calls that succeed). May be NULL. */
    void (*on_message)(struct osb_rpc_call *call, struct osb_slice message, void *arg);
    /* Exactly once, last; the call is freed after it returns. */
    void (*on_end)(struct osb_rpc_call *call, const struct osb_rpc_status *status, void *arg);
};

/*
 * METHOD is "/package.Service/Method". TIMEOUT_MS 0 for none. REQUEST is copied. Callbacks never
 * run from inside this call.
 */
int osb_rpc_unary(struct osb_rpc_channel *channel, const char *method, struct osb_slice request,
                  uint64_t timeout_ms, const struct osb_rpc_callbacks *callbacks, void *arg,
                  struct osb_rpc_call **ret, struct osb_err *err);
/* One request, many answers. osb_rpc_call_pause() stops reading: back-pressure. */
int osb_rpc_server_stream(struct osb_rpc_channel *channel, const char *method,
                          struct osb_slice request, uint64_t timeout_ms,
                          const struct osb_rpc_callbacks *callbacks, void *arg,
                          struct osb_rpc_call **ret, struct osb_err *err);
void osb_rpc_call_pause(struct osb_rpc_call *call);
void osb_rpc_call_resume(struct osb_rpc_call *call);
/* on_end will not run; the call is freed. */
void osb_rpc_call_cancel(struct osb_rpc_call *call);
/* Metadata of the request, before it is started, by a list of "name: value" pairs. */
struct osb_rpc_metadata {
    const char *name;
    const char *value;
};
/* Sent with every later call of the channel (containerd wants "containerd-namespace"). Copied. */
void osb_rpc_channel_set_metadata(struct osb_rpc_channel *channel,
                                  const struct osb_rpc_metadata *metadata, int count);

/* ---- server and proxy ---- */

struct osb_rpc_server;
struct osb_rpc_server_call;

/* What to do with a method. */
enum osb_rpc_route {
    /*
     * Frames pass both ways undecoded, on the queue's thread: calls of every kind. A reader that
     * stops holds its writer back, with one message in each direction.
     */
    OSB_RPC_FORWARD,
    /*
     * The same for methods that are known to be one request and one answer, at half the system
     * calls. Never for a stream: its first answer would wait for its end.
     */
    OSB_RPC_FORWARD_UNARY,
    OSB_RPC_REWRITE, /* OSB_RPC_FORWARD_UNARY, but rewrite() changes the request first */
    OSB_RPC_HANDLE,  /* handed to the loop: on_call() */
};

/* What rewrite() returns when the request is to pass as it came. */
enum { OSB_RPC_UNCHANGED = 1 };

/* A forwarded call that ended. Slices are valid during the callback. */
struct osb_rpc_done {
    struct osb_slice method;
    enum osb_rpc_route route;
    int code;                 /* gRPC status that the client got, or would have, had it stayed */
    struct osb_slice message; /* of the status; text of the backend unless we ended the call */
    uint64_t duration_ns;
    uint64_t request_bytes;  /* of messages that came from the client */
    uint64_t response_bytes; /* of messages that came from the backend */
};

struct osb_rpc_server_options {
    /* Decides per method. Queue's thread; must not block. */
    enum osb_rpc_route (*route)(struct osb_slice method, void *arg);
    /*
     * For OSB_RPC_REWRITE: appends the whole new request to OUT and returns 0, or returns
     * OSB_RPC_UNCHANGED. A failure is answered with the gRPC status of its code by the table of
     * osb/err.h and the message of ERR; the backend hears nothing. Queue's thread; must not
     * block. May be NULL when no route needs it.
     */
    int (*rewrite)(struct osb_slice method, struct osb_slice request, struct osb_buf *out,
                   struct osb_err *err, void *arg);
    /*
     * Exactly once for each call with a forwarding route, when it is over. Queue's thread; must
     * not block. May be NULL.
     */
    void (*on_done)(const struct osb_rpc_done *done, void *arg);
    /*
     * For OSB_RPC_HANDLE: the call is the callee's until osb_rpc_server_call_finish(). Loop
     * thread. May be NULL when no route needs it.
     */
    void (*on_call)(struct osb_rpc_server_call *call, struct osb_slice method, void *arg);
    void *arg;
    /*
     * Where forwarded calls go; outlives the server. Metadata set on the channel is not added to
     * them. While it is not connected they are answered UNAVAILABLE. May be NULL when no route
     * forwards.
     */
    struct osb_rpc_channel *backend;
};

/* Serves descriptors that the caller has accepted, so that a live socket is never stolen. */
int osb_rpc_server_new(struct osb_loop *loop, const struct osb_rpc_server_options *options,
                       struct osb_rpc_server **ret, struct osb_err *err);
/*
 * Takes FD, a connected stream socket, also on failure. -OSB_E_CLOSED after
 * osb_rpc_server_shutdown().
 */
int osb_rpc_server_serve_fd(struct osb_rpc_server *server, int fd, struct osb_err *err);
/*
 * Takes no new calls, lets running ones end within GRACE_MS and cancels those that are left (a
 * stream of events never ends alone). FN(ARG) runs when none is left: forwarded ones end by
 * themselves, handled ones when their owner has finished them. Once only.
 */
void osb_rpc_server_shutdown(struct osb_rpc_server *server, uint64_t grace_ms,
                             void (*fn)(void *arg), void *arg);
/*
 * Cancels running calls and blocks until they are gone, which takes no peer's help: on_done()
 * runs for forwarded ones, handled ones are freed without a callback. NULL is allowed.
 */
void osb_rpc_server_free(struct osb_rpc_server *server);

/* ---- calls handed to the loop ---- */

/*
 * Reads the next request message, one read at a time; FN with IS_END when the client half-closed.
 * When the client is gone FN does not run, on_cancel does.
 */
void osb_rpc_server_call_read(struct osb_rpc_server_call *call,
                              void (*fn)(struct osb_rpc_server_call *call, struct osb_slice message,
                                         bool is_end, void *arg),
                              void *arg);
/*
 * Writes a message of the answer, which is copied; one write at a time. One of more than
 * OSB_RPC_MAX_MESSAGE ends the call with RESOURCE_EXHAUSTED. FN (NULL for none) runs
 * when the next one may be written: back-pressure. When the client is gone FN does not run.
 */
void osb_rpc_server_call_write(struct osb_rpc_server_call *call, struct osb_slice message,
                               void (*fn)(struct osb_rpc_server_call *call, void *arg), void *arg);
/*
 * Ends the call after what was written; CALL is gone for the caller and none of its callbacks
 * runs any more. Every handled call needs this once, also a cancelled one. STATUS is copied.
 */
void osb_rpc_server_call_finish(struct osb_rpc_server_call *call,
                                const struct osb_rpc_status *status);
/*
 * FN runs once if the client goes, the deadline passes or the server cancels before the call is
 * finished; at the end of this turn when that has already happened.
 */
void osb_rpc_server_call_on_cancel(struct osb_rpc_server_call *call,
                                   void (*fn)(struct osb_rpc_server_call *call, void *arg),
                                   void *arg);
/* Of the clock of osb_monotonic_ns(); UINT64_MAX when the client set none. */
uint64_t osb_rpc_server_call_deadline_ns(const struct osb_rpc_server_call *call);
/* A pair of the client's metadata; false when there are no more than INDEX. Valid as the call. */
bool osb_rpc_server_call_metadata(const struct osb_rpc_server_call *call, size_t index,
                                  struct osb_slice *ret_name, struct osb_slice *ret_value);

#endif
