// SPDX-License-Identifier: Apache-2.0
/*
 * The child's side between clone and exec. It runs in the parent's memory while the parent is
 * stopped: nothing here may allocate, lock, or call what glibc does for all threads (setuid() and
 * its kind signal the other threads of the process that glibc believes to be in).
 */
#ifndef OSB_LOOP_SPAWN_CHILD_H
#define OSB_LOOP_SPAWN_CHILD_H

#include <osb/spawn.h>

/* What the child needs, prepared by the parent, and where it says what failed. */
struct osb_spawn_job {
    const struct osb_spawn *spawn;
    char *const *candidates; /* paths to try, NULL-terminated */
    char *const *env;
    pid_t parent;
    struct osb_spawn_report {
        int error; /* errno; 0 when exec was reached */
        const char *step;
    } * report;
};

/* The function for clone(2); ends by exec or _exit. */
int osb_spawn_child(void *job);

#endif
