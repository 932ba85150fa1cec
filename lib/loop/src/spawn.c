// SPDX-License-Identifier: Apache-2.0
#include "spawn_child.h"
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/slice.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK_BYTES = 256 * 1024 }; /* of the child until exec; sanitizers need most of it */

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static const char *find_path(char *const *env)
{
    for (; *env; env++)
        if (strncmp(*env, "PATH=", 5) == 0)
            return *env + 5;
    return DEFAULT_PATH;
}

/* ---- where the program may be ---- */

static void free_list(char ***list)
{
    for (char **item = *list; item && *item; item++)
        free(*item);
    free(*list);
}

/* Empty places of PATH, which mean the current folder, are left out: nobody wants them. */
static char **list_candidates(const char *file, char *const *env)
{
    struct osb_slice rest = osb_slice_str(strchr(file, '/') ? "" : find_path(env));
    struct osb_slice place;
    char **list = NULL;
    size_t len = 0;
    size_t cap = 0;
    if (strchr(file, '/')) {
        osb_grow(list, len, cap);
        list[len++] = osb_strdup(file);
    }
    while (osb_slice_split(&rest, ':', &place)) {
        if (place.len == 0)
            continue;
        osb_grow(list, len, cap);
        list[len++] = osb_asprintf("%.*s/%s", OSB_SLICE_ARG(place), file);
    }
    osb_grow(list, len, cap);
    list[len] = NULL;
    return list;
}

/* ---- the clone ---- */

/*
 * The report is in memory that both sides see, and the caller sleeps until exec or exit
 * (CLONE_VFORK), so it is complete when clone(2) returns. unshare(2) of a user namespace is
 * refused to who shares memory: such a child gets a copy, and the mapping is a shared one.
 */
static pid_t clone_child(struct osb_spawn_job *job, struct osb_spawn_report *ret_report)
{
    bool has_copy = job->spawn->clone_namespaces & CLONE_NEWUSER;
    char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                       (has_copy ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return -errno;
    job->report = (struct osb_spawn_report *)stack; /* the stack grows towards it, from far */
    int flags = CLONE_VFORK | SIGCHLD | (has_copy ? 0 : CLONE_VM);
    pid_t pid = clone(osb_spawn_child, stack + STACK_BYTES, flags, job);
    if (pid < 0)
        pid = -errno;
    *ret_report = *job->report;
    munmap(stack, STACK_BYTES);
    return pid;
}

/* No handler of ours may run in the child, which shares our memory. */
static pid_t clone_quietly(struct osb_spawn_job *job, struct osb_spawn_report *ret_report)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = clone_child(job, ret_report);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pid;
}

static void reap(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

static int describe(const struct osb_spawn *spawn, const struct osb_spawn_report *report,
                    struct osb_err *err)
{
    bool is_about_folder = spawn->cwd && strcmp(report->step, "change to the folder") == 0;
    return osb_fail(err, -report->error, "start %s: %s%s%s: %s", spawn->file, report->step,
                    is_about_folder ? " " : "", is_about_folder ? spawn->cwd : "",
                    strerror(report->error));
}

int osb_spawn(const struct osb_spawn *spawn, pid_t *ret_pid, struct osb_err *err)
{
    osb_assert(spawn->fd_count >= 3 && spawn->fd_count <= OSB_SPAWN_MAX_FDS);
    osb_assert(spawn->argv && spawn->argv[0]);
    char *const *env = spawn->env ? (char *const *)spawn->env : environ;
    OSB_CLEANUP(free_list) char **candidates = list_candidates(spawn->file, env);
    struct osb_spawn_report report = {0};
    struct osb_spawn_job job = {
        .spawn = spawn, .candidates = candidates, .env = env, .parent = getpid()};
    pid_t pid = clone_quietly(&job, &report);
    if (pid < 0)
        return osb_fail(err, pid, "start %s: make a process: %s", spawn->file, strerror(-pid));
    if (report.error) {
        reap(pid);
        return describe(spawn, &report, err);
    }
    *ret_pid = pid;
    return 0;
}
