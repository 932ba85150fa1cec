// SPDX-License-Identifier: Apache-2.0
/*
 * How the files of execd get into a pod. Either its node puts them in (the shim, or the embedded
 * node runner), which two annotations ask for; or an init container copies them into a volume that
 * the main container has at /opt/opensandbox.
 *
 * With the init container that folder is writable, because clients append to the file `.env` in it,
 * and the two programs lie over it as read-only mounts of their own: the sandbox can neither change
 * nor remove them, also as root without CAP_SYS_ADMIN.
 */
#ifndef OPERATOR_POD_INJECT_H
#define OPERATOR_POD_INJECT_H

#include <osb/json_tree.h>

#include "config.h"

#define INJECT_CONTAINER "execd-installer"
#define INJECT_VOLUME    "opensandbox-bin"
#define INJECT_FOLDER    "/opt/opensandbox"

/*
 * Changes POD, whose main container is CONTAINER. -OSB_E_INVALID when the pod has something of its
 * own in the way, -OSB_E_UNSUPPORTED when there is no image to copy from.
 */
int pod_inject(struct osb_json *pod, struct osb_json *container, const struct config *config,
               struct osb_err *err);

/* NULL when sandboxes can be given execd; else what the configuration lacks. */
const char *pod_inject_lacks(const struct config *config);

#endif
