// SPDX-License-Identifier: Apache-2.0
#include "log_rotation.h"

#include "cri_build.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <osb/log.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void on_reopened(int r, const struct ProtobufCMessage *response, const struct osb_err *err,
                        void *arg)
{
    (void)response;
    (void)arg;
    if (r < 0)
        osb_log(OSB_LOG_WARN, "container log not reopened", OSB_KV_ERR(err));
}

static void reopen(const struct pod *pod, const char *id)
{
    Runtime__V1__ReopenContainerLogRequest request =
        RUNTIME__V1__REOPEN_CONTAINER_LOG_REQUEST__INIT;
    request.container_id = (char *)(uintptr_t)id;
    (void)osb_cri_call(pod->node->cri, OSB_CRI_REOPEN_CONTAINER_LOG, &request.base, 0, on_reopened,
                       NULL, NULL, NULL);
}

void log_rotate(struct pod *pod, size_t index)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    const struct container_state *state = &pod->state.containers[index];
    const char *path =
        osb_arena_printf(&arena, "%s/%s", cri_build_log_folder(&arena, pod->node, pod->spec),
                         cri_build_log_file(&arena, pod->spec->containers[index].name,
                                            (uint32_t)state->restart_count));
    const char *old = osb_arena_printf(&arena, "%s" LOG_ROTATED_SUFFIX, path);
    struct stat st;
    bool is_there = stat(path, &st) == 0;
    if (is_there && st.st_size <= NODE_LOG_MAX_BYTES)
        return;
    if (is_there && rename(path, old) < 0) {
        osb_log(OSB_LOG_WARN, "container log not rotated", OSB_KV_STR("error", strerror(errno)));
        return;
    }
    /* Not there, but an older one is: the last rotation was cut short before this. */
    if (is_there || access(old, F_OK) == 0)
        reopen(pod, state->id);
}

/* The attempt that a log file is of; -1 when NAME is none. */
static long attempt_of(const char *name)
{
    char *end;
    if (!isdigit((unsigned char)name[0]))
        return -1;
    long attempt = strtol(name, &end, 10);
    return !strcmp(end, ".log") || !strcmp(end, ".log" LOG_ROTATED_SUFFIX) ? attempt : -1;
}

void log_remove_old(const struct pod *pod, size_t index)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    long oldest = pod->state.containers[index].restart_count - 1L; /* of the run before */
    const char *folder =
        osb_arena_printf(&arena, "%s/%s", cri_build_log_folder(&arena, pod->node, pod->spec),
                         pod->spec->containers[index].name);
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        long attempt = attempt_of(entry->d_name);
        if (attempt >= 0 && attempt < oldest)
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
    }
    if (dir)
        closedir(dir);
}
