// SPDX-License-Identifier: Apache-2.0
#include "pod_status.h"

#include <string.h>

static void print_termination(const struct termination *end, struct osb_json_writer *w)
{
    osb_json_key(w, "terminated");
    osb_json_begin_object(w);
    osb_json_kv_i64(w, "exitCode", end->exit_code);
    if (end->exit_code > 128 && end->exit_code < 128 + 65)
        osb_json_kv_i64(w, "signal", end->exit_code - 128);
    osb_json_kv_string(w, "reason", end->reason ? end->reason : "Error");
    osb_json_kv_string_opt(w, "message", end->message);
    if (end->started_ns)
        osb_json_kv_time(w, "startedAt", end->started_ns);
    if (end->finished_ns)
        osb_json_kv_time(w, "finishedAt", end->finished_ns);
    osb_json_kv_string_opt(w, "containerID", end->container_id);
    osb_json_end_object(w);
}

static void print_waiting(const char *reason, const char *message, struct osb_json_writer *w)
{
    osb_json_key(w, "waiting");
    osb_json_begin_object(w);
    osb_json_kv_string(w, "reason", reason);
    osb_json_kv_string_opt(w, "message", message);
    osb_json_end_object(w);
}

static void print_state(const struct pod_spec *spec, const struct pod_state *pod, size_t i,
                        struct osb_json_writer *w)
{
    const struct container_state *state = &pod->containers[i];
    osb_json_key(w, "state");
    osb_json_begin_object(w);
    if (state->phase == CONTAINER_PHASE_RUNNING) {
        osb_json_key(w, "running");
        osb_json_begin_object(w);
        osb_json_kv_time(w, "startedAt", state->started_ns);
        osb_json_end_object(w);
    } else if (state->phase == CONTAINER_PHASE_EXITED && !state->waiting_reason) {
        print_termination(&state->end, w);
    } else if (state->waiting_reason) {
        print_waiting(state->waiting_reason, state->waiting_message, w);
    } else {
        print_waiting(spec->init_count && i >= spec->init_count ? "PodInitializing"
                                                                : "ContainerCreating",
                      pod->sandbox_message, w);
    }
    osb_json_end_object(w);
}

static const struct termination *last_end(const struct container_state *state)
{
    if (state->phase == CONTAINER_PHASE_EXITED && state->waiting_reason)
        return &state->end;
    return state->last_end.container_id ? &state->last_end : NULL;
}

static bool is_ready(const struct container_spec *spec, const struct container_state *state)
{
    if (spec->is_init)
        return state->phase == CONTAINER_PHASE_EXITED && state->end.exit_code == 0;
    return state->phase == CONTAINER_PHASE_RUNNING;
}

static void print_container(const struct pod_spec *spec, const struct pod_state *pod, size_t i,
                            struct osb_json_writer *w)
{
    const struct container_state *state = &pod->containers[i];
    const struct termination *last = last_end(state);
    osb_json_begin_object(w);
    osb_json_kv_string(w, "name", spec->containers[i].name);
    osb_json_kv_string(w, "image", spec->containers[i].image);
    osb_json_kv_string(w, "imageID", state->image_id ? state->image_id : "");
    if (state->id) {
        osb_json_key(w, "containerID");
        struct osb_buf id = {0};
        osb_buf_appendf(&id, "containerd://%s", state->id);
        osb_json_slice(w, osb_buf_slice(&id));
        osb_buf_done(&id);
    }
    osb_json_kv_bool(w, "ready", is_ready(&spec->containers[i], state));
    osb_json_kv_bool(w, "started", state->phase == CONTAINER_PHASE_RUNNING);
    osb_json_kv_i64(w, "restartCount", state->restart_count);
    print_state(spec, pod, i, w);
    osb_json_key(w, "lastState");
    osb_json_begin_object(w);
    if (last)
        print_termination(last, w);
    osb_json_end_object(w);
    osb_json_end_object(w);
}

static void print_containers(const struct pod_spec *spec, const struct pod_state *state,
                             const char *key, size_t from, size_t to, struct osb_json_writer *w)
{
    osb_json_key(w, key);
    osb_json_begin_array(w);
    for (size_t i = from; i < to; i++)
        print_container(spec, state, i, w);
    osb_json_end_array(w);
}

static void print_condition(const char *type, bool is_true, int64_t change_ns, const char *reason,
                            struct osb_json_writer *w)
{
    osb_json_begin_object(w);
    osb_json_kv_string(w, "type", type);
    osb_json_kv_string(w, "status", is_true ? "True" : "False");
    osb_json_kv_time(w, "lastTransitionTime", change_ns);
    if (!is_true)
        osb_json_kv_string_opt(w, "reason", reason);
    osb_json_end_object(w);
}

static bool all_ready(const struct pod_spec *spec, const struct pod_state *state, size_t from,
                      size_t to)
{
    for (size_t i = from; i < to; i++) {
        if (!is_ready(&spec->containers[i], &state->containers[i]))
            return false;
    }
    return true;
}

static void print_conditions(const struct pod_spec *spec, const struct pod_state *state,
                             struct pod_times *times, int64_t now_ns, struct osb_json_writer *w)
{
    bool is_finished = pod_is_finished(spec, state);
    bool is_initialized = all_ready(spec, state, 0, spec->init_count);
    bool ready = !is_finished && is_initialized &&
                 all_ready(spec, state, spec->init_count, spec->container_count);
    const char *reason = is_finished ? "PodCompleted" : "ContainersNotReady";
    if (!times->ready_change_ns || ready != times->is_ready)
        times->ready_change_ns = now_ns;
    if (!times->initialized_change_ns || is_initialized != times->is_initialized)
        times->initialized_change_ns = now_ns;
    times->is_ready = ready;
    times->is_initialized = is_initialized;
    osb_json_key(w, "conditions");
    osb_json_begin_array(w);
    print_condition("PodScheduled", true, times->start_ns, NULL, w);
    print_condition("Initialized", is_initialized, times->initialized_change_ns,
                    "ContainersNotInitialized", w);
    print_condition("ContainersReady", ready, times->ready_change_ns, reason, w);
    print_condition("Ready", ready, times->ready_change_ns, reason, w);
    osb_json_end_array(w);
}

void pod_status_print(const struct pod_spec *spec, const struct pod_state *state,
                      struct pod_times *times, int64_t now_ns, const char *host_ip,
                      struct osb_buf *out)
{
    struct osb_json_writer w;
    if (!times->start_ns)
        times->start_ns = now_ns;
    osb_json_writer_init(&w, out);
    osb_json_begin_object(&w);
    /* A precondition: another pod may have the name by now. */
    osb_json_key(&w, "metadata");
    osb_json_begin_object(&w);
    osb_json_kv_string(&w, "uid", spec->uid);
    osb_json_end_object(&w);
    osb_json_key(&w, "status");
    osb_json_begin_object(&w);
    osb_json_kv_string(&w, "phase", pod_phase(spec, state));
    if (state->failed_reason)
        osb_json_kv_string(&w, "reason", state->failed_reason);
    if (state->failed_message)
        osb_json_kv_string(&w, "message", state->failed_message);
    osb_json_kv_time(&w, "startTime", times->start_ns);
    osb_json_kv_string_opt(&w, "hostIP", host_ip);
    if (state->ip) {
        osb_json_kv_string(&w, "podIP", state->ip);
        osb_json_key(&w, "podIPs");
        osb_json_begin_array(&w);
        osb_json_begin_object(&w);
        osb_json_kv_string(&w, "ip", state->ip);
        osb_json_end_object(&w);
        osb_json_end_array(&w);
    }
    print_conditions(spec, state, times, now_ns, &w);
    if (spec->init_count)
        print_containers(spec, state, "initContainerStatuses", 0, spec->init_count, &w);
    print_containers(spec, state, "containerStatuses", spec->init_count, spec->container_count, &w);
    osb_json_end_object(&w);
    osb_json_end_object(&w);
    osb_assert(osb_json_writer_finish(&w, NULL) >= 0);
}
