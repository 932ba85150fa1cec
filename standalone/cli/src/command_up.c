// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "control_client.h"
#include "mount_ns.h"
#include "parts.h"

#include <fcntl.h>
#include <osb/cleanup.h>
#include <osb/clock.h>
#include <osb/fd.h>
#include <osb/spawn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STARTING_POLL_MS = 100, STARTING_WAIT_MS = 120000, LAST_LINES_MAX = 4096 };

static int fail(const struct osb_err *err)
{
    fprintf(stderr, "opensandbox up: %s\n", err->message);
    return 1;
}

static void print_addresses(const struct instance *instance, const char *how)
{
    printf("opensandbox is up%s: REST on http://%s:%d, Kubernetes API on https://127.0.0.1:%d\n",
           how, instance->rest_address, instance->rest_port, instance->api_port);
    printf("next: eval \"$(opensandbox env --state %s)\"\n", instance->state);
}

/* The last lines of a part's log: the reason why it did not start. */
static void print_log_tail(const char *state, const char *part)
{
    char name[64], tail[LAST_LINES_MAX + 1];
    snprintf(name, sizeof(name), "logs/%s.log", part);
    _cleanup_free_ char *path = osb_path_join(state, name);
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    if (!file)
        return;
    if (fseek(file, -LAST_LINES_MAX, SEEK_END) < 0)
        rewind(file);
    size_t n = fread(tail, 1, LAST_LINES_MAX, file);
    tail[n] = '\0';
    char *start = tail + n;
    for (int lines = 0; start > tail && lines < 6; start--)
        lines += start[-1] == '\n';
    fprintf(stderr, "last lines of %s:\n%s\n", path, start);
}

/* Shows progress until the engine is up (0) or has failed (1). */
static int follow_progress(FILE *progress, const char *state)
{
    char *line = NULL;
    size_t size = 0;
    int code = 1;
    bool has_reason = false;
    while (getline(&line, &size, progress) > 0) {
        line[strcspn(line, "\n")] = '\0';
        char *rest = line;
        const char *what = strsep(&rest, "\t"), *word = strsep(&rest, "\t");
        const struct part *part = part_by_name(what);
        if (!word)
            continue;
        if (!strcmp(word, "up")) {
            code = 0;
            break;
        }
        if (!strcmp(word, "failed")) {
            has_reason = true;
            if (part) {
                fprintf(stderr, "  %-12s failed to start\n", part->title);
                print_log_tail(state, part->name);
            } else {
                fprintf(stderr, "opensandbox up: %s\n", rest ? rest : "failed");
            }
        } else if (part) {
            printf("  %-12s %-9s %6.2f s\n", part->title, word, rest ? atof(rest) / 1000 : 0);
            fflush(stdout);
        }
    }
    free(line);
    if (code && !has_reason) {
        fprintf(stderr, "opensandbox up: the supervisor ended\n");
        print_log_tail(state, "supervisor");
    }
    return code;
}

static int spawn_supervisor(const char *state, int progress_fd, pid_t *ret_pid, struct osb_err *err)
{
    _cleanup_free_ char *folder = osb_path_join(state, "logs");
    int r = osb_mkdir_p(folder, 0700, err);
    if (r < 0)
        return r;
    _cleanup_free_ char *path = osb_path_join(folder, "supervisor.log");
    _cleanup_close_ int log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log_fd < 0)
        return osb_fail(err, -errno, "%s: %s", path, strerror(errno));
    _cleanup_free_ char *self = part_program("opensandbox");
    const char *argv[] = {self, "supervise", "--state", state, "--progress-fd", "3", NULL};
    struct osb_spawn spawn = {
        .file = self,
        .argv = argv,
        .cwd = "/",
        .fds = {-1, log_fd, log_fd, progress_fd},
        .fd_count = 4,
        .has_own_session = true,
    };
    return osb_spawn(&spawn, ret_pid, err);
}

static int start(const char *state)
{
    struct osb_err err = {0};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) {
        (void)osb_fail(&err, -errno, "pipe: %s", strerror(errno));
        return fail(&err);
    }
    pid_t pid = 0;
    int r = spawn_supervisor(state, ends[1], &pid, &err);
    close(ends[1]);
    if (r < 0) {
        close(ends[0]);
        return fail(&err);
    }
    _cleanup_fclose_ FILE *progress = fdopen(ends[0], "r");
    int code = progress ? follow_progress(progress, state) : 1;
    struct instance instance = {0};
    if (code) {
        (void)waitpid(pid, NULL, 0); /* it takes down what it had started, then ends */
        if (instance_load(state, &instance, NULL) >= 0)
            mount_ns_remove_points(&instance);
    } else if (instance_load(state, &instance, &err) < 0) {
        code = fail(&err);
    } else {
        print_addresses(&instance, "");
    }
    instance_done(&instance);
    return code;
}

/* Another `up` is at it, or has been: waits until it is done. */
static int wait_until_up(const struct instance *instance)
{
    uint64_t deadline = osb_monotonic_ns() + STARTING_WAIT_MS * OSB_NS_PER_MS;
    struct osb_err err = {0};
    while (osb_monotonic_ns() < deadline) {
        _cleanup_json_ struct osb_json *status = NULL;
        if (control_call(instance, "GET", "/v1/status", &status, &err) < 0)
            return fail(&err);
        if (osb_json_bool_or(osb_json_get(status, "up"), false)) {
            print_addresses(instance, " already");
            return 0;
        }
        if (osb_json_bool_or(osb_json_get(status, "goingDown"), false)) {
            fprintf(stderr, "opensandbox up: it is just going down; try again when it is\n");
            return 1;
        }
        (void)poll(NULL, 0, STARTING_POLL_MS);
    }
    fprintf(stderr, "opensandbox up: not up after %d s; see `opensandbox status`\n",
            STARTING_WAIT_MS / 1000);
    return 1;
}

int command_up(const char *state)
{
    struct instance instance = {0};
    struct osb_err err = {0};
    if (geteuid() != 0) {
        fprintf(stderr, "opensandbox up: containers and network links need root\n");
        return 1;
    }
    int r = instance_load(state, &instance, &err);
    if (r < 0 && r != -OSB_E_NOT_FOUND)
        return fail(&err);
    int code;
    if (r >= 0 && control_call(&instance, "GET", "/v1/status", NULL, NULL) >= 0)
        code = wait_until_up(&instance);
    else
        code = start(state);
    instance_done(&instance);
    return code;
}
