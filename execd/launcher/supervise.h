// SPDX-License-Identifier: Apache-2.0
/*
 * The two processes of a sandbox: execd, started again whenever it ends, and the entrypoint, whose
 * end is ours. Signals go on to the entrypoint; what is orphaned comes to us and is reaped.
 */
#ifndef LAUNCHER_SUPERVISE_H
#define LAUNCHER_SUPERVISE_H

#include <stdint.h>
#include <sys/types.h>

enum {
    RESTART_FIRST_MS = 100, /* the pause before execd is started again; doubles each time */
    RESTART_MAX_MS = 10000,
    RESTART_HEALTHY_MS = 10000, /* after running this long the pause starts over */
    /* By how much the entrypoint is ahead: one that ends at once must not be taken for a sandbox
     * that runs, because its execd has answered meanwhile. */
    HEAD_START_MS = 10,
    STOP_GRACE_MS = 2000, /* what execd gets to end after the entrypoint */
    EXIT_NOT_EXECUTABLE = 126,
    EXIT_NOT_FOUND = 127,
    EXIT_SIGNAL_BASE = 128,
};

struct supervisor {
    const char *execd; /* path */
    int token_fd;      /* -1: none */
    pid_t execd_pid;   /* 0: not running */
    pid_t entrypoint_pid;
    uint64_t execd_started_ms;
    uint64_t restart_at_ms; /* 0: not due */
    uint64_t pause_ms;
    int status; /* ours, once the entrypoint has ended */
};

/* Blocks the signals that run() waits for; before anything is started. */
void supervise_block_signals(void);
/* Starts execd; a failure is told on standard error and tried again later. */
void supervise_start_execd(struct supervisor *supervisor);
/* Has run() start it, when the entrypoint has had its head start. */
void supervise_start_execd_soon(struct supervisor *supervisor);
/* Starts the entrypoint; 0, or our exit status when that is not possible (told on stderr). */
int supervise_start_entrypoint(struct supervisor *supervisor, const char *const *argv);
/* Runs until the entrypoint has ended, and execd after it; our exit status. */
int supervise_run(struct supervisor *supervisor);
/* Ends execd: asks, waits, kills. */
void supervise_stop_execd(struct supervisor *supervisor);

#endif
