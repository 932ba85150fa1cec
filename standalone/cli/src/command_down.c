// SPDX-License-Identifier: Apache-2.0
#include "cgroup_tree.h"
#include "commands.h"
#include "control_client.h"
#include "mount_ns.h"
#include "parts.h"
#include "proc_scan.h"

#include <osb/cleanup.h>
#include <osb/clock.h>
#include <osb/spawn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STOP_WAIT_MS = 90000, PROGRESS_MS = 2000, KILL_WAIT_MS = 10000 };

static int fail(const struct osb_err *err)
{
    fprintf(stderr, "opensandbox down: %s\n", err->message);
    return 1;
}

/* Names the parts that have not stopped yet. */
static void print_waiting(const struct instance *instance)
{
    _cleanup_json_ struct osb_json *status = NULL;
    if (control_call(instance, "GET", "/v1/status", &status, NULL) < 0)
        return;
    const struct osb_json *list = osb_json_get(status, "parts");
    printf("  waiting for");
    for (size_t i = 0; i < osb_json_count(list); i++) {
        const struct osb_json *part = osb_json_at(list, i);
        if (osb_json_get(part, "pid"))
            printf(" %s", osb_json_cstr(osb_json_get(part, "name")));
    }
    printf("\n");
    fflush(stdout);
}

/* Asks the supervisor to end all, and waits for the end of its process. */
static int stop_supervisor(const struct instance *instance, pid_t pid, struct osb_err *err)
{
    _cleanup_close_ int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0)
        return errno == ESRCH
                   ? 0
                   : osb_fail(err, -errno, "supervisor %d: %s", (int)pid, strerror(errno));
    int r = control_call(instance, "POST", "/v1/down", NULL, err);
    if (r < 0)
        return r;
    uint64_t deadline = osb_monotonic_ns() + STOP_WAIT_MS * OSB_NS_PER_MS;
    for (;;) {
        struct pollfd end = {.fd = pidfd, .events = POLLIN};
        if (poll(&end, 1, PROGRESS_MS) > 0)
            return 0;
        if (osb_monotonic_ns() > deadline)
            return osb_fail(err, -OSB_E_TIMEOUT, "the supervisor does not end; see logs/");
        print_waiting(instance);
    }
}

static int run(struct part_command *command, struct osb_err *err)
{
    struct osb_spawn spawn = {
        .file = command->argv[0],
        .argv = (const char *const *)command->argv,
        .fds = {-1, STDOUT_FILENO, STDERR_FILENO},
        .fd_count = 3,
    };
    pid_t pid;
    int status;
    int r = osb_spawn(&spawn, &pid, err);
    if (r < 0)
        return r;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (status)
        return osb_fail(err, -OSB_E_INTERNAL, "%s failed", command->argv[0]);
    return 0;
}

/* Without a supervisor: by force. Its mounts go with the last process of its namespace. */
static int end_leftovers(const struct instance *instance, struct osb_err *err)
{
    int n = proc_kill(instance, 1U << PROC_PART | 1U << PROC_SHIM | 1U << PROC_CONTAINER,
                      KILL_WAIT_MS, err);
    if (n < 0)
        return n;
    if (n > 0)
        printf("  ended %d processes of a supervisor that was killed\n", n);
    int r = cgroup_tree_remove(instance->cgroup, err);
    if (r < 0)
        return r;
    struct part_command command = {0};
    part_net_down(instance, &command);
    r = run(&command, err);
    part_command_done(&command);
    return r;
}

static int take_down(const struct instance *instance, struct osb_err *err)
{
    _cleanup_json_ struct osb_json *status = NULL;
    int r = control_call(instance, "GET", "/v1/status", &status, NULL);
    if (r < 0)
        return end_leftovers(instance, err);
    printf("stopping the engine in %s\n", instance->state);
    fflush(stdout);
    r = stop_supervisor(instance, (pid_t)osb_json_i64_or(osb_json_get(status, "pid"), 0), err);
    if (r < 0)
        return r;
    pid_t left = proc_find(instance, PROC_CONTAINER);
    if (left)
        return osb_fail(err, -EBUSY, "process %d of a sandbox is still there", (int)left);
    return 0;
}

int command_down(const char *state, bool is_purge)
{
    struct instance instance = {0};
    struct osb_err err = {0};
    uint64_t begin = osb_monotonic_ns();
    int r = instance_load(state, &instance, &err);
    if (r == -OSB_E_NOT_FOUND) {
        printf("nothing to do: %s holds no instance\n", state);
        return 0;
    }
    if (r >= 0)
        r = take_down(&instance, &err);
    if (r >= 0) {
        mount_ns_remove_points(&instance);
        r = instance_remove(&instance, is_purge, &err);
    }
    instance_done(&instance);
    if (r < 0)
        return fail(&err);
    printf("down%s (%.1f s)\n", is_purge ? ", and its state removed" : "",
           (double)(osb_monotonic_ns() - begin) / 1e9);
    return 0;
}
