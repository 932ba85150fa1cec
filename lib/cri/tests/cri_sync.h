// SPDX-License-Identifier: Apache-2.0
/* CRI calls one after the other, for test programs: each call turns the loop until it is answered.
 */
#ifndef CRI_SYNC_H
#define CRI_SYNC_H

#include "runtime_v1.pb-c.h"

#include <osb/cri.h>

struct cri_sync {
    struct osb_loop *loop;
    struct osb_cri_client *client;
};

int cri_sync_init(struct cri_sync *sync, const char *endpoint, struct osb_err *err);
void cri_sync_done(struct cri_sync *sync);
/* RET_RESPONSE may be NULL; freed with protobuf_c_message_free_unpacked(). */
int cri_sync_call(struct cri_sync *sync, enum osb_cri_method method,
                  const ProtobufCMessage *request, ProtobufCMessage **ret_response,
                  struct osb_err *err);
/* Until the runtime and its network say that they are ready; at most TIMEOUT_MS. */
int cri_sync_wait_ready(struct cri_sync *sync, uint64_t timeout_ms, struct osb_err *err);

int cri_sync_pull(struct cri_sync *sync, const char *image, struct osb_err *err);

/* ---- a pod of one container ---- */

struct cri_sync_pod {
    char *sandbox_id;
    char *container_id;
    char *log_folder; /* the container's log is "log" in it */
    char *cgroup_parent;
    char *name;
};

/* LOG_FOLDER and CGROUP_PARENT may be NULL. */
int cri_sync_run_sandbox(struct cri_sync *sync, struct cri_sync_pod *pod, const char *name,
                         const char *log_folder, const char *cgroup_parent, struct osb_err *err);
/* Creates and starts; COMMAND of COUNT words stands for the image's, 0 leaves that. */
int cri_sync_run_container(struct cri_sync *sync, struct cri_sync_pod *pod, const char *image,
                           const char *const *command, size_t count, struct osb_err *err);
/* *RET is freed with runtime__v1__exec_sync_response__free_unpacked(). */
int cri_sync_exec(struct cri_sync *sync, const char *container_id, const char *const *command,
                  size_t count, int64_t timeout_s, Runtime__V1__ExecSyncResponse **ret,
                  struct osb_err *err);
int cri_sync_stop_container(struct cri_sync *sync, const char *container_id, int64_t grace_s,
                            struct osb_err *err);
int cri_sync_remove_container(struct cri_sync *sync, const char *container_id, struct osb_err *err);
/* Stops and removes the sandbox with what is in it, and clears POD. */
int cri_sync_remove_pod(struct cri_sync *sync, struct cri_sync_pod *pod, struct osb_err *err);

#endif
