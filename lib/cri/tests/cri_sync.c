// SPDX-License-Identifier: Apache-2.0
#include "cri_sync.h"

#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/clock.h>
#include <stdlib.h>
#include <string.h>

enum { TURN_MS = 1000, READY_AGAIN_MS = 20 };

int cri_sync_init(struct cri_sync *sync, const char *endpoint, struct osb_err *err)
{
    int r = osb_loop_new_epoll(&sync->loop, err);

    if (r < 0)
        return r;
    return osb_cri_client_new(sync->loop, endpoint, &sync->client, err);
}

void cri_sync_done(struct cri_sync *sync)
{
    osb_cri_client_free(sync->client);
    osb_loop_free(sync->loop);
}

struct answer {
    bool is_done;
    int r;
    struct osb_err err;
    ProtobufCMessage *response;
};

/* The message is the client's: it is copied by packing it once more. */
static ProtobufCMessage *copy(const ProtobufCMessage *message)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    _cleanup_free_ uint8_t *bytes = osb_calloc(1, size + 1);

    protobuf_c_message_pack(message, bytes);
    return protobuf_c_message_unpack(message->descriptor, NULL, size, bytes);
}

static void on_done(int r, const ProtobufCMessage *response, const struct osb_err *err, void *arg)
{
    struct answer *answer = arg;

    answer->is_done = true;
    answer->r = r;
    if (r < 0)
        answer->err = *err;
    else
        answer->response = copy(response);
}

int cri_sync_call(struct cri_sync *sync, enum osb_cri_method method,
                  const ProtobufCMessage *request, ProtobufCMessage **ret_response,
                  struct osb_err *err)
{
    struct answer answer = {0};
    int r = osb_cri_call(sync->client, method, request, 0, on_done, &answer, NULL, err);

    if (r < 0)
        return r;
    while (!answer.is_done)
        osb_loop_turn(sync->loop, TURN_MS);
    if (answer.r < 0 && err)
        *err = answer.err;
    if (answer.r >= 0 && ret_response)
        *ret_response = answer.response;
    else if (answer.response)
        protobuf_c_message_free_unpacked(answer.response, NULL);
    return answer.r;
}

static bool is_ready(const Runtime__V1__StatusResponse *response)
{
    size_t ready = 0;

    if (!response->status)
        return false;
    for (size_t i = 0; i < response->status->n_conditions; i++)
        ready += response->status->conditions[i]->status;
    return ready > 0 && ready == response->status->n_conditions;
}

static void wait_a_little(struct cri_sync *sync)
{
    uint64_t until_ns = osb_monotonic_ns() + READY_AGAIN_MS * OSB_NS_PER_MS;

    while (osb_monotonic_ns() < until_ns)
        osb_loop_turn(sync->loop, READY_AGAIN_MS);
}

int cri_sync_wait_ready(struct cri_sync *sync, uint64_t timeout_ms, struct osb_err *err)
{
    uint64_t until_ns = osb_monotonic_ns() + timeout_ms * OSB_NS_PER_MS;
    Runtime__V1__StatusRequest request = RUNTIME__V1__STATUS_REQUEST__INIT;
    ProtobufCMessage *response;
    bool ready = false;
    int r;

    do {
        r = cri_sync_call(sync, OSB_CRI_STATUS, &request.base, &response, err);
        if (r >= 0) {
            ready = is_ready((Runtime__V1__StatusResponse *)response);
            protobuf_c_message_free_unpacked(response, NULL);
        }
        if (ready)
            return 0;
        wait_a_little(sync);
    } while (osb_monotonic_ns() < until_ns);
    return r < 0 ? r : osb_fail(err, -OSB_E_TIMEOUT, "the runtime or its network is not ready");
}

int cri_sync_pull(struct cri_sync *sync, const char *image, struct osb_err *err)
{
    Runtime__V1__PullImageRequest request = RUNTIME__V1__PULL_IMAGE_REQUEST__INIT;
    Runtime__V1__ImageSpec spec = RUNTIME__V1__IMAGE_SPEC__INIT;

    spec.image = (char *)image;
    request.image = &spec;
    return cri_sync_call(sync, OSB_CRI_PULL_IMAGE, &request.base, NULL, err);
}

/* The sandbox's configuration is asked for at both calls; everything in it is borrowed. */
struct sandbox_config {
    Runtime__V1__PodSandboxMetadata metadata;
    Runtime__V1__LinuxPodSandboxConfig linux_config;
    Runtime__V1__PodSandboxConfig config;
};

static void fill_sandbox_config(struct sandbox_config *fill, const struct cri_sync_pod *pod)
{
    runtime__v1__pod_sandbox_metadata__init(&fill->metadata);
    fill->metadata.name = fill->metadata.uid = pod->name;
    fill->metadata.namespace_ = (char *)"default";
    runtime__v1__linux_pod_sandbox_config__init(&fill->linux_config);
    if (pod->cgroup_parent)
        fill->linux_config.cgroup_parent = pod->cgroup_parent;
    runtime__v1__pod_sandbox_config__init(&fill->config);
    fill->config.metadata = &fill->metadata;
    fill->config.linux_config = &fill->linux_config;
    fill->config.hostname = pod->name;
    if (pod->log_folder)
        fill->config.log_directory = pod->log_folder;
}

int cri_sync_run_sandbox(struct cri_sync *sync, struct cri_sync_pod *pod, const char *name,
                         const char *log_folder, const char *cgroup_parent, struct osb_err *err)
{
    Runtime__V1__RunPodSandboxRequest request = RUNTIME__V1__RUN_POD_SANDBOX_REQUEST__INIT;
    struct sandbox_config config;
    ProtobufCMessage *response;
    int r;

    *pod = (struct cri_sync_pod){.name = osb_strdup(name),
                                 .log_folder = osb_strdup(log_folder),
                                 .cgroup_parent = osb_strdup(cgroup_parent)};
    fill_sandbox_config(&config, pod);
    request.config = &config.config;
    r = cri_sync_call(sync, OSB_CRI_RUN_POD_SANDBOX, &request.base, &response, err);
    if (r < 0)
        return r;
    pod->sandbox_id = osb_strdup(((Runtime__V1__RunPodSandboxResponse *)response)->pod_sandbox_id);
    protobuf_c_message_free_unpacked(response, NULL);
    return 0;
}

static int create_container(struct cri_sync *sync, struct cri_sync_pod *pod, const char *image,
                            const char *const *command, size_t count, struct osb_err *err)
{
    Runtime__V1__CreateContainerRequest request = RUNTIME__V1__CREATE_CONTAINER_REQUEST__INIT;
    Runtime__V1__ContainerConfig container = RUNTIME__V1__CONTAINER_CONFIG__INIT;
    Runtime__V1__ContainerMetadata metadata = RUNTIME__V1__CONTAINER_METADATA__INIT;
    Runtime__V1__ImageSpec spec = RUNTIME__V1__IMAGE_SPEC__INIT;
    struct sandbox_config config;
    ProtobufCMessage *response;
    int r;

    fill_sandbox_config(&config, pod);
    metadata.name = pod->name;
    spec.image = (char *)image;
    container.metadata = &metadata;
    container.image = &spec;
    container.command = (char **)command;
    container.n_command = count;
    if (pod->log_folder)
        container.log_path = (char *)"log";
    request.pod_sandbox_id = pod->sandbox_id;
    request.config = &container;
    request.sandbox_config = &config.config;
    r = cri_sync_call(sync, OSB_CRI_CREATE_CONTAINER, &request.base, &response, err);
    if (r < 0)
        return r;
    free(pod->container_id);
    pod->container_id =
        osb_strdup(((Runtime__V1__CreateContainerResponse *)response)->container_id);
    protobuf_c_message_free_unpacked(response, NULL);
    return 0;
}

int cri_sync_run_container(struct cri_sync *sync, struct cri_sync_pod *pod, const char *image,
                           const char *const *command, size_t count, struct osb_err *err)
{
    Runtime__V1__StartContainerRequest start = RUNTIME__V1__START_CONTAINER_REQUEST__INIT;
    int r = create_container(sync, pod, image, command, count, err);

    if (r < 0)
        return r;
    start.container_id = pod->container_id;
    return cri_sync_call(sync, OSB_CRI_START_CONTAINER, &start.base, NULL, err);
}

int cri_sync_exec(struct cri_sync *sync, const char *container_id, const char *const *command,
                  size_t count, int64_t timeout_s, Runtime__V1__ExecSyncResponse **ret,
                  struct osb_err *err)
{
    Runtime__V1__ExecSyncRequest request = RUNTIME__V1__EXEC_SYNC_REQUEST__INIT;

    request.container_id = (char *)container_id;
    request.cmd = (char **)command;
    request.n_cmd = count;
    request.timeout = timeout_s;
    return cri_sync_call(sync, OSB_CRI_EXEC_SYNC, &request.base, (ProtobufCMessage **)ret, err);
}

int cri_sync_stop_container(struct cri_sync *sync, const char *container_id, int64_t grace_s,
                            struct osb_err *err)
{
    Runtime__V1__StopContainerRequest request = RUNTIME__V1__STOP_CONTAINER_REQUEST__INIT;

    request.container_id = (char *)container_id;
    request.timeout = grace_s;
    return cri_sync_call(sync, OSB_CRI_STOP_CONTAINER, &request.base, NULL, err);
}

int cri_sync_remove_container(struct cri_sync *sync, const char *container_id, struct osb_err *err)
{
    Runtime__V1__RemoveContainerRequest request = RUNTIME__V1__REMOVE_CONTAINER_REQUEST__INIT;

    request.container_id = (char *)container_id;
    return cri_sync_call(sync, OSB_CRI_REMOVE_CONTAINER, &request.base, NULL, err);
}

int cri_sync_remove_pod(struct cri_sync *sync, struct cri_sync_pod *pod, struct osb_err *err)
{
    Runtime__V1__StopPodSandboxRequest stop = RUNTIME__V1__STOP_POD_SANDBOX_REQUEST__INIT;
    Runtime__V1__RemovePodSandboxRequest remove = RUNTIME__V1__REMOVE_POD_SANDBOX_REQUEST__INIT;
    int r = 0;

    if (pod->sandbox_id) {
        stop.pod_sandbox_id = remove.pod_sandbox_id = pod->sandbox_id;
        r = cri_sync_call(sync, OSB_CRI_STOP_POD_SANDBOX, &stop.base, NULL, err);
        if (r >= 0)
            r = cri_sync_call(sync, OSB_CRI_REMOVE_POD_SANDBOX, &remove.base, NULL, err);
    }
    free(pod->sandbox_id);
    free(pod->container_id);
    free(pod->log_folder);
    free(pod->cgroup_parent);
    free(pod->name);
    *pod = (struct cri_sync_pod){0};
    return r;
}
