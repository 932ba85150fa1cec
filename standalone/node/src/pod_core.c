// SPDX-License-Identifier: Apache-2.0
#include "pod_core.h"

#include <osb/alloc.h>
#include <stdlib.h>
#include <string.h>

uint64_t pod_backoff_ms(int failures)
{
    uint64_t delay = POD_BACKOFF_MIN_MS;
    for (int i = 1; i < failures && delay < POD_BACKOFF_MAX_MS; i++)
        delay *= 2;
    return delay < POD_BACKOFF_MAX_MS ? delay : POD_BACKOFF_MAX_MS;
}

static void set_text(char **field, const char *value)
{
    free(*field);
    *field = osb_strdup(value);
}

void container_failed(struct container_state *container, const char *reason, const char *message,
                      uint64_t now_ns)
{
    container->failures++;
    container->retry_ns = now_ns + pod_backoff_ms(container->failures) * 1000000;
    set_text(&container->waiting_reason, reason);
    set_text(&container->waiting_message, message);
}

void container_pull_failed(struct container_state *container, const char *message, uint64_t now_ns)
{
    container_failed(container, "ErrImagePull", message, now_ns);
    container->put_off_ns = now_ns + POD_PUT_OFF_MS * UINT64_C(1000000);
}

bool pod_put_off(const struct pod_spec *spec, struct pod_state *state, uint64_t now_ns)
{
    bool is_changed = false;
    for (size_t i = 0; i < spec->container_count; i++) {
        struct container_state *container = &state->containers[i];
        if (!container->put_off_ns || container->put_off_ns > now_ns)
            continue;
        container->put_off_ns = 0;
        set_text(&container->waiting_reason, "ImagePullBackOff");
        is_changed = true;
    }
    return is_changed;
}

void container_clear_waiting(struct container_state *container)
{
    container->put_off_ns = 0;
    set_text(&container->waiting_reason, NULL);
    set_text(&container->waiting_message, NULL);
}

void termination_done(struct termination *end)
{
    free(end->container_id);
    free(end->reason);
    free(end->message);
    memset(end, 0, sizeof(*end));
}

void container_next_run(struct container_state *container)
{
    termination_done(&container->last_end);
    container->last_end = container->end;
    memset(&container->end, 0, sizeof(container->end));
    free(container->id);
    container->id = NULL;
    container->phase = CONTAINER_PHASE_NONE;
    container->is_end_told = false;
    container->started_ns = 0;
    container->restart_count++;
}

void container_unmake(struct container_state *container)
{
    free(container->id);
    container->id = NULL;
    container->phase = CONTAINER_PHASE_NONE;
    container->is_end_told = false;
}

bool container_restarts(const struct pod_spec *spec, const struct container_spec *container,
                        const struct container_state *state)
{
    bool is_success = state->end.exit_code == 0;
    if (container->is_init && is_success)
        return false;
    switch (spec->restart) {
    case RESTART_NEVER:
        return false;
    case RESTART_ON_FAILURE:
        return !is_success;
    case RESTART_ALWAYS:
        return true;
    }
    return false;
}

/* Ended, and it stays so. */
static bool is_done(const struct pod_spec *spec, const struct pod_state *state, size_t i)
{
    const struct container_state *container = &state->containers[i];
    return container->phase == CONTAINER_PHASE_EXITED &&
           !container_restarts(spec, &spec->containers[i], container);
}

static bool has_failed_init(const struct pod_spec *spec, const struct pod_state *state)
{
    for (size_t i = 0; i < spec->init_count; i++) {
        if (is_done(spec, state, i) && state->containers[i].end.exit_code != 0)
            return true;
    }
    return false;
}

bool pod_is_finished(const struct pod_spec *spec, const struct pod_state *state)
{
    if (state->is_rejected || state->is_past_deadline || has_failed_init(spec, state))
        return true;
    for (size_t i = spec->init_count; i < spec->container_count; i++) {
        if (!is_done(spec, state, i))
            return false;
    }
    return true;
}

const char *pod_phase(const struct pod_spec *spec, const struct pod_state *state)
{
    if (state->is_rejected || state->is_past_deadline || has_failed_init(spec, state))
        return "Failed";
    size_t running = 0, waiting = 0, done = 0, failed = 0;
    for (size_t i = 0; i < spec->container_count; i++) {
        const struct container_state *container = &state->containers[i];
        bool has_run = container->last_end.container_id || container->restart_count;
        if (i < spec->init_count) {
            if (!is_done(spec, state, i))
                return "Pending";
        } else if (container->phase == CONTAINER_PHASE_RUNNING) {
            running++;
        } else if (is_done(spec, state, i)) {
            done++;
            failed += container->end.exit_code != 0;
        } else if (container->phase == CONTAINER_PHASE_EXITED || has_run) {
            running++; /* between two runs */
        } else {
            waiting++;
        }
    }
    if (waiting)
        return "Pending";
    if (running)
        return "Running";
    return failed ? "Failed" : "Succeeded";
}

/* ---- taking a pod down ---- */

static bool find_alive(const struct pod_spec *spec, const struct pod_state *state, size_t *ret)
{
    for (size_t i = spec->container_count; i-- > 0;) {
        if (state->containers[i].phase == CONTAINER_PHASE_RUNNING) {
            *ret = i;
            return true;
        }
    }
    return false;
}

static enum pod_action next_of_teardown(const struct pod_spec *spec, const struct pod_state *state,
                                        size_t *ret_container)
{
    if (state->sandbox != SANDBOX_PHASE_NONE) {
        if (find_alive(spec, state, ret_container))
            return POD_STOP;
        return state->sandbox == SANDBOX_PHASE_DEAD ? POD_REMOVE_SANDBOX : POD_STOP_SANDBOX;
    }
    if (state->has_volumes)
        return POD_CLEAN_UP;
    return state->is_object_gone ? POD_FORGET : POD_DELETE_OBJECT;
}

/* ---- bringing it up ---- */

static enum pod_action wait_until(uint64_t when_ns, uint64_t *ret_wake_ns)
{
    if (!*ret_wake_ns || when_ns < *ret_wake_ns)
        *ret_wake_ns = when_ns;
    return POD_WAIT;
}

static enum pod_action next_of_container(const struct pod_spec *spec, const struct pod_state *state,
                                         size_t i, uint64_t now_ns, uint64_t *ret_wake_ns)
{
    const struct container_state *container = &state->containers[i];
    if (container->phase == CONTAINER_PHASE_RUNNING || is_done(spec, state, i))
        return POD_WAIT;
    if (container->put_off_ns > now_ns)
        wait_until(container->put_off_ns, ret_wake_ns);
    if (container->retry_ns > now_ns)
        return wait_until(container->retry_ns, ret_wake_ns);
    switch (container->phase) {
    case CONTAINER_PHASE_NONE:
        return container->has_image ? POD_CREATE : POD_PULL;
    case CONTAINER_PHASE_CREATED:
        return POD_START;
    default:
        return POD_REMOVE_CONTAINER; /* its back-off is over: makes room for the next */
    }
}

static enum pod_action next_of_sandbox(const struct pod_state *state, uint64_t now_ns,
                                       uint64_t *ret_wake_ns)
{
    if (state->sandbox == SANDBOX_PHASE_DEAD)
        return POD_REMOVE_SANDBOX;
    if (state->sandbox_retry_ns > now_ns)
        return wait_until(state->sandbox_retry_ns, ret_wake_ns);
    if (state->sandbox == SANDBOX_PHASE_UNKNOWN)
        return POD_ASK_SANDBOX;
    return state->has_volumes ? POD_RUN_SANDBOX : POD_PREPARE_VOLUMES;
}

enum pod_action pod_next_action(const struct pod_spec *spec, const struct pod_state *state,
                                uint64_t now_ns, size_t *ret_container, uint64_t *ret_wake_ns)
{
    *ret_container = 0;
    *ret_wake_ns = 0;
    if (state->is_deleting || state->is_object_gone)
        return next_of_teardown(spec, state, ret_container);
    if (pod_is_finished(spec, state)) {
        /* The address goes with the sandbox; containers stay for their logs until deletion. */
        if (find_alive(spec, state, ret_container))
            return POD_STOP;
        return state->sandbox == SANDBOX_PHASE_READY || state->sandbox == SANDBOX_PHASE_UNKNOWN
                   ? POD_STOP_SANDBOX
                   : POD_WAIT;
    }
    if (state->sandbox != SANDBOX_PHASE_READY)
        return next_of_sandbox(state, now_ns, ret_wake_ns);
    for (size_t i = 0; i < spec->container_count; i++) {
        enum pod_action action = next_of_container(spec, state, i, now_ns, ret_wake_ns);
        if (action != POD_WAIT) {
            *ret_container = i;
            return action;
        }
        /* Init containers run one after the other, and before all others. */
        if (i < spec->init_count && !is_done(spec, state, i))
            return POD_WAIT;
    }
    return POD_WAIT;
}

void pod_state_done(struct pod_state *state)
{
    free(state->sandbox_id);
    free(state->ip);
    free(state->failed_reason);
    free(state->failed_message);
    free(state->sandbox_message);
    for (size_t i = 0; i < POD_MAX_CONTAINERS; i++) {
        struct container_state *container = &state->containers[i];
        free(container->id);
        free(container->image_id);
        free(container->waiting_reason);
        free(container->waiting_message);
        termination_done(&container->end);
        termination_done(&container->last_end);
    }
    memset(state, 0, sizeof(*state));
}
