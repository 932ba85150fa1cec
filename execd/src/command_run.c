// SPDX-License-Identifier: Apache-2.0
#include "command_run.h"

#include "command_start.h"

#include <errno.h>
#include <osb/alloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUN_READ_MAX = 64 * 1024 }; /* one read; also the usual capacity of a pipe */

struct run_pipe {
    struct osb_watch watch;
    struct command_run *run;
    int fd;      /* -1 at its end */
    size_t left; /* after the leader's end: bytes that are still the command's */
};

struct command_run {
    struct pipe_drains *drains;
    struct command_records *records;
    struct command_record *record;
    struct command_listener listener; /* on_output NULL: none */
    struct run_pipe pipes[RUN_PIPES];
    struct osb_child child;
    struct osb_timer timeout;
    struct osb_defer rest; /* reads on after the leader's end */
    int64_t timeout_ms;
    size_t read_size;
    int wait_status;
    bool is_paused;
    bool is_timed_out;
    bool has_ended; /* the leader; wait_status is valid */
};

/* The loop is one thread: all runs read into one buffer. */
static char read_buffer[RUN_READ_MAX];

static void pipe_close(struct run_pipe *pipe)
{
    osb_watch_stop(&pipe->watch);
    if (pipe->fd >= 0)
        close(pipe->fd);
    pipe->fd = -1;
    pipe->left = 0;
}

static void run_free(struct command_run *run)
{
    for (int i = 0; i < RUN_PIPES; i++)
        pipe_close(&run->pipes[i]);
    osb_timer_stop(&run->timeout);
    osb_defer_cancel(&run->rest);
    osb_child_stop(&run->child);
    free(run);
}

/* The words for a wait status; BUFFER holds what is not constant. */
static struct command_outcome describe(const struct command_run *run, char *buffer, size_t len)
{
    if (WIFEXITED(run->wait_status) && WEXITSTATUS(run->wait_status) == 0)
        return (struct command_outcome){0, NULL};
    if (WIFEXITED(run->wait_status)) {
        int code = WEXITSTATUS(run->wait_status);
        snprintf(buffer, len, "exit status %d", code);
        return (struct command_outcome){code, buffer};
    }
    const char *name = sigdescr_np(WTERMSIG(run->wait_status));
    int n = snprintf(buffer, len, "signal: %s", name ? name : "unknown");
    /* The first letter of the C library's names is a capital one. */
    buffer[strlen("signal: ")] |= 0x20;
    if (run->is_timed_out)
        snprintf(buffer + n, len - (size_t)n, " (time-out of %lld ms)", (long long)run->timeout_ms);
    else if (WCOREDUMP(run->wait_status))
        snprintf(buffer + n, len - (size_t)n, " (core dumped)");
    return (struct command_outcome){-1, buffer};
}

static void finish(struct command_run *run)
{
    char text[128];
    struct command_outcome outcome = describe(run, text, sizeof(text));

    for (int i = 0; i < RUN_PIPES; i++) {
        struct run_pipe *pipe = &run->pipes[i];
        osb_watch_stop(&pipe->watch);
        if (pipe->fd >= 0)
            pipe_drain_add(run->drains, pipe->fd);
        pipe->fd = -1;
    }
    if (run->listener.on_end)
        run->listener.on_end(&outcome, run->listener.arg);
    command_record_finish(run->records, run->record, outcome.exit_code,
                          outcome.text ? osb_strdup(outcome.text) : NULL);
    run_free(run);
}

/* One read; true when something came. Closes the pipe at its end. */
static bool read_pipe(struct run_pipe *pipe)
{
    struct command_run *run = pipe->run;
    size_t want = run->read_size;

    if (run->has_ended && want > pipe->left)
        want = pipe->left;
    ssize_t n = read(pipe->fd, read_buffer, want);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n <= 0) {
        pipe_close(pipe);
        return false;
    }
    if (run->has_ended)
        pipe->left -= (size_t)n;
    struct osb_slice data = osb_slice(read_buffer, (size_t)n);
    spool_append(&run->record->spool, data);
    if (run->listener.on_output)
        run->listener.on_output((int)(pipe - run->pipes), data, run->listener.arg);
    return true;
}

/* After the leader's end: reads on as far as the listener takes it, then finishes. */
static void read_rest(struct command_run *run)
{
    for (int i = 0; i < RUN_PIPES; i++)
        while (!run->is_paused && run->pipes[i].left > 0 && read_pipe(&run->pipes[i]))
            ;
    if (run->pipes[RUN_STDOUT].left == 0 && run->pipes[RUN_STDERR].left == 0)
        finish(run);
}

static void on_rest(struct osb_defer *defer)
{
    read_rest(defer->arg);
}

static void on_readable(struct osb_watch *watch, int events)
{
    struct run_pipe *pipe = watch->arg;

    (void)events;
    read_pipe(pipe);
}

/* Which pipes are watched: all open ones, none while paused or once the leader has ended. */
static void watch_pipes(struct command_run *run)
{
    bool is_wanted = !run->is_paused && !run->has_ended;

    for (int i = 0; i < RUN_PIPES; i++)
        if (run->pipes[i].fd >= 0)
            osb_watch_set(&run->pipes[i].watch, is_wanted ? OSB_READABLE : 0);
}

static void on_leader_end(struct osb_child *child, int wait_status)
{
    struct command_run *run = child->arg;

    run->has_ended = true;
    run->wait_status = wait_status;
    osb_timer_stop(&run->timeout);
    for (int i = 0; i < RUN_PIPES; i++) {
        int waiting = 0;
        if (run->pipes[i].fd >= 0 && ioctl(run->pipes[i].fd, FIONREAD, &waiting) == 0)
            run->pipes[i].left = (size_t)waiting;
    }
    watch_pipes(run);
    read_rest(run);
}

static void on_timeout(struct osb_timer *timer)
{
    struct command_run *run = timer->arg;

    run->is_timed_out = true;
    kill(-run->child.pid, SIGKILL);
}

static void watch_all(struct command_run *run, const int fds[RUN_PIPES], pid_t pid)
{
    struct osb_loop *loop = run->drains->loop;

    for (int i = 0; i < RUN_PIPES; i++) {
        struct run_pipe *pipe = &run->pipes[i];
        pipe->run = run;
        pipe->fd = fds[i];
        if (pipe->fd >= 0)
            osb_watch_init(&pipe->watch, loop, pipe->fd, on_readable, pipe);
    }
    watch_pipes(run);
    osb_child_watch(&run->child, loop, pid, on_leader_end, run);
    osb_defer_init(&run->rest, loop, on_rest, run);
    osb_timer_init(&run->timeout, loop, on_timeout, run);
    if (run->timeout_ms > 0)
        osb_timer_set(&run->timeout, (uint64_t)run->timeout_ms);
}

int command_run_start(struct pipe_drains *drains, struct command_records *records,
                      struct command_record *record, const struct command_spawn *spawn,
                      const struct command_listener *listener, struct osb_err *err)
{
    int fds[RUN_PIPES];
    pid_t pid;
    int r = command_start(spawn, record->id, fds, &pid, err);

    if (r < 0)
        return r;
    struct command_run *run = osb_new(struct command_run);
    run->drains = drains;
    run->records = records;
    run->record = record;
    run->listener = *listener;
    run->timeout_ms = spawn->request->timeout_ms;
    run->read_size = RUN_READ_MAX;
    record->run = run;
    watch_all(run, fds, pid);
    return 0;
}

void command_run_detach(struct command_run *run)
{
    run->listener = (struct command_listener){0};
    run->read_size = RUN_READ_MAX;
    command_run_resume(run);
}

void command_run_pause(struct command_run *run)
{
    run->is_paused = true;
    watch_pipes(run);
}

void command_run_resume(struct command_run *run)
{
    if (!run->is_paused)
        return;
    run->is_paused = false;
    watch_pipes(run);
    /* Not at once: the caller may be the listener, in the middle of being told of output. */
    if (run->has_ended)
        osb_defer_post(&run->rest);
}

void command_run_set_read_size(struct command_run *run, size_t size)
{
    run->read_size = size < RUN_READ_MAX ? size : RUN_READ_MAX;
}

pid_t command_run_leader(const struct command_run *run)
{
    return run->has_ended ? 0 : run->child.pid;
}

void command_run_abandon(struct command_run *run)
{
    if (!run->has_ended)
        kill(-run->child.pid, SIGKILL);
    run_free(run);
}
