// SPDX-License-Identifier: Apache-2.0
/* Keeps container logs bounded: one older file beside the current one. */
#ifndef NODE_LOG_ROTATION_H
#define NODE_LOG_ROTATION_H

#include "pod.h"

#define LOG_ROTATED_SUFFIX ".old"

/*
 * When the log of a running container is over NODE_LOG_MAX_BYTES it is renamed to "<n>.log.old"
 * (an earlier one is dropped) and the runtime is told to open a new one.
 */
void log_rotate(struct pod *pod, size_t index);
/* Removes the logs of the runs before the previous one. */
void log_remove_old(const struct pod *pod, size_t index);

#endif
