// SPDX-License-Identifier: Apache-2.0
/*
 * CRI requests made from a pod: everything lives in the arena that is given, so that a request is
 * freed with it.
 */
#ifndef NODE_CRI_BUILD_H
#define NODE_CRI_BUILD_H

#include "node.h"
#include "pod_spec.h"

#include "runtime_v1.pb-c.h"

/* Labels that tie sandboxes and containers to pods: those that the kubelet writes. */
#define CRI_LABEL_POD_UID       "io.kubernetes.pod.uid"
#define CRI_LABEL_POD_NAME      "io.kubernetes.pod.name"
#define CRI_LABEL_POD_NAMESPACE "io.kubernetes.pod.namespace"
#define CRI_LABEL_CONTAINER     "io.kubernetes.container.name"
/* The sandbox id, for collectors of logs. */
#define CRI_LABEL_SANDBOX "opensandbox.io/id"

/* An environment with its secrets resolved, and mounts with their host paths. */
struct resolved_env {
    const char *name;
    const char *value;
};

struct resolved_mount {
    const char *host_path;
    const char *container_path;
    bool is_read_only;
};

struct resolved_container {
    const char **command; /* as many as the spec has, like args */
    const char **args;
    struct resolved_env *env;
    size_t env_count;
    struct resolved_mount *mounts;
    size_t mount_count;
};

Runtime__V1__PodSandboxConfig *cri_build_sandbox(struct osb_arena *arena, const struct node *node,
                                                 const struct pod_spec *spec, uint32_t attempt);
Runtime__V1__ContainerConfig *cri_build_container(struct osb_arena *arena,
                                                  const struct pod_spec *spec, size_t index,
                                                  const struct resolved_container *resolved,
                                                  uint32_t attempt);
/* "<root>/logs/<namespace>_<name>_<uid>", and the file below it. */
char *cri_build_log_folder(struct osb_arena *arena, const struct node *node,
                           const struct pod_spec *spec);
char *cri_build_log_file(struct osb_arena *arena, const char *container, uint32_t attempt);
/* An image by name. */
Runtime__V1__ImageSpec *cri_build_image(struct osb_arena *arena, const char *image);

#endif
