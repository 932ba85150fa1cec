// SPDX-License-Identifier: Apache-2.0
/*
 * The supervisor: starts the parts in the order of their table, restarts one that ends, tells what
 * it does over a control socket, and takes all of it down again. One process, one loop.
 *
 *     IDLE -> STARTING -> READY -> (ends) -> BACKOFF -> STARTING …
 *               |                               ^
 *               +-- ends or is not ready -------+
 *     one-shot: STARTING -> DONE; any state -> STOPPING -> STOPPED
 */
#ifndef CLI_SUPERVISOR_H
#define CLI_SUPERVISOR_H

#include "instance.h"
#include "parts.h"

#include <osb/buf.h>
#include <osb/err.h>
#include <osb/loop.h>
#include <osb/stream.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    SUPERVISOR_BACKOFF_MIN_MS = 100,
    SUPERVISOR_BACKOFF_MAX_MS = 10000,
    SUPERVISOR_STABLE_MS = 10000,          /* ready that long: the back-off starts anew */
    SUPERVISOR_STOP_WAIT_MS = 7000,        /* TERM to KILL; parts drain for at most 5 s */
    SUPERVISOR_PURGE_WAIT_MS = 40000,      /* removal of all sandboxes */
    SUPERVISOR_START_TRIES = 3,            /* of one part, before `up` gives up */
    SUPERVISOR_LOG_MAX = 16 * 1024 * 1024, /* bytes; a larger log is set aside at the next start */
};

enum part_state {
    PART_IDLE,
    PART_STARTING,
    PART_READY,
    PART_DONE,
    PART_BACKOFF,
    PART_STOPPING,
    PART_STOPPED,
    PART_STATE_COUNT
};

struct supervisor;

struct running {
    struct supervisor *supervisor;
    const struct part *part;
    enum part_state state;
    pid_t pid; /* 0 when there is no process */
    struct osb_child child;
    struct osb_watch ready_watch;
    int ready_fd;
    struct osb_connect *probe;
    char *socket;
    struct osb_timer timer; /* back-off, probe, or stop wait */
    struct osb_timer ready_timeout;
    uint64_t started_ns;
    uint64_t ready_ns;
    int failures; /* in a row */
    int restarts;
    int last_status; /* of wait(2) */
};

struct supervisor {
    struct osb_loop *loop;
    struct instance instance;
    struct running running[PART_COUNT];
    int progress_fd; /* -1 when nobody listens */
    bool is_up;
    bool is_going_down;
    uint64_t begin_ns;
    struct control *control;
    struct teardown *teardown;
};

/* The name of a state, for people. */
const char *part_state_name(enum part_state state);
/* Starts whatever may start now. */
void supervisor_advance(struct supervisor *supervisor);
/* Ends one part: TERM, then KILL; state STOPPED comes later. */
void supervisor_stop_part(struct running *running);
/* Takes everything down, then stops the loop. Again is harmless. */
void supervisor_go_down(struct supervisor *supervisor);
/* A line for `up`: "part", "state", milliseconds since the start. */
void supervisor_progress(struct supervisor *supervisor, const char *what, const char *state);
/* Starts a command with its output in logs/NAME.log; *RET_PID is to be reaped. READY_FD -1: none.
 */
int supervisor_spawn(struct supervisor *supervisor, const char *name,
                     const struct part_command *command, int ready_fd, pid_t *ret_pid,
                     struct osb_err *err);

/* control.c: the control socket. */
int control_new(struct supervisor *supervisor, struct control **ret, struct osb_err *err);
void control_free(struct control *control);

/* teardown.c: called when a part has stopped, so that the sequence goes on. */
void teardown_begin(struct supervisor *supervisor);
void teardown_advance(struct supervisor *supervisor);
void teardown_free(struct teardown *teardown);

/*
 * The `supervise` command: owns STATE until told to go down. PROGRESS_FD may be -1. Returns the
 * exit code.
 */
int supervise(const char *state, int progress_fd);

#endif
