// SPDX-License-Identifier: Apache-2.0
/* What kubectl shows of a pod: one word that sums up phase, reasons and containers. */
#include "columns.h"

#include <osb/clock.h>
#include <stdio.h>

/* Container statuses summed up. */
struct summary {
    int total;
    int ready;
    int64_t restarts;
    int64_t last_restart_ns; /* 0 for none */
    bool has_running;        /* a container runs and is ready */
    char word[128];
};

static void set_word(struct summary *s, struct osb_slice word)
{
    if (word.len)
        snprintf(s->word, sizeof(s->word), "%.*s", OSB_SLICE_ARG(word));
}

/* The reason of an ended container: its own, else signal or exit code. */
static void ended_word(const struct osb_json *terminated, char word[static 64])
{
    struct osb_slice reason = osb_json_str(osb_json_get(terminated, "reason"));
    int64_t signal = osb_json_i64_or(osb_json_get(terminated, "signal"), 0);
    int64_t code = osb_json_i64_or(osb_json_get(terminated, "exitCode"), 0);
    if (reason.len)
        snprintf(word, 64, "%.*s", OSB_SLICE_ARG(reason));
    else if (signal)
        snprintf(word, 64, "Signal:%lld", (long long)signal);
    else
        snprintf(word, 64, "ExitCode:%lld", (long long)code);
}

static void count_restarts(struct summary *s, const struct osb_json *status)
{
    int64_t at;
    s->restarts += osb_json_i64_or(osb_json_get(status, "restartCount"), 0);
    struct osb_slice ended =
        osb_json_str(osb_json_get_path(status, "lastState.terminated.finishedAt"));
    if (ended.len && osb_rfc3339_parse(ended, &at) >= 0 && at > s->last_restart_ns)
        s->last_restart_ns = at;
}

/* True when a container that initialises is not through: its word is the pod's. */
static bool sum_init_containers(struct summary *s, const struct osb_json *pod)
{
    const struct osb_json *list = osb_json_get_path(pod, "status.initContainerStatuses");
    size_t count = osb_json_count(osb_json_get_path(pod, "spec.initContainers"));
    for (size_t i = 0; i < osb_json_count(list); i++) {
        const struct osb_json *status = osb_json_at(list, i);
        const struct osb_json *ended = osb_json_get_path(status, "state.terminated");
        struct osb_slice waiting = osb_json_str(osb_json_get_path(status, "state.waiting.reason"));
        count_restarts(s, status);
        if (ended && osb_json_i64_or(osb_json_get(ended, "exitCode"), 0) == 0)
            continue;
        if (ended) {
            char word[64];
            ended_word(ended, word);
            snprintf(s->word, sizeof(s->word), "Init:%s", word);
        } else if (waiting.len && !osb_slice_eq_str(waiting, "PodInitializing")) {
            snprintf(s->word, sizeof(s->word), "Init:%.*s", OSB_SLICE_ARG(waiting));
        } else {
            snprintf(s->word, sizeof(s->word), "Init:%zu/%zu", i, count);
        }
        return true;
    }
    return false;
}

static void sum_containers(struct summary *s, const struct osb_json *pod)
{
    const struct osb_json *list = osb_json_get_path(pod, "status.containerStatuses");
    for (size_t i = osb_json_count(list); i > 0; i--) { /* the first one's word wins */
        const struct osb_json *status = osb_json_at(list, i - 1);
        const struct osb_json *ended = osb_json_get_path(status, "state.terminated");
        struct osb_slice waiting = osb_json_str(osb_json_get_path(status, "state.waiting.reason"));
        bool is_ready = osb_json_bool_or(osb_json_get(status, "ready"), false);
        count_restarts(s, status);
        if (waiting.len) {
            set_word(s, waiting);
        } else if (ended) {
            char word[64];
            ended_word(ended, word);
            set_word(s, osb_slice_str(word));
        } else if (is_ready && osb_json_get_path(status, "state.running")) {
            s->has_running = true;
            s->ready++;
        }
    }
}

static bool is_condition_true(const struct osb_json *pod, const char *type)
{
    const struct osb_json *list = osb_json_get_path(pod, "status.conditions");
    for (size_t i = 0; i < osb_json_count(list); i++)
        if (osb_slice_eq_str(osb_json_str(osb_json_get(osb_json_at(list, i), "type")), type))
            return osb_slice_eq_str(osb_json_str(osb_json_get(osb_json_at(list, i), "status")),
                                    "True");
    return false;
}

static struct summary sum_up(const struct osb_json *pod)
{
    struct summary s = {0};
    s.total = (int)osb_json_count(osb_json_get_path(pod, "spec.containers"));
    set_word(&s, osb_json_str(osb_json_get_path(pod, "status.phase")));
    set_word(&s, osb_json_str(osb_json_get_path(pod, "status.reason")));
    if (!sum_init_containers(&s, pod)) {
        s.restarts = 0;
        sum_containers(&s, pod);
        if (!strcmp(s.word, "Completed") && s.has_running)
            set_word(&s, is_condition_true(pod, "Ready") ? OSB_SLICE("Running")
                                                         : OSB_SLICE("NotReady"));
    }
    if (osb_json_get_path(pod, "metadata.deletionTimestamp"))
        set_word(&s, OSB_SLICE("Terminating"));
    if (!s.word[0])
        set_word(&s, OSB_SLICE("Unknown"));
    return s;
}

static void cell_ready(const struct osb_json *pod, int64_t now_ns, struct osb_json_writer *w)
{
    (void)now_ns;
    struct summary s = sum_up(pod);
    char text[32];
    snprintf(text, sizeof(text), "%d/%d", s.ready, s.total);
    osb_json_string(w, text);
}

static void cell_status(const struct osb_json *pod, int64_t now_ns, struct osb_json_writer *w)
{
    (void)now_ns;
    osb_json_string(w, sum_up(pod).word);
}

static void cell_restarts(const struct osb_json *pod, int64_t now_ns, struct osb_json_writer *w)
{
    struct summary s = sum_up(pod);
    char text[64], age[24];
    snprintf(text, sizeof(text), "%lld", (long long)s.restarts);
    if (s.restarts && s.last_restart_ns)
        snprintf(text, sizeof(text), "%lld (%s ago)", (long long)s.restarts,
                 osb_api_age(now_ns - s.last_restart_ns, age));
    osb_json_string(w, text);
}

static void write_or_none(const struct osb_json *object, const char *path,
                          struct osb_json_writer *w)
{
    struct osb_slice text = osb_json_str(osb_json_get_path(object, path));
    osb_json_slice(w, text.len ? text : OSB_SLICE("<none>"));
}

static void cell_ip(const struct osb_json *pod, int64_t now_ns, struct osb_json_writer *w)
{
    (void)now_ns;
    write_or_none(pod, "status.podIP", w);
}

static void cell_node(const struct osb_json *pod, int64_t now_ns, struct osb_json_writer *w)
{
    (void)now_ns;
    write_or_none(pod, "spec.nodeName", w);
}

static void cell_nominated(const struct osb_json *pod, int64_t now_ns, struct osb_json_writer *w)
{
    (void)now_ns;
    write_or_none(pod, "status.nominatedNodeName", w);
}

static void cell_gates(const struct osb_json *pod, int64_t now_ns, struct osb_json_writer *w)
{
    (void)pod;
    (void)now_ns;
    osb_json_string(w, "<none>"); /* readiness gates are kept, and not acted on here */
}

static const struct osb_api_column items[] = {
    {"Name", "string", "name", "Name of the pod", 0, ".metadata.name", NULL},
    {"Ready", "string", "", "Containers that are ready, of all", 0, NULL, cell_ready},
    {"Status", "string", "", "The state in one word", 0, NULL, cell_status},
    {"Restarts", "string", "", "Restarts of all containers", 0, NULL, cell_restarts},
    {"Age", "date", "", "Time since creation", 0, ".metadata.creationTimestamp", NULL},
    {"IP", "string", "", "Address of the pod", 1, NULL, cell_ip},
    {"Node", "string", "", "Node that runs the pod", 1, NULL, cell_node},
    {"Nominated Node", "string", "", "Always none here", 1, NULL, cell_nominated},
    {"Readiness Gates", "string", "", "Always none here", 1, NULL, cell_gates},
};

const struct columns columns_pod = {items, sizeof(items) / sizeof(*items)};
