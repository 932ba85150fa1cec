// SPDX-License-Identifier: Apache-2.0
/*
 * gRPC on the loop: channels and calls, servers, and raw-frame proxying, over gRPC C core's own
 * completion-queue thread. Nothing outside lib/rpc names gRPC. Messages are bytes here; typed
 * calls are made above (lib/cri with protobuf-c).
 *
 * Threads: callbacks run on the loop thread. A process that holds a channel or server must not
 * fork() without exec (osb_spawn() is fine). Built so far: the client, unary and server-streaming.
 * The server and proxy calls below are the interface that the shim will use; until they are built
 * they answer -OSB_E_UNSUPPORTED.
 */
#ifndef OSB_RPC_H
#define OSB_RPC_H

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
    OSB_RPC_FORWARD, /* pass frames both ways on the queue's thread, undecoded */
    OSB_RPC_HANDLE,  /* hand the call to the loop */
};

struct osb_rpc_server_options {
    /* Decides per method; called on the queue's thread, must not block. */
    enum osb_rpc_route (*route)(struct osb_slice method, void *arg);
    /* A call to be handled; loop thread. */
    void (*on_call)(struct osb_rpc_server_call *call, struct osb_slice method, void *arg);
    void *arg;
    struct osb_rpc_channel *backend; /* for OSB_RPC_FORWARD; may be NULL */
};

/* Serves descriptors that the caller has accepted, so that a live socket is never stolen. */
int osb_rpc_server_new(struct osb_loop *loop, const struct osb_rpc_server_options *options,
                       struct osb_rpc_server **ret, struct osb_err *err);
/* Takes FD. */
int osb_rpc_server_serve_fd(struct osb_rpc_server *server, int fd, struct osb_err *err);
void osb_rpc_server_free(struct osb_rpc_server *server);
/* Reads the next request message; FN with IS_END when the client half-closed. */
void osb_rpc_server_call_read(struct osb_rpc_server_call *call,
                              void (*fn)(struct osb_rpc_server_call *call, struct osb_slice message,
                                         bool is_end, void *arg),
                              void *arg);
void osb_rpc_server_call_write(struct osb_rpc_server_call *call, struct osb_slice message);
void osb_rpc_server_call_finish(struct osb_rpc_server_call *call,
                                const struct osb_rpc_status *status);

#endif
