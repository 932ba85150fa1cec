// SPDX-License-Identifier: Apache-2.0
#include "requests.h"

#include <osb/err.h>

#include "inject.h"

typedef Runtime__V1__PodSandboxConfig__AnnotationsEntry entry;

enum { ANNOTATIONS_MAX = 4 };

struct annotations {
    entry entries[ANNOTATIONS_MAX];
    entry *list[ANNOTATIONS_MAX];
    size_t count;
};

static void add(struct annotations *annotations, const char *key, const char *value)
{
    entry *e = &annotations->entries[annotations->count];

    if (!value)
        return;
    runtime__v1__pod_sandbox_config__annotations_entry__init(e);
    e->key = (char *)key;
    e->value = (char *)value;
    annotations->list[annotations->count++] = e;
}

static void pack(const Runtime__V1__CreateContainerRequest *request, struct osb_buf *out)
{
    size_t size = runtime__v1__create_container_request__get_packed_size(request);
    uint8_t *room = (uint8_t *)osb_buf_reserve(out, size);

    osb_assert(room);
    runtime__v1__create_container_request__pack(request, room);
    osb_buf_commit(out, size);
}

void request_make(const struct request_shape *shape, struct osb_buf *out)
{
    Runtime__V1__CreateContainerRequest request = RUNTIME__V1__CREATE_CONTAINER_REQUEST__INIT;
    Runtime__V1__PodSandboxConfig pod = RUNTIME__V1__POD_SANDBOX_CONFIG__INIT;
    Runtime__V1__PodSandboxMetadata pod_metadata = RUNTIME__V1__POD_SANDBOX_METADATA__INIT;
    Runtime__V1__ContainerConfig container = RUNTIME__V1__CONTAINER_CONFIG__INIT;
    Runtime__V1__ContainerMetadata metadata = RUNTIME__V1__CONTAINER_METADATA__INIT;
    Runtime__V1__Mount mount = RUNTIME__V1__MOUNT__INIT;
    Runtime__V1__Mount *mounts[] = {&mount};
    struct annotations annotations = {.count = 0};

    add(&annotations, "example.org/other", "kept");
    add(&annotations, INJECT_ANNOTATION, shape->inject);
    add(&annotations, INJECT_VERSION_ANNOTATION, shape->version);
    add(&annotations, INJECT_CONTAINER_ANNOTATION, shape->named);
    pod_metadata.name = (char *)"pod-0";
    pod_metadata.namespace_ = (char *)"tenant";
    pod.metadata = &pod_metadata;
    pod.annotations = annotations.list;
    pod.n_annotations = annotations.count;
    if (shape->container) {
        metadata.name = (char *)shape->container;
        container.metadata = &metadata;
    }
    if (shape->container_path) {
        mount.host_path = (char *)shape->host_path;
        mount.container_path = (char *)shape->container_path;
        container.mounts = mounts;
        container.n_mounts = 1;
    }
    request.pod_sandbox_id = (char *)"5a7d";
    request.config = &container;
    request.sandbox_config = &pod;
    pack(&request, out);
}
