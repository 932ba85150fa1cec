// SPDX-License-Identifier: Apache-2.0
/*
 * What the steps of a pod's worker share, and the steps themselves. Each starts one thing and ends,
 * now or later, in pod_step_end() or in one of the functions that tell a failure.
 */
#ifndef NODE_STEP_H
#define NODE_STEP_H

#include "pod.h"
#include "volumes.h"

/* The step is over: reports, and looks for the next. */
void pod_step_end(struct pod *pod);
/* Calls CRI for the step; a call that cannot even be started ends like one that failed. */
void pod_step_call(struct pod *pod, enum osb_cri_method method,
                   const struct ProtobufCMessage *request, uint64_t timeout_ms, osb_cri_done *done);
/* The container that the step is about. */
struct container_state *pod_step_container(struct pod *pod);
const struct container_spec *pod_step_spec(const struct pod *pod);

/* Each ends the step: the sandbox cannot be had now (event WHAT), to be tried again later; */
void pod_sandbox_failed(struct pod *pod, const char *what, const struct osb_err *err);
/* a container cannot go on, to be tried again later; */
void pod_container_failed(struct pod *pod, const char *reason, const struct osb_err *err);
/* the same, when the container's state has been set already. */
void pod_tell_failure(struct pod *pod, const char *reason, const struct osb_err *err);

/*
 * The secrets that the pod names, fetched once for the steps that lead to a running pod. True when
 * they are there; else they are fetched and the step is started again afterwards.
 */
bool pod_has_secrets(struct pod *pod);
struct secret_source pod_secret_source(struct pod *pod);

/* step_sandbox.c */
void pod_prepare_volumes(struct pod *pod);
void pod_run_sandbox(struct pod *pod);
void pod_ask_sandbox(struct pod *pod);
void pod_stop_sandbox(struct pod *pod);
void pod_remove_sandbox(struct pod *pod);
/* step_image.c */
void pod_pull(struct pod *pod);
/* step_container.c */
void pod_create(struct pod *pod);
void pod_start(struct pod *pod);
void pod_stop(struct pod *pod);
void pod_remove_container(struct pod *pod);
/* step_end.c */
void pod_clean_up(struct pod *pod);
void pod_delete_object(struct pod *pod);

#endif
