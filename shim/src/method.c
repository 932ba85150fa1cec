// SPDX-License-Identifier: Apache-2.0
#include "method.h"

#include <osb/err.h>

struct method {
    struct osb_slice path;
    const char *name;
    enum osb_rpc_route route;
};

#define METHOD(service, name, route)                                                               \
    {                                                                                              \
        {"/runtime.v1." #service "/" #name, sizeof("/runtime.v1." #service "/" #name) - 1}, #name, \
            (route)                                                                                \
    }
#define RUNTIME(name) METHOD(RuntimeService, name, OSB_RPC_FORWARD_UNARY)
#define IMAGE(name)   METHOD(ImageService, name, OSB_RPC_FORWARD_UNARY)

/* In the order of how often a kubelet calls them. */
static const struct method methods[] = {
    [METHOD_OTHER] = {{"", 0}, "other", OSB_RPC_FORWARD},
    RUNTIME(ListPodSandbox),
    RUNTIME(ListContainers),
    RUNTIME(PodSandboxStatus),
    RUNTIME(ContainerStatus),
    RUNTIME(Status),
    RUNTIME(Version),
    RUNTIME(ExecSync),
    RUNTIME(ListContainerStats),
    RUNTIME(ContainerStats),
    RUNTIME(ListPodSandboxStats),
    RUNTIME(PodSandboxStats),
    RUNTIME(ListPodSandboxMetrics),
    RUNTIME(ListMetricDescriptors),
    IMAGE(ImageStatus),
    IMAGE(ListImages),
    IMAGE(ImageFsInfo),
    IMAGE(PullImage),
    IMAGE(RemoveImage),
    RUNTIME(RunPodSandbox),
    METHOD(RuntimeService, CreateContainer, OSB_RPC_REWRITE),
    RUNTIME(StartContainer),
    RUNTIME(StopContainer),
    RUNTIME(RemoveContainer),
    RUNTIME(StopPodSandbox),
    RUNTIME(RemovePodSandbox),
    RUNTIME(UpdateContainerResources),
    RUNTIME(UpdatePodSandboxResources),
    RUNTIME(ReopenContainerLog),
    RUNTIME(Exec),
    RUNTIME(Attach),
    RUNTIME(PortForward),
    RUNTIME(UpdateRuntimeConfig),
    RUNTIME(RuntimeConfig),
    RUNTIME(CheckpointContainer),
    METHOD(RuntimeService, GetContainerEvents, OSB_RPC_FORWARD),
};

_Static_assert(sizeof(methods) / sizeof(*methods) == METHOD_COUNT, "a row a method");

int method_find(struct osb_slice path)
{
    for (int i = METHOD_OTHER + 1; i < METHOD_COUNT; i++)
        if (osb_slice_eq(path, methods[i].path))
            return i;
    return METHOD_OTHER;
}

const char *method_name(int method)
{
    osb_assert(method >= 0 && method < METHOD_COUNT);
    return methods[method].name;
}

enum osb_rpc_route method_route(int method)
{
    osb_assert(method >= 0 && method < METHOD_COUNT);
    return methods[method].route;
}

bool method_is_stream(int method)
{
    return method_route(method) == OSB_RPC_FORWARD;
}
