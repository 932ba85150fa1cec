// SPDX-License-Identifier: Apache-2.0
/*
 * All processes of one command, also those that left its process group or session. execd is a
 * subreaper, so whatever a command starts stays below execd; what is found below execd belongs to a
 * command when it is in the command's group, descends from its leader, or carries the command's
 * mark in its environment (a daemon whose parents are gone). A program that wipes its environment
 * AND leaves the group AND outlives its parents is not found: that takes a cgroup.
 */
#ifndef EXECD_PROCESS_TREE_H
#define EXECD_PROCESS_TREE_H

#include <sys/types.h>

/* The variable that marks a command's processes with its id. */
#define PROCESS_MARK "OPENSANDBOX_COMMAND_ID"

/*
 * Sends SIGNO (0: none) to every living process of the command. LEADER is its leader and group, or
 * 0 once it was reaped (its number may belong to another by now). Returns how many were found, or
 * -errno; *RET_DENIED counts those that could not be signalled.
 */
int process_tree_signal(pid_t leader, const char *mark, int signo, int *ret_denied);

#endif
