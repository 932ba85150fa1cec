// SPDX-License-Identifier: Apache-2.0
#include "cri_method.h"

#include "runtime_v1.pb-c.h"

enum {
    TIMEOUT_MS = 2 * 60 * 1000,
    PULL_TIMEOUT_MS = 30 * 60 * 1000, /* large images over slow lines */
};

#define METHOD(service, method, stem, timeout)                                                     \
    {                                                                                              \
        .path = "/runtime.v1." #service "/" #method, .name = #method,                              \
        .request = &runtime__v1__##stem##_request__descriptor,                                     \
        .response = &runtime__v1__##stem##_response__descriptor, .timeout_ms = (timeout)           \
    }
#define RUNTIME(method, stem) METHOD(RuntimeService, method, stem, TIMEOUT_MS)
#define IMAGE(method, stem)   METHOD(ImageService, method, stem, TIMEOUT_MS)

static const struct cri_method methods[OSB_CRI_METHOD_COUNT] = {
    [OSB_CRI_VERSION] = RUNTIME(Version, version),
    [OSB_CRI_STATUS] = RUNTIME(Status, status),
    [OSB_CRI_RUN_POD_SANDBOX] = RUNTIME(RunPodSandbox, run_pod_sandbox),
    [OSB_CRI_STOP_POD_SANDBOX] = RUNTIME(StopPodSandbox, stop_pod_sandbox),
    [OSB_CRI_REMOVE_POD_SANDBOX] = RUNTIME(RemovePodSandbox, remove_pod_sandbox),
    [OSB_CRI_POD_SANDBOX_STATUS] = RUNTIME(PodSandboxStatus, pod_sandbox_status),
    [OSB_CRI_LIST_POD_SANDBOX] = RUNTIME(ListPodSandbox, list_pod_sandbox),
    [OSB_CRI_CREATE_CONTAINER] = RUNTIME(CreateContainer, create_container),
    [OSB_CRI_START_CONTAINER] = RUNTIME(StartContainer, start_container),
    [OSB_CRI_STOP_CONTAINER] = RUNTIME(StopContainer, stop_container),
    [OSB_CRI_REMOVE_CONTAINER] = RUNTIME(RemoveContainer, remove_container),
    [OSB_CRI_LIST_CONTAINERS] = RUNTIME(ListContainers, list_containers),
    [OSB_CRI_CONTAINER_STATUS] = RUNTIME(ContainerStatus, container_status),
    [OSB_CRI_REOPEN_CONTAINER_LOG] = RUNTIME(ReopenContainerLog, reopen_container_log),
    [OSB_CRI_EXEC_SYNC] = RUNTIME(ExecSync, exec_sync),
    [OSB_CRI_EXEC] = RUNTIME(Exec, exec),
    [OSB_CRI_ATTACH] = RUNTIME(Attach, attach),
    [OSB_CRI_PORT_FORWARD] = RUNTIME(PortForward, port_forward),
    [OSB_CRI_CONTAINER_STATS] = RUNTIME(ContainerStats, container_stats),
    [OSB_CRI_LIST_CONTAINER_STATS] = RUNTIME(ListContainerStats, list_container_stats),
    [OSB_CRI_LIST_IMAGES] = IMAGE(ListImages, list_images),
    [OSB_CRI_IMAGE_STATUS] = IMAGE(ImageStatus, image_status),
    [OSB_CRI_PULL_IMAGE] = METHOD(ImageService, PullImage, pull_image, PULL_TIMEOUT_MS),
    [OSB_CRI_REMOVE_IMAGE] = IMAGE(RemoveImage, remove_image),
    [OSB_CRI_IMAGE_FS_INFO] = IMAGE(ImageFsInfo, image_fs_info),
};

const struct cri_method *cri_method(enum osb_cri_method method)
{
    osb_assert((unsigned)method < OSB_CRI_METHOD_COUNT);
    return &methods[method];
}
