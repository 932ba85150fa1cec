// SPDX-License-Identifier: Apache-2.0
/*
 * Starting child processes with a clean slate: default signal dispositions, empty signal mask,
 * only the descriptors that are named. Uses vfork semantics, so it is cheap in a large process;
 * the error of exec(2) comes back to the caller as an error of osb_spawn().
 */
#ifndef OSB_SPAWN_H
#define OSB_SPAWN_H

#include <osb/err.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

enum { OSB_SPAWN_MAX_FDS = 8 };

struct osb_spawn {
    const char *file;           /* with a '/' as it is, else looked up in PATH of `env` */
    const char *const *argv;    /* NULL-terminated */
    const char *const *env;     /* NULL-terminated; NULL inherits */
    const char *cwd;            /* NULL inherits */
    int fds[OSB_SPAWN_MAX_FDS]; /* fds[i] becomes descriptor i; -1 is /dev/null; borrowed */
    int fd_count;               /* at least 3 */
    bool has_own_group;         /* setpgid(0, 0) */
    bool has_own_session;       /* setsid() */
    bool has_terminal;          /* fds[0] becomes the controlling terminal; needs own session */
    bool has_uid;               /* set gid, groups and uid */
    uid_t uid;
    gid_t gid;
    const gid_t *groups; /* supplementary groups */
    int group_count;
    const struct rlimit *file_limit; /* RLIMIT_NOFILE; NULL inherits */
    int death_signal;     /* PR_SET_PDEATHSIG: when the calling THREAD ends; 0 for none */
    int clone_namespaces; /* CLONE_NEW… flags for unshare(2) before exec; 0 for none */
};

/*
 * Starts the program; *RET_PID is to be reaped (osb_child_watch()). 0 or -errno of the step that
 * failed, which the message names: namespaces, descriptors, session, groups, ids, folder (cwd,
 * with the new user's rights), exec. A relative `file` with a '/' is seen from `cwd`. Without PATH
 * in `env` a usual one is taken; empty places in it are skipped. A script needs its "#!" line.
 * Blocks until the program was executed. Any thread.
 */
int osb_spawn(const struct osb_spawn *spawn, pid_t *ret_pid, struct osb_err *err);

#endif
