// SPDX-License-Identifier: Apache-2.0
/*
 * DELETE /command?id= (execd contract 5.9): TERM to the whole tree of a command, then, should
 * anything be left after KILL_GRACE_MS, KILL. Answers when the tree is gone.
 */
#ifndef EXECD_COMMAND_KILL_H
#define EXECD_COMMAND_KILL_H

#include "execd.h"

enum {
    KILL_GRACE_MS = 3000,
    KILL_POLL_MS = 50,
    KILL_POLLS_AFTER = 3, /* looks after the KILL before giving up */
};

/* Takes over the answer of X. */
void command_kill(struct execd *execd, struct command_record *record, struct osb_http_exchange *x);
/* Ends the operations that are under way, without an answer. For the end of the program. */
void command_kills_done(struct execd *execd);

#endif
