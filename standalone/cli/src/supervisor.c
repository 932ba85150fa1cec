// SPDX-License-Identifier: Apache-2.0
#include "supervisor.h"

#include <fcntl.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <osb/log.h>
#include <osb/spawn.h>
#include <osb/uuid.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SOCKET_PROBE_MS = 20, SOCKET_CONNECT_MS = 1000 };

static const bool allowed[PART_STATE_COUNT][PART_STATE_COUNT] = {
    [PART_IDLE] = {[PART_STARTING] = true, [PART_STOPPED] = true},
    [PART_STARTING] =
        {[PART_READY] = true, [PART_DONE] = true, [PART_BACKOFF] = true, [PART_STOPPING] = true},
    [PART_READY] = {[PART_BACKOFF] = true, [PART_STOPPING] = true},
    [PART_DONE] = {[PART_STOPPED] = true, [PART_IDLE] = true},
    [PART_BACKOFF] = {[PART_STARTING] = true, [PART_STOPPED] = true},
    [PART_STOPPING] = {[PART_STOPPED] = true},
};

const char *part_state_name(enum part_state state)
{
    static const char *const names[PART_STATE_COUNT] = {"waiting",    "starting", "ready",  "done",
                                                        "restarting", "stopping", "stopped"};
    return names[state];
}

static void set_state(struct running *running, enum part_state state)
{
    osb_assert(allowed[running->state][state]);
    running->state = state;
    osb_log(OSB_LOG_INFO, "part", OSB_KV_STR("part", running->part->name),
            OSB_KV_STR("phase", part_state_name(state)), OSB_KV_INT("pid", running->pid));
}

void supervisor_progress(struct supervisor *supervisor, const char *what, const char *state)
{
    if (supervisor->progress_fd < 0)
        return;
    char line[512];
    uint64_t ms = (osb_loop_now_ns(supervisor->loop) - supervisor->begin_ns) / 1000000;
    int n = snprintf(line, sizeof(line), "%s\t%s\t%llu\n", what, state, (unsigned long long)ms);
    if (n >= (int)sizeof(line))
        n = sizeof(line) - 1;
    if (osb_write_all(supervisor->progress_fd, line, (size_t)n) < 0) {
        close(supervisor->progress_fd); /* `up` was interrupted: that is no reason to stop */
        supervisor->progress_fd = -1;
    }
}

static int open_log(const struct instance *instance, const char *name, struct osb_err *err)
{
    char file[64];
    snprintf(file, sizeof(file), "logs/%s.log", name);
    _cleanup_free_ char *path = instance_state_path(instance, file);
    struct stat st;
    if (stat(path, &st) == 0 && st.st_size > SUPERVISOR_LOG_MAX) {
        _cleanup_free_ char *older = malloc(strlen(path) + 3);
        if (older) {
            sprintf(older, "%s.1", path);
            (void)rename(path, older);
        }
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        return osb_fail(err, -errno, "%s: %s", path, strerror(errno));
    return fd;
}

int supervisor_spawn(struct supervisor *supervisor, const char *name,
                     const struct part_command *command, int ready_fd, pid_t *ret_pid,
                     struct osb_err *err)
{
    _cleanup_close_ int log_fd = open_log(&supervisor->instance, name, err);
    if (log_fd < 0)
        return log_fd;
    struct osb_spawn spawn = {
        .file = command->argv[0],
        .argv = (const char *const *)command->argv,
        .cwd = "/",
        .fds = {-1, log_fd, log_fd, ready_fd},
        .fd_count = ready_fd >= 0 ? PART_READY_FD + 1 : PART_READY_FD,
        .has_own_group = true,
    };
    return osb_spawn(&spawn, ret_pid, err);
}

/* ---- readiness ---- */

static void end_readiness(struct running *running)
{
    osb_watch_stop(&running->ready_watch);
    if (running->ready_fd >= 0)
        close(running->ready_fd);
    running->ready_fd = -1;
    if (running->probe)
        osb_connect_cancel(running->probe);
    running->probe = NULL;
    osb_timer_stop(&running->timer);
    osb_timer_stop(&running->ready_timeout);
}

static bool all_up(const struct supervisor *supervisor)
{
    for (int i = 0; i < PART_COUNT; i++) {
        if (supervisor->running[i].state != PART_READY && supervisor->running[i].state != PART_DONE)
            return false;
    }
    return true;
}

static void became_ready(struct running *running, enum part_state state)
{
    struct supervisor *supervisor = running->supervisor;
    end_readiness(running);
    running->ready_ns = osb_loop_now_ns(supervisor->loop);
    set_state(running, state);
    supervisor_progress(supervisor, running->part->name, "ready");
    supervisor_advance(supervisor);
    if (!supervisor->is_up && all_up(supervisor)) {
        supervisor->is_up = true;
        supervisor_progress(supervisor, "", "up");
        if (supervisor->progress_fd >= 0)
            close(supervisor->progress_fd);
        supervisor->progress_fd = -1;
    }
}

static void on_ready_fd(struct osb_watch *watch, int events)
{
    struct running *running = watch->arg;
    char line[16];
    (void)events;
    ssize_t n = read(running->ready_fd, line, sizeof(line));
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0) {
        became_ready(running, PART_READY);
        return;
    }
    osb_watch_stop(watch); /* closed without a word: its end is reported by the child watch */
}

static void probe_socket(struct osb_timer *timer);

static void on_probe(struct osb_stream *stream, int r, void *arg)
{
    struct running *running = arg;
    running->probe = NULL;
    osb_stream_close(stream);
    if (r >= 0)
        became_ready(running, PART_READY);
    else
        osb_timer_set(&running->timer, SOCKET_PROBE_MS);
}

static void probe_socket(struct osb_timer *timer)
{
    struct running *running = timer->arg;
    int r = osb_connect_unix(running->supervisor->loop, running->socket, SOCKET_CONNECT_MS,
                             on_probe, running, &running->probe, NULL);
    if (r < 0)
        osb_timer_set(&running->timer, SOCKET_PROBE_MS);
}

static void on_ready_timeout(struct osb_timer *timer)
{
    struct running *running = timer->arg;
    osb_log(OSB_LOG_ERROR, "part is not ready in time", OSB_KV_STR("part", running->part->name),
            OSB_KV_INT("pid", running->pid));
    if (running->pid)
        (void)kill(running->pid, SIGKILL); /* not reaped yet, so the number is still its own */
}

/* ---- start and end ---- */

static void start_part(struct running *running);

static void backoff_over(struct osb_timer *timer)
{
    start_part(timer->arg);
}

static void give_up(struct running *running)
{
    struct supervisor *supervisor = running->supervisor;
    char what[128];
    snprintf(what, sizeof(what), "%s", running->part->name);
    supervisor_progress(supervisor, what, "failed");
    supervisor_go_down(supervisor);
}

static void retry_later(struct running *running)
{
    struct supervisor *supervisor = running->supervisor;
    set_state(running, PART_BACKOFF);
    running->failures++;
    if (!supervisor->is_up && running->failures >= SUPERVISOR_START_TRIES) {
        give_up(running);
        return;
    }
    uint64_t delay = SUPERVISOR_BACKOFF_MIN_MS;
    for (int i = 1; i < running->failures && delay < SUPERVISOR_BACKOFF_MAX_MS; i++)
        delay *= 2;
    if (delay > SUPERVISOR_BACKOFF_MAX_MS)
        delay = SUPERVISOR_BACKOFF_MAX_MS;
    uint8_t jitter;
    osb_random_bytes(&jitter, sizeof(jitter));
    delay += delay * jitter / 1024; /* up to a quarter more */
    osb_timer_init(&running->timer, supervisor->loop, backoff_over, running);
    osb_timer_set(&running->timer, delay);
}

static void on_part_end(struct osb_child *child, int wait_status)
{
    struct running *running = child->arg;
    struct supervisor *supervisor = running->supervisor;
    end_readiness(running);
    running->last_status = wait_status;
    osb_log(running->state == PART_STOPPING ? OSB_LOG_INFO : OSB_LOG_WARN, "part ended",
            OSB_KV_STR("part", running->part->name), OSB_KV_INT("pid", running->pid),
            OSB_KV_INT("exit_code", WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1),
            OSB_KV_INT("signal", WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0));
    running->pid = 0;
    if (running->state == PART_STOPPING) {
        set_state(running, PART_STOPPED);
        teardown_advance(supervisor);
        return;
    }
    if (running->part->ready == READY_BY_END && wait_status == 0) {
        became_ready(running, PART_DONE);
        return;
    }
    if (running->state == PART_READY) {
        running->restarts++;
        uint64_t lived_ns = osb_loop_now_ns(supervisor->loop) - running->ready_ns;
        if (lived_ns > (uint64_t)SUPERVISOR_STABLE_MS * 1000000)
            running->failures = 0;
    }
    retry_later(running);
}

static void watch_readiness(struct running *running)
{
    struct osb_loop *loop = running->supervisor->loop;
    osb_timer_init(&running->ready_timeout, loop, on_ready_timeout, running);
    osb_timer_set(&running->ready_timeout, (uint64_t)running->part->ready_timeout_s * 1000);
    if (running->part->ready == READY_BY_FD) {
        osb_watch_init(&running->ready_watch, loop, running->ready_fd, on_ready_fd, running);
        (void)osb_watch_set(&running->ready_watch, OSB_READABLE);
    } else if (running->part->ready == READY_BY_SOCKET) {
        osb_timer_init(&running->timer, loop, probe_socket, running);
        osb_timer_set(&running->timer, SOCKET_PROBE_MS);
    }
}

static int spawn_part(struct running *running, struct osb_err *err)
{
    struct supervisor *supervisor = running->supervisor;
    struct part_command command = {0};
    running->part->command(&supervisor->instance, &command);
    int ends[2] = {-1, -1};
    int r = 0;
    if (running->part->ready == READY_BY_FD && pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        r = osb_fail(err, -errno, "pipe: %s", strerror(errno));
    if (r >= 0)
        r = supervisor_spawn(supervisor, running->part->name, &command, ends[1], &running->pid,
                             err);
    if (ends[1] >= 0)
        close(ends[1]);
    running->ready_fd = ends[0];
    free(running->socket);
    running->socket = osb_take_ptr(command.socket);
    part_command_done(&command);
    if (r >= 0)
        r = osb_child_watch(&running->child, supervisor->loop, running->pid, on_part_end, running);
    return r;
}

static void start_part(struct running *running)
{
    struct osb_err err = {0};
    set_state(running, PART_STARTING);
    running->started_ns = osb_loop_now_ns(running->supervisor->loop);
    int r = spawn_part(running, &err);
    if (r < 0) {
        osb_log(OSB_LOG_ERROR, "part cannot be started", OSB_KV_STR("part", running->part->name),
                OSB_KV_ERR(&err));
        end_readiness(running);
        running->pid = 0;
        retry_later(running);
        return;
    }
    watch_readiness(running);
}

void supervisor_advance(struct supervisor *supervisor)
{
    if (supervisor->is_going_down)
        return;
    unsigned up = 0;
    for (int i = 0; i < PART_COUNT; i++) {
        enum part_state state = supervisor->running[i].state;
        if (state == PART_READY || state == PART_DONE)
            up |= 1U << i;
    }
    for (int i = 0; i < PART_COUNT; i++) {
        struct running *running = &supervisor->running[i];
        if (running->state == PART_IDLE && (running->part->after & ~up) == 0)
            start_part(running);
    }
}

static void stop_wait_over(struct osb_timer *timer)
{
    struct running *running = timer->arg;
    osb_log(OSB_LOG_WARN, "part does not end, killing it", OSB_KV_STR("part", running->part->name),
            OSB_KV_INT("pid", running->pid));
    if (running->pid)
        (void)kill(running->pid, SIGKILL);
}

void supervisor_stop_part(struct running *running)
{
    end_readiness(running);
    if (!running->pid) {
        if (running->state != PART_STOPPED)
            set_state(running, PART_STOPPED);
        return;
    }
    if (running->state == PART_STOPPING)
        return;
    set_state(running, PART_STOPPING);
    (void)kill(running->pid, SIGTERM);
    osb_timer_init(&running->timer, running->supervisor->loop, stop_wait_over, running);
    osb_timer_set(&running->timer, SUPERVISOR_STOP_WAIT_MS);
}

void supervisor_go_down(struct supervisor *supervisor)
{
    if (supervisor->is_going_down)
        return;
    supervisor->is_going_down = true;
    teardown_begin(supervisor);
}
