// SPDX-License-Identifier: Apache-2.0
/* Starts a command's process (execd contract 5.2): shell or argv, identity, pipes. */
#ifndef EXECD_COMMAND_START_H
#define EXECD_COMMAND_START_H

#include <osb/err.h>
#include <sys/types.h>

struct command_spawn;

/*
 * FDS gets the reading ends for standard output and standard error, non-blocking; of a background
 * command both go into the first, and the second is -1.
 */
int command_start(const struct command_spawn *spawn, const char *id, int fds[static 2],
                  pid_t *ret_pid, struct osb_err *err);

#endif
