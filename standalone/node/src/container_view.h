// SPDX-License-Identifier: Apache-2.0
/* What a container sees of its pod: environment, command line and mounts. */
#ifndef NODE_CONTAINER_VIEW_H
#define NODE_CONTAINER_VIEW_H

#include "cri_build.h"
#include "volumes.h"

/* Where sandboxes find execd and launcher. */
#define CONTAINER_VIEW_EXECD_FOLDER "/opt/opensandbox"

/*
 * Fills RET, in ARENA, and makes the folders of subPaths that are missing. POD_IP may be NULL.
 * -OSB_E_NOT_FOUND: a Secret or key is missing (CreateContainerConfigError).
 */
int container_view_resolve(struct osb_arena *arena, const struct node *node,
                           const struct pod_spec *spec, size_t index, const char *pod_ip,
                           const struct secret_source *secrets, struct resolved_container *ret,
                           struct osb_err *err);

#endif
