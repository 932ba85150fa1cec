// SPDX-License-Identifier: Apache-2.0
/*
 * CRI calls (runtime.v1) with typed messages. The messages are protobuf-c structs generated at
 * build time from proto/runtime_v1.proto: our own minimal file with the public field numbers;
 * unknown fields are kept. Include <osb/cri.h> for the calls and "runtime_v1.pb-c.h" for the
 * message types (Runtime__V1__RunPodSandboxRequest and so on).
 */
#ifndef OSB_CRI_H
#define OSB_CRI_H

#include <osb/err.h>
#include <osb/loop.h>
#include <stdint.h>

struct osb_cri_client;
struct osb_cri_call;
struct ProtobufCMessage;

enum osb_cri_method {
    OSB_CRI_VERSION,
    OSB_CRI_STATUS,
    OSB_CRI_RUN_POD_SANDBOX,
    OSB_CRI_STOP_POD_SANDBOX,
    OSB_CRI_REMOVE_POD_SANDBOX,
    OSB_CRI_POD_SANDBOX_STATUS,
    OSB_CRI_LIST_POD_SANDBOX,
    OSB_CRI_CREATE_CONTAINER,
    OSB_CRI_START_CONTAINER,
    OSB_CRI_STOP_CONTAINER,
    OSB_CRI_REMOVE_CONTAINER,
    OSB_CRI_LIST_CONTAINERS,
    OSB_CRI_CONTAINER_STATUS,
    OSB_CRI_REOPEN_CONTAINER_LOG,
    OSB_CRI_EXEC_SYNC,
    OSB_CRI_EXEC,
    OSB_CRI_ATTACH,
    OSB_CRI_PORT_FORWARD,
    OSB_CRI_CONTAINER_STATS,
    OSB_CRI_LIST_CONTAINER_STATS,
    OSB_CRI_LIST_IMAGES,
    OSB_CRI_IMAGE_STATUS,
    OSB_CRI_PULL_IMAGE,
    OSB_CRI_REMOVE_IMAGE,
    OSB_CRI_IMAGE_FS_INFO,
    OSB_CRI_METHOD_COUNT
};

/*
 * RESPONSE is of the method's response type, NULL when R < 0; valid during the call. R carries the
 * runtime's gRPC status as a code, ERR its text.
 */
typedef void osb_cri_done(int r, const struct ProtobufCMessage *response, const struct osb_err *err,
                          void *arg);

/* ENDPOINT is "unix:///path". */
int osb_cri_client_new(struct osb_loop *loop, const char *endpoint, struct osb_cri_client **ret,
                       struct osb_err *err);
/* Cancels running calls; their callbacks do not run. */
void osb_cri_client_free(struct osb_cri_client *client);

/*
 * Starts a call. REQUEST must be of the method's request type (asserted) and is packed at once.
 * TIMEOUT_MS 0 takes the method's default (2 minutes; PullImage 30 minutes). RET may be NULL.
 */
int osb_cri_call(struct osb_cri_client *client, enum osb_cri_method method,
                 const struct ProtobufCMessage *request, uint64_t timeout_ms, osb_cri_done *done,
                 void *arg, struct osb_cri_call **ret, struct osb_err *err);
void osb_cri_call_cancel(struct osb_cri_call *call);

/* ---- containerd's own event service (CRI GetContainerEvents is missing in containerd 1.6) ---- */

enum osb_cri_event_type {
    OSB_CRI_EVENT_CONTAINER_STARTED, /* /tasks/start */
    OSB_CRI_EVENT_CONTAINER_EXITED,  /* /tasks/exit of the init process */
    OSB_CRI_EVENT_CONTAINER_OOM,     /* /tasks/oom */
    OSB_CRI_EVENT_CONTAINER_DELETED, /* /tasks/delete */
    OSB_CRI_EVENT_LOST,              /* the stream broke: relist */
    OSB_CRI_EVENT_CONNECTED,         /* the stream is (again) established: relist */
};

struct osb_cri_event {
    enum osb_cri_event_type type;
    const char *container_id; /* containers and sandboxes alike; "" for the last two types */
    uint32_t pid;
    uint32_t exit_status;
    int64_t timestamp_ns;
};

struct osb_cri_events;

/* Subscribes in namespace "k8s.io" and again after a loss, with a back-off. */
int osb_cri_events_new(struct osb_loop *loop, const char *endpoint,
                       void (*fn)(const struct osb_cri_event *event, void *arg), void *arg,
                       struct osb_cri_events **ret, struct osb_err *err);
void osb_cri_events_free(struct osb_cri_events *events);

#endif
