// SPDX-License-Identifier: Apache-2.0
/*
 * The access token on its way to execd: out of our environment into a file in memory, of which each
 * execd that we start gets a descriptor. Neither the entrypoint nor /proc/1/environ has it then.
 */
#ifndef LAUNCHER_HANDOVER_H
#define LAUNCHER_HANDOVER_H

#include <osb/err.h>

enum { HANDOVER_FD = 3 }; /* its number in execd */

/* A close-on-exec descriptor in *RET_FD, -1 when there is no token. */
int handover_take(int *ret_fd, struct osb_err *err);
/* Lets FD survive an exec(2) of ourselves: the next handover_take() finds it. */
void handover_keep(int fd);

#endif
