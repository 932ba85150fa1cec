// SPDX-License-Identifier: Apache-2.0
#include "supervise.h"

#include "handover.h"

#include <errno.h>
#include <osb/clock.h>
#include <osb/spawn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int forwarded[] = {SIGTERM, SIGINT,  SIGHUP,   SIGQUIT,
                                SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT};

static sigset_t waited_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
        sigaddset(&set, forwarded[i]);
    return set;
}

static uint64_t now_ms(void)
{
    return osb_monotonic_ns() / OSB_NS_PER_MS;
}

void supervise_block_signals(void)
{
    sigset_t set = waited_signals();

    sigaddset(&set, SIGTTOU); /* we hand the terminal over */
    sigprocmask(SIG_BLOCK, &set, NULL);
    /* An ignored SIGCHLD, which a parent may leave us, would make children vanish unreaped. */
    signal(SIGCHLD, SIG_DFL);
}

/* ---- execd ---- */

static void schedule_restart(struct supervisor *s)
{
    if (now_ms() - s->execd_started_ms >= RESTART_HEALTHY_MS)
        s->pause_ms = 0;
    s->pause_ms = s->pause_ms ? s->pause_ms * 2 : RESTART_FIRST_MS;
    if (s->pause_ms > RESTART_MAX_MS)
        s->pause_ms = RESTART_MAX_MS;
    s->restart_at_ms = now_ms() + s->pause_ms;
}

void supervise_start_execd(struct supervisor *s)
{
    /* Its log goes where the sandbox's log goes: warnings only. */
    const char *argv[] = {s->execd, "--log-level=4", "--access-token-fd=3", NULL};
    struct osb_err err = {0};
    struct osb_spawn spawn = {
        .file = s->execd,
        .argv = argv,
        .fds = {-1, STDOUT_FILENO, STDERR_FILENO, s->token_fd},
        .fd_count = s->token_fd >= 0 ? HANDOVER_FD + 1 : HANDOVER_FD,
        .has_own_group = true,
        .death_signal = SIGTERM,
    };

    if (s->token_fd < 0)
        argv[2] = NULL;
    s->restart_at_ms = 0;
    s->execd_started_ms = now_ms();
    if (osb_spawn(&spawn, &s->execd_pid, &err) == 0)
        return;
    s->execd_pid = 0;
    fprintf(stderr, "bootstrap: %s\n", err.message);
    schedule_restart(s);
}

void supervise_start_execd_soon(struct supervisor *s)
{
    s->restart_at_ms = now_ms() + HEAD_START_MS;
}

static void execd_ended(struct supervisor *s, int wait_status)
{
    s->execd_pid = 0;
    schedule_restart(s);
    if (WIFSIGNALED(wait_status))
        fprintf(stderr, "bootstrap: execd ended by signal %d, starts again in %llu ms\n",
                WTERMSIG(wait_status), (unsigned long long)s->pause_ms);
    else
        fprintf(stderr, "bootstrap: execd ended with status %d, starts again in %llu ms\n",
                WEXITSTATUS(wait_status), (unsigned long long)s->pause_ms);
}

/* ---- the entrypoint ---- */

/* The foreground of a terminal belongs to the program that the user came for. */
static void hand_terminal_over(pid_t group)
{
    if (isatty(STDIN_FILENO))
        tcsetpgrp(STDIN_FILENO, group);
}

int supervise_start_entrypoint(struct supervisor *s, const char *const *argv)
{
    struct osb_err err = {0};
    struct osb_spawn spawn = {
        .file = argv[0],
        .argv = argv,
        .fds = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO},
        .fd_count = 3,
        .has_own_group = true,
    };

    int r = osb_spawn(&spawn, &s->entrypoint_pid, &err);
    if (r < 0) {
        fprintf(stderr, "bootstrap: %s\n", err.message);
        return r == -ENOENT || r == -ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
    }
    hand_terminal_over(s->entrypoint_pid);
    return 0;
}

static int exit_status(int wait_status)
{
    return WIFSIGNALED(wait_status) ? EXIT_SIGNAL_BASE + WTERMSIG(wait_status)
                                    : WEXITSTATUS(wait_status);
}

/* ---- both ---- */

static void reap(struct supervisor *s)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == s->execd_pid) {
            execd_ended(s, status);
        } else if (pid == s->entrypoint_pid) {
            s->entrypoint_pid = 0;
            s->status = exit_status(status);
        }
    }
}

/* Waits for one of our signals until UNTIL_MS (0: for ever); 0 when none came. */
static int wait_signal(uint64_t until_ms)
{
    sigset_t set = waited_signals();
    uint64_t now = now_ms();
    uint64_t left_ms = until_ms > now ? until_ms - now : 0;
    struct timespec timeout = {.tv_sec = (time_t)(left_ms / 1000),
                               .tv_nsec = (long)(left_ms % 1000) * 1000000};

    int signo = until_ms ? sigtimedwait(&set, NULL, &timeout) : sigwaitinfo(&set, NULL);
    return signo > 0 ? signo : 0;
}

int supervise_run(struct supervisor *s)
{
    while (s->entrypoint_pid > 0) {
        if (s->restart_at_ms && now_ms() >= s->restart_at_ms)
            supervise_start_execd(s);
        int signo = wait_signal(s->restart_at_ms);
        if (signo == SIGCHLD)
            reap(s);
        else if (signo > 0)
            kill(s->entrypoint_pid, signo);
    }
    supervise_stop_execd(s);
    return s->status;
}

void supervise_stop_execd(struct supervisor *s)
{
    uint64_t until_ms = now_ms() + STOP_GRACE_MS;

    if (s->execd_pid <= 0)
        return;
    kill(s->execd_pid, SIGTERM);
    while (waitpid(s->execd_pid, NULL, WNOHANG) == 0) {
        if (now_ms() >= until_ms) {
            kill(s->execd_pid, SIGKILL);
            waitpid(s->execd_pid, NULL, 0);
            return;
        }
        wait_signal(until_ms);
    }
}
