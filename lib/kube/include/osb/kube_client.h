// SPDX-License-Identifier: Apache-2.0
/*
 * REST verbs of a Kubernetes API, asynchronous on the loop (libcurl multi behind a transport
 * interface; a scripted transport in tests). Answers that are not 2xx arrive as errors made from
 * their Status; what a 429 or 503 says in Retry-After is told by osb_kube_retry_after_s().
 *
 * A call ends with its callback, exactly once, never from inside the function that started it; or
 * with osb_kube_cancel(), without it. Nothing is sent again by the client: an answer that got lost
 * may have had its effect, and only the caller knows what to do then.
 */
#ifndef OSB_KUBE_CLIENT_H
#define OSB_KUBE_CLIENT_H

#include <osb/api_kinds.h>
#include <osb/err.h>
#include <osb/json_tree.h>
#include <osb/kube_config.h>
#include <osb/loop.h>
#include <osb/slice.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    OSB_KUBE_REQUEST_TIMEOUT_MS = 30000,
    OSB_KUBE_MAX_OBJECT = 3 * 1024 * 1024,     /* bytes of one answer that is not a list */
    OSB_KUBE_MAX_LIST_PAGE = 64 * 1024 * 1024, /* bytes of one page of a list */
    OSB_KUBE_MAX_WATCH_LINE = 3 * 1024 * 1024,
};

struct osb_kube_client;
struct osb_kube_call;

/* ---- transport: what a client needs of the network ---- */

/* Strings and body are borrowed during the call that starts it. */
struct osb_kube_http_request {
    const char *method;
    const char *path; /* with query */
    const char *content_type;
    const char *accept;
    struct osb_slice body;
    uint64_t timeout_ms;    /* 0: none (watches) */
    const char *request_id; /* X-Request-ID; may be NULL */
};

struct osb_kube_transport_callbacks {
    /* STATUS once, before data, unless the network failed before. RETRY_AFTER_S of the header or 0.
     */
    void (*on_status)(int status, int retry_after_s, void *arg);
    void (*on_data)(struct osb_slice data, void *arg);
    /* Exactly once, last. R < 0: the network failed. */
    void (*on_end)(int r, const struct osb_err *err, void *arg);
};

struct osb_kube_transport {
    const struct osb_kube_transport_ops *ops;
};

struct osb_kube_transport_ops {
    /*
     * Returns a handle for cancel in *RET_HANDLE. Callbacks never run from inside. The handle is
     * valid until on_end or cancel.
     */
    int (*start)(struct osb_kube_transport *transport, const struct osb_kube_http_request *request,
                 const struct osb_kube_transport_callbacks *callbacks, void *arg, void **ret_handle,
                 struct osb_err *err);
    /* No callback runs any more. Allowed inside the callbacks, except on_end of the same handle. */
    void (*cancel)(struct osb_kube_transport *transport, void *handle);
    /* All handles have ended or are cancelled. */
    void (*free)(struct osb_kube_transport *transport);
};

/*
 * libcurl on the loop: keep-alive, TLS, rotated token and CA files. CONFIG is borrowed and must
 * outlive the transport. Proxies of the environment are not used.
 */
int osb_kube_transport_new_curl(struct osb_loop *loop, const struct osb_kube_config *config,
                                const char *user_agent, struct osb_kube_transport **ret,
                                struct osb_err *err);

/* ---- client ---- */

/* Takes TRANSPORT. Freeing the client cancels what still runs. */
struct osb_kube_client *osb_kube_client_new(struct osb_loop *loop,
                                            struct osb_kube_transport *transport);
void osb_kube_client_free(struct osb_kube_client *client);
/* Sent as X-Request-ID with calls started from now on; NULL for none. Copied. */
void osb_kube_client_set_request_id(struct osb_kube_client *client, const char *request_id);

/* The Retry-After of the answer whose callback runs now, in seconds; 0 for none. */
int osb_kube_retry_after_s(const struct osb_kube_client *client);

/* BODY is the answer's text, valid during the call; empty when R < 0. */
typedef void osb_kube_done(int r, struct osb_slice body, const struct osb_err *err, void *arg);

/* RET may be NULL in each; osb_kube_cancel() stops a call without its callback. */
int osb_kube_get(struct osb_kube_client *client, const struct osb_api_kind *kind,
                 const char *namespace_, const char *name, osb_kube_done *done, void *arg,
                 struct osb_kube_call **ret, struct osb_err *err);
/* OBJECT is printed at once. NULL subresource for the object itself. */
int osb_kube_create(struct osb_kube_client *client, const struct osb_api_kind *kind,
                    const char *namespace_, const struct osb_json *object, osb_kube_done *done,
                    void *arg, struct osb_kube_call **ret, struct osb_err *err);
int osb_kube_update(struct osb_kube_client *client, const struct osb_api_kind *kind,
                    const char *namespace_, const char *name, const char *subresource,
                    const struct osb_json *object, osb_kube_done *done, void *arg,
                    struct osb_kube_call **ret, struct osb_err *err);

enum osb_kube_patch { OSB_KUBE_PATCH_MERGE, OSB_KUBE_PATCH_JSON, OSB_KUBE_PATCH_STRATEGIC };

int osb_kube_patch(struct osb_kube_client *client, const struct osb_api_kind *kind,
                   const char *namespace_, const char *name, const char *subresource,
                   enum osb_kube_patch type, struct osb_slice patch, osb_kube_done *done, void *arg,
                   struct osb_kube_call **ret, struct osb_err *err);

struct osb_kube_delete_options {
    const char *uid;              /* precondition; may be NULL */
    const char *resource_version; /* precondition; may be NULL */
    int64_t grace_seconds;        /* -1: the object's own */
    const char *propagation;      /* Background, Foreground, Orphan; NULL: default */
};

int osb_kube_delete(struct osb_kube_client *client, const struct osb_api_kind *kind,
                    const char *namespace_, const char *name,
                    const struct osb_kube_delete_options *options, osb_kube_done *done, void *arg,
                    struct osb_kube_call **ret, struct osb_err *err);
/*
 * Any path, for the rest: at most MAX_BODY bytes of answer (0: OSB_KUBE_MAX_OBJECT), TIMEOUT_MS as
 * given; the request id is the client's unless the request has its own.
 */
int osb_kube_raw(struct osb_kube_client *client, const struct osb_kube_http_request *request,
                 size_t max_body, osb_kube_done *done, void *arg, struct osb_kube_call **ret,
                 struct osb_err *err);
/*
 * A streamed answer (watch, followed log): ON_DATA gets the pieces of a 2xx answer; DONE as above,
 * with an empty body.
 */
int osb_kube_stream(struct osb_kube_client *client, const struct osb_kube_http_request *request,
                    void (*on_data)(struct osb_slice data, void *arg), osb_kube_done *done,
                    void *arg, struct osb_kube_call **ret, struct osb_err *err);
/* Ends a call without its callback; NULL is allowed. Not for use inside that call's DONE. */
void osb_kube_cancel(struct osb_kube_call *call);

#endif
