// SPDX-License-Identifier: Apache-2.0
/*
 * lib/cri against a real runtime, for the suite "cri":
 *
 *   cri_pod ENDPOINT ready                             waits until runtime and network are ready
 *   cri_pod ENDPOINT check REGISTRY FOLDER CGROUP      the cases; prints "ok NAME" or "not ok NAME
 * # WHY" cri_pod ENDPOINT watch                             prints events until the stream came
 * back once
 *
 * REGISTRY holds our images (images/build) as REGISTRY/NAME:1; logs go below FOLDER.
 */
#include "cri_sync.h"

#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/clock.h>
#include <osb/cri_log.h>
#include <osb/fd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READY_TIMEOUT_MS = 30000, EVENT_TIMEOUT_MS = 10000, EVENTS_MAX = 64, LOG_MAX = 65536 };

struct seen {
    enum osb_cri_event_type type;
    char id[72];
    uint32_t exit_status;
};

struct check {
    struct cri_sync sync;
    const char *registry;
    const char *folder;
    const char *cgroup;
    struct cri_sync_pod pod;
    struct osb_cri_events *events;
    struct seen seen[EVENTS_MAX];
    size_t seen_count;
    int failures;
};

/* ---- how a case is said ---- */

static void say(struct check *check, bool is_ok, const char *name, const char *why)
{
    if (is_ok) {
        printf("ok %s\n", name);
    } else {
        printf("not ok %s # %s\n", name, why);
        check->failures++;
    }
    fflush(stdout);
}

static void say_r(struct check *check, int r, const struct osb_err *err, const char *name)
{
    say(check, r >= 0, name, err->message);
}

/* ---- events ---- */

static void on_event(const struct osb_cri_event *event, void *arg)
{
    struct check *check = arg;
    struct seen *seen = &check->seen[check->seen_count];

    if (check->seen_count == EVENTS_MAX)
        return;
    check->seen_count++;
    seen->type = event->type;
    seen->exit_status = event->exit_status;
    snprintf(seen->id, sizeof(seen->id), "%s", event->container_id);
}

static const struct seen *find_event(const struct check *check, enum osb_cri_event_type type,
                                     const char *id)
{
    for (size_t i = 0; i < check->seen_count; i++)
        if (check->seen[i].type == type && strcmp(check->seen[i].id, id) == 0)
            return &check->seen[i];
    return NULL;
}

static const struct seen *wait_event(struct check *check, enum osb_cri_event_type type,
                                     const char *id)
{
    uint64_t until_ns = osb_monotonic_ns() + EVENT_TIMEOUT_MS * OSB_NS_PER_MS;
    const struct seen *seen;

    while (!(seen = find_event(check, type, id)) && osb_monotonic_ns() < until_ns)
        osb_loop_turn(check->sync.loop, 100);
    return seen;
}

static void event_case(struct check *check, enum osb_cri_event_type type, const char *id,
                       const char *name)
{
    say(check, wait_event(check, type, id), name, "no such event");
}

/* ---- images ---- */

static char *image_name(const struct check *check, const char *name)
{
    return osb_asprintf("%s/%s:1", check->registry, name);
}

/* 1 when it is there, 0 when not. */
static int has_image(struct check *check, const char *image, struct osb_err *err)
{
    Runtime__V1__ImageStatusRequest request = RUNTIME__V1__IMAGE_STATUS_REQUEST__INIT;
    Runtime__V1__ImageSpec spec = RUNTIME__V1__IMAGE_SPEC__INIT;
    ProtobufCMessage *response;
    int r;

    spec.image = (char *)image;
    request.image = &spec;
    r = cri_sync_call(&check->sync, OSB_CRI_IMAGE_STATUS, &request.base, &response, err);
    if (r < 0)
        return r;
    r = ((Runtime__V1__ImageStatusResponse *)response)->image != NULL;
    protobuf_c_message_free_unpacked(response, NULL);
    return r;
}

static void check_images(struct check *check)
{
    static const char *const names[] = {"base", "static", "ends"};
    _cleanup_free_ char *base = image_name(check, "base");
    _cleanup_free_ char *missing = image_name(check, "missing");
    _cleanup_free_ char *wrong = image_name(check, "wrongarch");
    struct osb_err err = {0};
    int r = has_image(check, base, &err);

    say(check, r == 0, "an image that is not there is no error", r < 0 ? err.message : "it is");
    r = 0;
    for (size_t i = 0; i < 3 && r >= 0; i++) {
        _cleanup_free_ char *image = image_name(check, names[i]);

        r = cri_sync_pull(&check->sync, image, &err);
    }
    say_r(check, r, &err, "images are pulled from a registry");
    r = has_image(check, base, &err);
    say(check, r == 1, "a pulled image is there", r < 0 ? err.message : "it is not");
    r = cri_sync_pull(&check->sync, missing, &err);
    say(check, r == -OSB_E_NOT_FOUND, "a missing image is not found",
        r < 0 ? err.message : "it is");
    r = cri_sync_pull(&check->sync, wrong, &err);
    say(check, r < 0 && strstr(err.message, "platform"),
        "an image for another architecture is refused and the text names the platform",
        r < 0 ? err.message : "pulled");
}

/* ---- a pod ---- */

static void check_sandbox(struct check *check)
{
    Runtime__V1__PodSandboxStatusRequest request = RUNTIME__V1__POD_SANDBOX_STATUS_REQUEST__INIT;
    Runtime__V1__PodSandboxStatusResponse *answer = NULL;
    struct osb_err err = {0};
    int r = cri_sync_run_sandbox(&check->sync, &check->pod, "check", check->folder, check->cgroup,
                                 &err);

    say_r(check, r, &err, "a pod sandbox runs");
    if (r < 0)
        return;
    request.pod_sandbox_id = check->pod.sandbox_id;
    r = cri_sync_call(&check->sync, OSB_CRI_POD_SANDBOX_STATUS, &request.base,
                      (ProtobufCMessage **)&answer, &err);
    say(check,
        r >= 0 && answer->status->state == RUNTIME__V1__POD_SANDBOX_STATE__SANDBOX_READY &&
            answer->status->network && answer->status->network->ip[0],
        "it is ready and has an address", r < 0 ? err.message : "it is not or has none");
    if (answer)
        runtime__v1__pod_sandbox_status_response__free_unpacked(answer, NULL);
    event_case(check, OSB_CRI_EVENT_CONTAINER_STARTED, check->pod.sandbox_id,
               "its start is an event");
}

static void check_exec(struct check *check)
{
    const char *const command[] = {"sh", "-c", "echo to-stdout; echo to-stderr >&2; exit 7"};
    const char *const slow[] = {"sleep", "600"};
    Runtime__V1__ExecSyncResponse *answer = NULL;
    struct osb_err err = {0};
    int r = cri_sync_exec(&check->sync, check->pod.container_id, command, 3, 10, &answer, &err);

    say(check,
        r >= 0 && answer->exit_code == 7 && answer->stdout.len == 10 && answer->stderr.len == 10,
        "a command brings its output and its status", r < 0 ? err.message : "others than its own");
    if (answer)
        runtime__v1__exec_sync_response__free_unpacked(answer, NULL);
    answer = NULL;
    r = cri_sync_exec(&check->sync, check->pod.container_id, slow, 2, 1, &answer, &err);
    say(check, r == -OSB_E_TIMEOUT, "a command that takes too long times out",
        r < 0 ? err.message : "it did not");
    if (answer)
        runtime__v1__exec_sync_response__free_unpacked(answer, NULL);
}

static void check_stats(struct check *check)
{
    Runtime__V1__ContainerStatsRequest request = RUNTIME__V1__CONTAINER_STATS_REQUEST__INIT;
    Runtime__V1__ContainerStatsResponse *answer = NULL;
    struct osb_err err = {0};
    int r;

    request.container_id = check->pod.container_id;
    r = cri_sync_call(&check->sync, OSB_CRI_CONTAINER_STATS, &request.base,
                      (ProtobufCMessage **)&answer, &err);
    say(check,
        r >= 0 && answer->stats && answer->stats->memory &&
            answer->stats->memory->working_set_bytes &&
            answer->stats->memory->working_set_bytes->value > 0,
        "its memory is counted", r < 0 ? err.message : "it is not");
    if (answer)
        runtime__v1__container_stats_response__free_unpacked(answer, NULL);
}

static void check_exec_url(struct check *check)
{
    Runtime__V1__ExecRequest request = RUNTIME__V1__EXEC_REQUEST__INIT;
    Runtime__V1__ExecResponse *answer = NULL;
    const char *command[] = {"true"};
    struct osb_err err = {0};
    int r;

    request.container_id = check->pod.container_id;
    request.cmd = (char **)command;
    request.n_cmd = 1;
    request.stdout = true;
    r = cri_sync_call(&check->sync, OSB_CRI_EXEC, &request.base, (ProtobufCMessage **)&answer,
                      &err);
    say(check, r >= 0 && strncmp(answer->url, "http://", 7) == 0, "a streamed command gets a URL",
        r < 0 ? err.message : answer->url);
    if (answer)
        runtime__v1__exec_response__free_unpacked(answer, NULL);
}

/* Both lines of the container, each on its stream. */
static bool log_is_right(struct osb_slice log)
{
    struct osb_slice piece;
    int out = 0, complaint = 0, other = 0;

    while (log.len > 0 && osb_slice_split(&log, '\n', &piece)) {
        struct osb_cri_log_line line;

        if (piece.len == 0)
            continue;
        if (osb_cri_log_parse(piece, &line) < 0)
            other++;
        else if (!line.is_stderr && osb_slice_eq_str(line.text, "hello"))
            out++;
        else if (line.is_stderr && osb_slice_eq_str(line.text, "oops"))
            complaint++;
        else
            other++;
    }
    return out == 1 && complaint == 1 && other == 0;
}

static void check_log(struct check *check)
{
    _cleanup_free_ char *path = osb_path_join(check->folder, "log");
    uint64_t until_ns = osb_monotonic_ns() + EVENT_TIMEOUT_MS * OSB_NS_PER_MS;
    _cleanup_buf_ struct osb_buf text = {0};
    struct osb_err err = {0};

    do {
        osb_buf_clear(&text);
        osb_read_file(path, LOG_MAX, &text, &err);
        osb_loop_turn(check->sync.loop, 10);
    } while (!log_is_right(osb_buf_slice(&text)) && osb_monotonic_ns() < until_ns);
    say(check, log_is_right(osb_buf_slice(&text)), "its log has both streams, line by line",
        err.code ? err.message : osb_buf_cstr(&text));
}

static Runtime__V1__ContainerStatusResponse *container_status(struct check *check,
                                                              struct osb_err *err)
{
    Runtime__V1__ContainerStatusRequest request = RUNTIME__V1__CONTAINER_STATUS_REQUEST__INIT;
    ProtobufCMessage *response = NULL;

    request.container_id = check->pod.container_id;
    cri_sync_call(&check->sync, OSB_CRI_CONTAINER_STATUS, &request.base, &response, err);
    return (Runtime__V1__ContainerStatusResponse *)response;
}

static void state_case(struct check *check, Runtime__V1__ContainerState state, int exit_code,
                       const char *name)
{
    struct osb_err err = {0};
    Runtime__V1__ContainerStatusResponse *answer = container_status(check, &err);

    say(check, answer && answer->status->state == state && answer->status->exit_code == exit_code,
        name, answer ? "another state or exit code" : err.message);
    if (answer)
        runtime__v1__container_status_response__free_unpacked(answer, NULL);
}

/* The container was removed. */
static void state_is_not_found(struct check *check)
{
    struct osb_err err = {0};
    Runtime__V1__ContainerStatusResponse *answer = container_status(check, &err);

    say(check, err.code == -OSB_E_NOT_FOUND, "a removed container is not found",
        answer ? "it is" : err.message);
    if (answer)
        runtime__v1__container_status_response__free_unpacked(answer, NULL);
}

static void check_end(struct check *check)
{
    struct osb_err err = {0};
    const struct seen *seen;
    int r = cri_sync_stop_container(&check->sync, check->pod.container_id, 10, &err);

    say_r(check, r, &err, "it stops");
    seen = wait_event(check, OSB_CRI_EVENT_CONTAINER_EXITED, check->pod.container_id);
    say(check, seen && seen->exit_status == 5, "its end is an event with its status", "it is not");
    event_case(check, OSB_CRI_EVENT_CONTAINER_DELETED, check->pod.container_id,
               "the end of its task is an event");
    state_case(check, RUNTIME__V1__CONTAINER_STATE__CONTAINER_EXITED, 5, "it has exited");
    r = cri_sync_remove_container(&check->sync, check->pod.container_id, &err);
    say_r(check, r, &err, "it can be removed");
    state_is_not_found(check);
}

static void check_container(struct check *check)
{
    const char *const command[] = {
        "sh", "-c", "trap 'exit 5' TERM; echo hello; echo oops >&2; while :; do sleep 0.05; done"};
    _cleanup_free_ char *image = image_name(check, "base");
    struct osb_err err = {0};
    int r = cri_sync_run_container(&check->sync, &check->pod, image, command, 3, &err);

    say_r(check, r, &err, "a container starts");
    if (r < 0)
        return;
    event_case(check, OSB_CRI_EVENT_CONTAINER_STARTED, check->pod.container_id,
               "its start is an event too");
    state_case(check, RUNTIME__V1__CONTAINER_STATE__CONTAINER_RUNNING, 0, "it is running");
    check_exec(check);
    check_stats(check);
    check_exec_url(check);
    check_log(check);
    check_end(check);
}

/* A second container in the sandbox, from an image that has nothing but one program. */
static void check_short_one(struct check *check)
{
    _cleanup_free_ char *image = image_name(check, "ends");
    struct osb_err err = {0};
    const struct seen *seen;
    int r = cri_sync_run_container(&check->sync, &check->pod, image, NULL, 0, &err);

    say_r(check, r, &err, "a container of one static program starts");
    if (r < 0)
        return;
    seen = wait_event(check, OSB_CRI_EVENT_CONTAINER_EXITED, check->pod.container_id);
    say(check, seen && seen->exit_status == 3, "the end that it came to by itself is an event",
        "it is not");
    r = cri_sync_remove_container(&check->sync, check->pod.container_id, &err);
    say_r(check, r, &err, "it can be removed without a stop");
}

static void check_removal(struct check *check)
{
    Runtime__V1__ListPodSandboxRequest list = RUNTIME__V1__LIST_POD_SANDBOX_REQUEST__INIT;
    _cleanup_free_ char *sandbox_id = osb_strdup(check->pod.sandbox_id);
    Runtime__V1__ListPodSandboxResponse *answer = NULL;
    struct osb_err err = {0};
    int r = cri_sync_remove_pod(&check->sync, &check->pod, &err);

    say_r(check, r, &err, "the sandbox can be stopped and removed");
    if (sandbox_id)
        event_case(check, OSB_CRI_EVENT_CONTAINER_EXITED, sandbox_id, "its end is an event");
    r = cri_sync_call(&check->sync, OSB_CRI_LIST_POD_SANDBOX, &list.base,
                      (ProtobufCMessage **)&answer, &err);
    say(check, r >= 0 && answer->n_items == 0, "no sandbox is left",
        r < 0 ? err.message : "there is one");
    if (answer)
        runtime__v1__list_pod_sandbox_response__free_unpacked(answer, NULL);
}

static void check_version(struct check *check)
{
    Runtime__V1__VersionRequest request = RUNTIME__V1__VERSION_REQUEST__INIT;
    Runtime__V1__VersionResponse *answer = NULL;
    struct osb_err err = {0};
    int r = cri_sync_call(&check->sync, OSB_CRI_VERSION, &request.base,
                          (ProtobufCMessage **)&answer, &err);

    say(check, r >= 0 && strcmp(answer->runtime_name, "containerd") == 0,
        "the runtime says its name", r < 0 ? err.message : answer->runtime_name);
    if (answer)
        runtime__v1__version_response__free_unpacked(answer, NULL);
}

static int run_checks(struct check *check, const char *endpoint, struct osb_err *err)
{
    int r = osb_cri_events_new(check->sync.loop, endpoint, on_event, check, &check->events, err);

    if (r < 0)
        return r;
    event_case(check, OSB_CRI_EVENT_CONNECTED, "", "events are subscribed to");
    check_version(check);
    check_images(check);
    check_sandbox(check);
    if (check->pod.sandbox_id) {
        check_container(check);
        check_short_one(check);
    }
    check_removal(check);
    say(check, !find_event(check, OSB_CRI_EVENT_LOST, ""), "the stream of events held", "it broke");
    osb_cri_events_free(check->events);
    return check->failures ? osb_fail(err, -OSB_E_INTERNAL, "%d cases failed", check->failures) : 0;
}

/* ---- the stream of events over a restart of the runtime ---- */

static const char *const type_names[] = {
    [OSB_CRI_EVENT_CONTAINER_STARTED] = "started",
    [OSB_CRI_EVENT_CONTAINER_EXITED] = "exited",
    [OSB_CRI_EVENT_CONTAINER_OOM] = "oom",
    [OSB_CRI_EVENT_CONTAINER_DELETED] = "deleted",
    [OSB_CRI_EVENT_LOST] = "lost",
    [OSB_CRI_EVENT_CONNECTED] = "connected",
};

static void print_event(const struct osb_cri_event *event, void *arg)
{
    int *connected = arg;

    printf("%s\n", type_names[event->type]);
    fflush(stdout);
    *connected += event->type == OSB_CRI_EVENT_CONNECTED;
}

static int watch(struct cri_sync *sync, const char *endpoint, struct osb_err *err)
{
    struct osb_cri_events *events;
    int connected = 0;
    int r = osb_cri_events_new(sync->loop, endpoint, print_event, &connected, &events, err);

    if (r < 0)
        return r;
    while (connected < 2)
        osb_loop_turn(sync->loop, 1000);
    osb_cri_events_free(events);
    return 0;
}

int main(int argc, char **argv)
{
    struct osb_err err = {0};
    struct check check = {0};
    int r;

    if (argc < 3) {
        fprintf(stderr, "cri_pod ENDPOINT ready | check REGISTRY FOLDER CGROUP | watch\n");
        return 2;
    }
    r = cri_sync_init(&check.sync, argv[1], &err);
    if (r >= 0 && strcmp(argv[2], "ready") == 0) {
        r = cri_sync_wait_ready(&check.sync, READY_TIMEOUT_MS, &err);
    } else if (r >= 0 && strcmp(argv[2], "watch") == 0) {
        r = watch(&check.sync, argv[1], &err);
    } else if (r >= 0 && strcmp(argv[2], "check") == 0 && argc == 6) {
        check.registry = argv[3];
        check.folder = argv[4];
        check.cgroup = argv[5];
        r = run_checks(&check, argv[1], &err);
    }
    if (r < 0)
        fprintf(stderr, "cri_pod: %s\n", err.message);
    cri_sync_done(&check.sync);
    return r < 0;
}
