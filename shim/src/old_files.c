// SPDX-License-Identifier: Apache-2.0
#include "old_files.h"

#include "runtime_v1.pb-c.h"

#include <osb/alloc.h>
#include <osb/cri.h>
#include <osb/log.h>
#include <stdlib.h>

struct old_files {
    struct osb_loop *loop;
    const struct files *files;
    const char *backend;
    struct osb_timer begin;
    struct osb_defer end; /* the client is not to be freed inside its own callback */
    struct osb_cri_client *client;
    struct files_versions unused; /* shrinks as containers are looked at */
    char **containers;
    size_t container_count;
    size_t next;
};

static void clear(struct old_files *old)
{
    osb_cri_client_free(old->client);
    old->client = NULL;
    for (size_t i = 0; i < old->container_count; i++)
        free(old->containers[i]);
    free(old->containers);
    old->containers = NULL;
    old->container_count = old->next = 0;
    files_versions_done(&old->unused);
}

static void on_end(struct osb_defer *defer)
{
    clear(defer->arg);
}

static void give_up(struct old_files *old, const struct osb_err *err)
{
    osb_log(OSB_LOG_WARN, "files of earlier versions are kept: their use is not known",
            OSB_KV_INT("count", old->unused.count), OSB_KV_ERR(err));
    osb_defer_post(&old->end);
}

static void remove_unused(struct old_files *old)
{
    for (size_t i = 0; i < old->unused.count; i++) {
        const char *version = old->unused.names[i];
        struct osb_err err = {0};

        if (files_remove(old->files, version, &err) < 0)
            osb_log(OSB_LOG_WARN, "files of an earlier version stay",
                    OSB_KV_STR("version", version), OSB_KV_ERR(&err));
        else
            osb_log(OSB_LOG_INFO, "files of an earlier version are removed",
                    OSB_KV_STR("version", version));
    }
    osb_defer_post(&old->end);
}

static void ask_next(struct old_files *old);

static void on_status(int r, const ProtobufCMessage *response, const struct osb_err *err, void *arg)
{
    struct old_files *old = arg;
    const Runtime__V1__ContainerStatus *status;

    if (r == -OSB_E_NOT_FOUND) { /* gone meanwhile */
        ask_next(old);
        return;
    }
    if (r < 0) {
        give_up(old, err);
        return;
    }
    status = ((const Runtime__V1__ContainerStatusResponse *)response)->status;
    for (size_t i = 0; status && i < status->n_mounts; i++)
        files_versions_keep(&old->unused, old->files, osb_slice_str(status->mounts[i]->host_path));
    ask_next(old);
}

static void ask_next(struct old_files *old)
{
    Runtime__V1__ContainerStatusRequest request = RUNTIME__V1__CONTAINER_STATUS_REQUEST__INIT;
    struct osb_err err = {0};

    if (old->next == old->container_count || old->unused.count == 0) {
        remove_unused(old);
        return;
    }
    request.container_id = old->containers[old->next++];
    if (osb_cri_call(old->client, OSB_CRI_CONTAINER_STATUS, &request.base, 0, on_status, old, NULL,
                     &err) < 0)
        give_up(old, &err);
}

static void on_list(int r, const ProtobufCMessage *response, const struct osb_err *err, void *arg)
{
    struct old_files *old = arg;
    const Runtime__V1__ListContainersResponse *list;

    if (r < 0) {
        give_up(old, err);
        return;
    }
    list = (const Runtime__V1__ListContainersResponse *)response;
    old->containers = osb_calloc(list->n_containers + 1, sizeof(*old->containers));
    for (size_t i = 0; i < list->n_containers; i++)
        old->containers[i] = osb_strdup(list->containers[i]->id);
    old->container_count = list->n_containers;
    ask_next(old);
}

static int begin(struct old_files *old, struct osb_err *err)
{
    Runtime__V1__ListContainersRequest request = RUNTIME__V1__LIST_CONTAINERS_REQUEST__INIT;
    int r = files_old(old->files, &old->unused, err);

    if (r < 0 || old->unused.count == 0)
        return r;
    r = osb_cri_client_new(old->loop, old->backend, &old->client, err);
    return r < 0 ? r
                 : osb_cri_call(old->client, OSB_CRI_LIST_CONTAINERS, &request.base, 0, on_list,
                                old, NULL, err);
}

static void on_begin(struct osb_timer *timer)
{
    struct old_files *old = timer->arg;
    struct osb_err err = {0};

    if (begin(old, &err) < 0)
        give_up(old, &err);
}

struct old_files *old_files_new(struct osb_loop *loop, const struct files *files,
                                const char *backend, uint64_t delay_ms)
{
    struct old_files *old = osb_new(struct old_files);

    old->loop = loop;
    old->files = files;
    old->backend = backend;
    osb_timer_init(&old->begin, loop, on_begin, old);
    osb_defer_init(&old->end, loop, on_end, old);
    osb_timer_set(&old->begin, delay_ms);
    return old;
}

void old_files_free(struct old_files *old)
{
    if (!old)
        return;
    osb_timer_stop(&old->begin);
    osb_defer_cancel(&old->end);
    clear(old);
    free(old);
}
