// SPDX-License-Identifier: Apache-2.0
/*
 * execd is a subreaper: what commands leave behind comes to it and is found by process_tree.h. So
 * it must also wait for such orphans when they end. Leaders of commands are not orphans: their
 * osb_child waits for them.
 */
#ifndef EXECD_REAPER_H
#define EXECD_REAPER_H

#include "execd.h"

int reaper_start(struct execd *execd, struct osb_err *err);
void reaper_stop(struct execd *execd);

#endif
