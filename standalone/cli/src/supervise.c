// SPDX-License-Identifier: Apache-2.0
/* The life of the supervisor process: lock, mount namespace, configuration, loop, end. */
#include "engine_config.h"
#include "mount_ns.h"
#include "pki.h"
#include "proc_scan.h"
#include "supervisor.h"

#include <fcntl.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <osb/log.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { LEFTOVER_KILL_MS = 10000 };

/* Takes the instance's lock; the descriptor holds it until the process ends. */
static int take_lock(const char *state, struct osb_err *err)
{
    int r = osb_mkdir_p(state, 0700, err);
    if (r < 0)
        return r;
    _cleanup_free_ char *path = osb_path_join(state, "lock");
    _cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return osb_fail(err, -errno, "%s: %s", path, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return osb_fail(err, -EBUSY, "another supervisor runs in %s", state);
    return osb_take_fd(&fd);
}

static int open_instance(const char *state, struct instance *ret, struct osb_err *err)
{
    int r = instance_load(state, ret, err);
    if (r == -OSB_E_NOT_FOUND)
        r = instance_create(state, ret, err);
    if (r < 0)
        return r;
    return instance_make_run(ret, err);
}

/*
 * A killed supervisor leaves parts, and sandboxes that are worth keeping. Their mounts live in its
 * mount namespace, so that one is entered; then the parts are ended and started anew.
 */
static int enter_namespace(const struct instance *instance, struct osb_err *err)
{
    pid_t shim = proc_find(instance, PROC_SHIM);
    pid_t pid = shim ? shim : proc_find(instance, PROC_PART);
    if (!pid)
        return mount_ns_enter_new(instance, err);
    int r = mount_ns_enter(pid, err);
    if (r < 0)
        return r;
    int n = proc_kill(instance, 1U << PROC_PART, LEFTOVER_KILL_MS, err);
    if (n > 0)
        osb_log(OSB_LOG_WARN, "ended the parts of a supervisor that was killed",
                OSB_KV_INT("count", n));
    return n < 0 ? n : 0;
}

static int prepare(const char *state, struct supervisor *supervisor, struct osb_err *err)
{
    int r;
    (void)((r = parts_check_files(err)) < 0 ||
           (r = open_instance(state, &supervisor->instance, err)) < 0 ||
           (r = enter_namespace(&supervisor->instance, err)) < 0 ||
           (r = instance_ensure_ports(&supervisor->instance, err)) < 0 ||
           (r = pki_ensure(&supervisor->instance, err)) < 0 ||
           (r = engine_config_write(&supervisor->instance, err)) < 0);
    return r;
}

static void on_end_signal(int signo, void *arg)
{
    osb_log(OSB_LOG_INFO, "asked to end", OSB_KV_INT("signal", signo));
    supervisor_go_down(arg);
}

static int start(struct supervisor *supervisor, struct osb_err *err)
{
    int r = osb_loop_new_epoll(&supervisor->loop, err);
    if (r < 0)
        return r;
    supervisor->begin_ns = osb_loop_now_ns(supervisor->loop);
    (void)((r = osb_loop_on_signal(supervisor->loop, SIGTERM, on_end_signal, supervisor, err)) <
               0 ||
           (r = osb_loop_on_signal(supervisor->loop, SIGINT, on_end_signal, supervisor, err)) < 0 ||
           (r = control_new(supervisor, &supervisor->control, err)) < 0);
    if (r < 0)
        return r;
    for (int i = 0; i < PART_COUNT; i++) {
        struct running *running = &supervisor->running[i];
        running->supervisor = supervisor;
        running->part = &parts[i];
        running->ready_fd = -1;
    }
    supervisor_advance(supervisor);
    return 0;
}

static void finish(struct supervisor *supervisor)
{
    control_free(supervisor->control);
    teardown_free(supervisor->teardown);
    for (int i = 0; i < PART_COUNT; i++)
        free(supervisor->running[i].socket);
    osb_loop_free(supervisor->loop);
    instance_done(&supervisor->instance);
}

int supervise(const char *state, int progress_fd)
{
    struct osb_err err = {0};
    struct supervisor supervisor = {.progress_fd = progress_fd};
    (void)signal(SIGPIPE, SIG_IGN);
    _cleanup_close_ int lock = take_lock(state, &err);
    int r = lock;
    if (r >= 0)
        r = prepare(state, &supervisor, &err);
    if (r >= 0)
        r = start(&supervisor, &err);
    if (r >= 0)
        r = osb_loop_run(supervisor.loop);
    if (r < 0) {
        osb_log(OSB_LOG_ERROR, "the engine cannot run", OSB_KV_ERR(&err));
        if (progress_fd >= 0) {
            (void)osb_write_all(progress_fd, "\tfailed\t", 8);
            (void)osb_write_all(progress_fd, err.message, strlen(err.message));
            (void)osb_write_all(progress_fd, "\n", 1);
        }
    }
    finish(&supervisor);
    return r < 0 ? 1 : 0;
}
