// SPDX-License-Identifier: Apache-2.0
#include "log_rotation.h"

#include "cri_build.h"

#include <osb/log.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void on_reopened(int r, const struct ProtobufCMessage *response, const struct osb_err *err,
                        void *arg)
{
    (void)response;
    (void)arg;
    if (r < 0)
        osb_log(OSB_LOG_WARN, "container log not reopened", OSB_KV_ERR(err));
}

void log_rotate(struct pod *pod, size_t index)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    const struct container_state *state = &pod->state.containers[index];
    const char *path =
        osb_arena_printf(&arena, "%s/%s", cri_build_log_folder(&arena, pod->node, pod->spec),
                         cri_build_log_file(&arena, pod->spec->containers[index].name,
                                            (uint32_t)state->restart_count));
    struct stat st;
    if (stat(path, &st) < 0 || st.st_size <= NODE_LOG_MAX_BYTES)
        return;
    if (rename(path, osb_arena_printf(&arena, "%s.old", path)) < 0) {
        osb_log(OSB_LOG_WARN, "container log not rotated", OSB_KV_STR("error", strerror(errno)));
        return;
    }
    Runtime__V1__ReopenContainerLogRequest request =
        RUNTIME__V1__REOPEN_CONTAINER_LOG_REQUEST__INIT;
    request.container_id = state->id;
    (void)osb_cri_call(pod->node->cri, OSB_CRI_REOPEN_CONTAINER_LOG, &request.base, 0, on_reopened,
                       NULL, NULL, NULL);
}
