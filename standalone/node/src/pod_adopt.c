// SPDX-License-Identifier: Apache-2.0
#include "pod_adopt.h"

#include "pod_refresh.h"

#include <osb/alloc.h>
#include <osb/clock.h>
#include <stdlib.h>
#include <string.h>

static const char id_prefix[] = "containerd://";

static int64_t time_of(const struct osb_json *object, const char *key)
{
    int64_t ns = 0;
    (void)osb_rfc3339_parse(osb_json_str(osb_json_get(object, key)), &ns);
    return ns;
}

static void restore_end(const struct osb_json *terminated, struct termination *ret)
{
    if (!osb_json_count(terminated))
        return;
    *ret = (struct termination){
        .container_id = osb_strdup(osb_json_cstr(osb_json_get(terminated, "containerID"))),
        .exit_code = (int)osb_json_i64_or(osb_json_get(terminated, "exitCode"), 0),
        .started_ns = time_of(terminated, "startedAt"),
        .finished_ns = time_of(terminated, "finishedAt"),
        .reason = osb_strdup(osb_json_cstr(osb_json_get(terminated, "reason"))),
        .message = osb_strdup(osb_json_cstr(osb_json_get(terminated, "message"))),
    };
}

static void restore_container(const struct osb_json *status, struct container_state *state)
{
    const char *id = osb_json_cstr(osb_json_get(status, "containerID"));
    const struct osb_json *ended = osb_json_get_path(status, "state.terminated");
    const struct osb_json *running = osb_json_get_path(status, "state.running");
    state->restart_count = (int)osb_json_i64_or(osb_json_get(status, "restartCount"), 0);
    restore_end(osb_json_get_path(status, "lastState.terminated"), &state->last_end);
    if (!id || strncmp(id, id_prefix, sizeof(id_prefix) - 1) != 0)
        return;
    state->id = osb_strdup(id + sizeof(id_prefix) - 1);
    state->has_image = true;
    state->phase = CONTAINER_PHASE_CREATED;
    if (osb_json_count(ended)) {
        state->phase = CONTAINER_PHASE_EXITED;
        restore_end(ended, &state->end);
    } else if (osb_json_count(running)) {
        state->phase = CONTAINER_PHASE_RUNNING;
        state->started_ns = time_of(running, "startedAt");
    }
}

static void restore_list(struct pod *pod, const char *key)
{
    const struct osb_json *list = osb_json_get(osb_json_get(pod->spec->object, "status"), key);
    for (size_t i = 0; i < osb_json_count(list); i++) {
        const struct osb_json *status = osb_json_at(list, i);
        const char *name = osb_json_cstr(osb_json_get(status, "name"));
        for (size_t c = 0; name && c < pod->spec->container_count; c++) {
            if (!strcmp(pod->spec->containers[c].name, name))
                restore_container(status, &pod->state.containers[c]);
        }
    }
}

static struct found_sandbox *find_sandbox(const struct pod *pod, struct cri_inventory *inventory)
{
    struct found_sandbox *best = NULL;
    for (size_t i = 0; i < inventory->sandbox_count; i++) {
        struct found_sandbox *sandbox = &inventory->sandboxes[i];
        if (strcmp(sandbox->pod_uid, pod->spec->uid) != 0)
            continue;
        if (!best || sandbox->attempt > best->attempt)
            best = sandbox; /* older attempts stay unclaimed and are removed as orphans */
    }
    return best;
}

static const struct found_container *find_container(const struct cri_inventory *inventory,
                                                    const char *sandbox_id, const char *name)
{
    const struct found_container *best = NULL;
    for (size_t i = 0; i < inventory->container_count; i++) {
        const struct found_container *container = &inventory->containers[i];
        if (!strcmp(container->sandbox_id, sandbox_id) && !strcmp(container->name, name) &&
            (!best || container->attempt > best->attempt))
            best = container;
    }
    return best;
}

static void claim_container(struct pod *pod, size_t index, const struct found_container *found)
{
    struct container_state *state = &pod->state.containers[index];
    if (!found) {
        pod_container_lost(pod, index);
        return;
    }
    if (!state->id || strcmp(state->id, found->id) != 0) {
        /* Made after the last status write. */
        free(state->id);
        state->id = osb_strdup(found->id);
        termination_done(&state->end);
        state->restart_count = (int)found->attempt;
        state->phase = CONTAINER_PHASE_CREATED;
    }
    state->has_image = true;
    pod_refresh_container(pod, index);
}

static void claim_sandbox(struct pod *pod, struct found_sandbox *found)
{
    const char *ip = osb_json_cstr(osb_json_get_path(pod->spec->object, "status.podIP"));
    found->is_claimed = true;
    pod->state.sandbox_id = osb_strdup(found->id);
    pod->state.attempt = found->attempt;
    if (!found->is_ready) {
        pod->state.sandbox = SANDBOX_PHASE_DEAD;
    } else if (ip) {
        pod->state.sandbox = SANDBOX_PHASE_READY;
        pod->state.ip = osb_strdup(ip);
    } else {
        pod->state.sandbox = SANDBOX_PHASE_UNKNOWN; /* made after the last status write */
    }
}

/* What took the pod down as a whole; a pod that has Failed by it stays so. */
static void restore_failure(struct pod *pod, const struct osb_json *status)
{
    const char *reason = osb_json_cstr(osb_json_get(status, "reason"));
    if (!reason || strcmp(reason, POD_DEADLINE_REASON) != 0)
        return;
    pod_set_past_deadline(pod);
}

void pod_adopt(struct pod *pod, struct cri_inventory *inventory)
{
    struct found_sandbox *sandbox = inventory ? find_sandbox(pod, inventory) : NULL;
    const struct osb_json *status = osb_json_get(pod->spec->object, "status");
    int64_t start_ns = time_of(status, "startTime");
    if (start_ns)
        pod->times.start_ns = start_ns;
    restore_failure(pod, status);
    restore_list(pod, "initContainerStatuses");
    restore_list(pod, "containerStatuses");
    if (sandbox)
        claim_sandbox(pod, sandbox);
    if (sandbox || start_ns)
        pod->state.has_volumes = true; /* so that they are removed; made again when needed */
    for (size_t i = 0; i < pod->spec->container_count; i++) {
        const struct found_container *found =
            sandbox ? find_container(inventory, sandbox->id, pod->spec->containers[i].name) : NULL;
        if (found || pod->state.containers[i].id)
            claim_container(pod, i, found);
    }
    if (!sandbox && start_ns && !pod_is_finished(pod->spec, &pod->state))
        pod->state.has_volumes = false; /* after a reboot tmpfs volumes must be filled again */
    if (pod->state.sandbox == SANDBOX_PHASE_READY)
        pod_refresh_sandbox(pod);
    pod->is_adopting = pod->refreshes != NULL;
}
