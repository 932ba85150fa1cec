// SPDX-License-Identifier: Apache-2.0
/* What CRI says of a container or sandbox, taken over into the state of its pod. */
#ifndef NODE_POD_REFRESH_H
#define NODE_POD_REFRESH_H

#include "pod.h"

#include "runtime_v1.pb-c.h"

/* Applies a status; true when the state has changed. */
bool pod_apply_container(struct pod *pod, size_t index, const Runtime__V1__ContainerStatus *status);
/* The container is not there any more, though it had been started: an end without a code. */
void pod_container_lost(struct pod *pod, size_t index);
void pod_refresh_cancel_all(struct pod *pod);

#endif
