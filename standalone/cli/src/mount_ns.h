// SPDX-License-Identifier: Apache-2.0
/*
 * The mount namespace of an instance: a slave of the machine's, in which /run/containerd and
 * /var/lib/cni (paths compiled into containerd) are private folders. It needs no clean-up: the
 * kernel drops it, with every mount in it, when its last process is gone.
 */
#ifndef CLI_MOUNT_NS_H
#define CLI_MOUNT_NS_H

#include "instance.h"

#include <osb/err.h>
#include <sys/types.h>

/* Moves this process into a new namespace. Single-threaded processes only (unshare(2)). */
int mount_ns_enter_new(const struct instance *instance, struct osb_err *err);
/* Moves this process into the namespace of PID. */
int mount_ns_enter(pid_t pid, struct osb_err *err);
/* Removes the mount points that mount_ns_enter_new() had to make, when they are empty. */
void mount_ns_remove_points(const struct instance *instance);

#endif
