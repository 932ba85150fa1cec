// SPDX-License-Identifier: Apache-2.0
#include "spawn_child.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    EXIT_NOT_STARTED = 127,
    DIRENT_BYTES = 2048,
    MAX_FD_GUESS = 1 << 16, /* how far to close blindly where neither /proc nor close_range is */
};

/* As the kernel fills it in; glibc shows it only behind readdir(), which allocates. */
struct linux_dirent64 {
    uint64_t ino;
    int64_t off;
    unsigned short len;
    unsigned char type;
    char name[];
};

static int fail(const struct osb_spawn_job *job, const char *step)
{
    job->report->error = errno;
    job->report->step = step;
    return -1;
}

/* Ignored signals stay ignored over exec, and so would whatever our parent had ignored. */
static void reset_signals(void)
{
    struct sigaction action;
    struct sigaction fallback = {.sa_handler = SIG_DFL};
    for (int signo = 1; signo < NSIG; signo++)
        if (sigaction(signo, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
            sigaction(signo, &fallback, NULL);
}

/* ---- descriptors ---- */

static int parse_fd(const char *name)
{
    int fd = 0;
    if (*name < '0' || *name > '9')
        return -1;
    for (; *name >= '0' && *name <= '9'; name++)
        fd = fd * 10 + (*name - '0');
    return fd;
}

static bool close_listed(int first)
{
    int dir = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    _Alignas(struct linux_dirent64) char buffer[DIRENT_BYTES];
    long got;
    if (dir < 0)
        return false;
    while ((got = syscall(SYS_getdents64, dir, buffer, sizeof(buffer))) > 0) {
        for (long at = 0; at < got;) {
            const struct linux_dirent64 *entry = (const void *)(buffer + at);
            int fd = parse_fd(entry->name);
            if (fd >= first && fd != dir)
                close(fd);
            at += entry->len;
        }
    }
    close(dir);
    return true;
}

static void close_from(int first)
{
    struct rlimit limit;
    if (syscall(SYS_close_range, first, ~0U, 0) == 0 || close_listed(first))
        return;
    int end = MAX_FD_GUESS;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < MAX_FD_GUESS)
        end = (int)limit.rlim_cur;
    for (int fd = first; fd < end; fd++)
        close(fd);
}

static int place_fds(const struct osb_spawn_job *job)
{
    const struct osb_spawn *spawn = job->spawn;
    int sources[OSB_SPAWN_MAX_FDS];
    /* First out of the way of the targets, so that no target overwrites a source. */
    for (int i = 0; i < spawn->fd_count; i++) {
        sources[i] = spawn->fds[i] < 0 ? open("/dev/null", O_RDWR | O_CLOEXEC) : spawn->fds[i];
        if (sources[i] < 0)
            return fail(job, "open /dev/null");
        if (sources[i] < spawn->fd_count)
            sources[i] = fcntl(sources[i], F_DUPFD_CLOEXEC, spawn->fd_count);
        if (sources[i] < 0)
            return fail(job, "pass descriptors");
    }
    for (int i = 0; i < spawn->fd_count; i++)
        if (dup2(sources[i], i) < 0)
            return fail(job, "pass descriptors");
    close_from(spawn->fd_count);
    return 0;
}

/* ---- identity ---- */

static int set_session(const struct osb_spawn_job *job)
{
    const struct osb_spawn *spawn = job->spawn;
    if (spawn->has_own_session && setsid() < 0)
        return fail(job, "make a session");
    if (spawn->has_own_group && !spawn->has_own_session && setpgid(0, 0) < 0)
        return fail(job, "make a process group");
    if (spawn->has_terminal && ioctl(0, TIOCSCTTY, 0) < 0)
        return fail(job, "take the terminal");
    return 0;
}

/* Groups first: afterwards the right to do so is gone. Raw calls: see spawn_child.h. */
static int set_identity(const struct osb_spawn_job *job)
{
    const struct osb_spawn *spawn = job->spawn;
    if (!spawn->has_uid)
        return 0;
    if (syscall(SYS_setgroups, (size_t)spawn->group_count, spawn->groups) < 0)
        return fail(job, "set groups");
    if (syscall(SYS_setresgid, spawn->gid, spawn->gid, spawn->gid) < 0)
        return fail(job, "set the group id");
    if (syscall(SYS_setresuid, spawn->uid, spawn->uid, spawn->uid) < 0)
        return fail(job, "set the user id");
    return 0;
}

static int set_limits(const struct osb_spawn_job *job)
{
    const struct rlimit *limit = job->spawn->file_limit;
    if (limit && setrlimit(RLIMIT_NOFILE, limit) < 0)
        return fail(job, "set the limit of descriptors");
    return 0;
}

/* After the change of identity, which clears it; the parent may have died before. */
static int set_death_signal(const struct osb_spawn_job *job)
{
    if (job->spawn->death_signal == 0)
        return 0;
    if (prctl(PR_SET_PDEATHSIG, job->spawn->death_signal) < 0)
        return fail(job, "set the death signal");
    if (getppid() != job->parent) {
        errno = ESRCH;
        return fail(job, "find the parent alive");
    }
    return 0;
}

/* ---- the program ---- */

/* Tries each place of PATH; the first that is there but may not be run is the better answer. */
static int execute(const struct osb_spawn_job *job)
{
    int error = ENOENT;
    for (char *const *path = job->candidates; *path; path++) {
        execve(*path, (char *const *)job->spawn->argv, job->env);
        if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
            return fail(job, "exec");
        if (errno == EACCES)
            error = EACCES;
    }
    errno = error;
    return fail(job, "exec");
}

static int prepare(const struct osb_spawn_job *job)
{
    const struct osb_spawn *spawn = job->spawn;
    if (spawn->clone_namespaces && unshare(spawn->clone_namespaces) < 0)
        return fail(job, "make namespaces");
    if (place_fds(job) < 0 || set_session(job) < 0 || set_limits(job) < 0 ||
        set_identity(job) < 0 || set_death_signal(job) < 0)
        return -1;
    if (spawn->cwd && chdir(spawn->cwd) < 0) /* with the rights of the new user */
        return fail(job, "change to the folder");
    return 0;
}

int osb_spawn_child(void *arg)
{
    const struct osb_spawn_job *job = arg;
    sigset_t none;
    reset_signals();
    sigemptyset(&none);
    if (prepare(job) == 0) {
        sigprocmask(SIG_SETMASK, &none, NULL);
        execute(job);
    }
    _exit(EXIT_NOT_STARTED);
}
