// SPDX-License-Identifier: Apache-2.0
/*
 * A command while it runs: its process, the two pipes that it writes to, its time-out. Output goes
 * to the record's spool and to the listener, in the order in which it is read. While a listener
 * cannot take more it pauses the run: nothing is read then, and the command waits as it would for
 * any slow reader.
 *
 * The run is over when the leader has ended and what was in the pipes at that moment has been read.
 * Background children live on; their later output is drained (pipe_drain.h).
 */
#ifndef EXECD_COMMAND_RUN_H
#define EXECD_COMMAND_RUN_H

#include "command_record.h"
#include "command_request.h"
#include "environment.h"
#include "pipe_drain.h"

#include <osb/loop.h>
#include <stdbool.h>
#include <sys/types.h>

enum { RUN_STDOUT, RUN_STDERR, RUN_PIPES };

/* How a command ended, in the words of execd contract 5.4. */
struct command_outcome {
    int exit_code;    /* -1 when killed */
    const char *text; /* "exit status 3", "signal: killed"; NULL for success. Borrowed */
};

struct command_listener {
    void (*on_output)(int pipe, struct osb_slice data, void *arg);
    /* Last; the run is freed afterwards. */
    void (*on_end)(const struct command_outcome *outcome, void *arg);
    void *arg;
};

struct command_run;

struct command_spawn {
    const char *cwd; /* expanded; NULL for execd's own */
    struct environment *env;
    const struct command_request *request;
    const struct rlimit *file_limit; /* of the command: what execd itself was started with */
};

/*
 * Starts RECORD's command. LISTENER is copied. On failure the record is as before and ERR says in a
 * person's words why.
 */
int command_run_start(struct pipe_drains *drains, struct command_records *records,
                      struct command_record *record, const struct command_spawn *spawn,
                      const struct command_listener *listener, struct osb_err *err);
/* The listener is gone; the command runs on into its spool. */
void command_run_detach(struct command_run *run);
void command_run_pause(struct command_run *run);
void command_run_resume(struct command_run *run);
/* Bytes to read at once, at most; for a listener whose text grows a lot in encoding. */
void command_run_set_read_size(struct command_run *run, size_t size);
/* The leader while it is not reaped, else 0. */
pid_t command_run_leader(const struct command_run *run);
/* Gives up a run without waiting: kills its group. For the end of the program. */
void command_run_abandon(struct command_run *run);

#endif
