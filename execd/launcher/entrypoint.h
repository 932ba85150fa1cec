// SPDX-License-Identifier: Apache-2.0
/* Which program the sandbox is for (execd contract 13.1, step 5). */
#ifndef LAUNCHER_ENTRYPOINT_H
#define LAUNCHER_ENTRYPOINT_H

#include <osb/err.h>

/* bash or sh on PATH, or what BOOTSTRAP_SHELL names; owned by the caller, NULL when there is none.
 */
char *entrypoint_shell(void);
/*
 * NULL-terminated, to be looked up in PATH. ARGV is the launcher's own. BOOTSTRAP_CMD, and words
 * behind "-c", go to the shell; other words are the program; none mean a bare shell. The result
 * lives as long as the process.
 */
int entrypoint_argv(int argc, char **argv, const char *const **ret, struct osb_err *err);

#endif
