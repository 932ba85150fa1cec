// SPDX-License-Identifier: Apache-2.0
/*
 * A pidfd a child where the kernel gives one. Where it does not (before 5.3, or a seccomp filter),
 * SIGCHLD starts a sweep over the children without one; signals coalesce, so the sweep asks for
 * each of them.
 */
#include "core.h"
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_pidfd(pid_t pid)
{
    /* Always close-on-exec. The glibc wrapper is younger than the oldest we build with. */
    long fd = syscall(SYS_pidfd_open, pid, 0);
    return fd < 0 ? -errno : (int)fd;
}

/* True when PID has ended (or was reaped by somebody else); reaps it. */
static bool reap(pid_t pid, int *ret_status)
{
    int status = 0;
    pid_t got;
    do
        got = waitpid(pid, &status, WNOHANG);
    while (got < 0 && errno == EINTR);
    if (got == 0)
        return false;
    *ret_status = got == pid ? status : OSB_CHILD_STATUS_UNKNOWN;
    return true;
}

static void finish(struct osb_child *child, int status)
{
    osb_child_stop(child);
    child->loop->callbacks++;
    child->fn(child, status);
}

static void on_pidfd(struct osb_watch *watch, int events)
{
    struct osb_child *child = osb_container_of(watch, struct osb_child, watch);
    int status;
    (void)events;
    if (reap(child->pid, &status))
        finish(child, status);
}

void osb_children_sweep(struct osb_loop *loop)
{
    /* Each child is moved back before it is asked, so that callbacks may stop any of them. */
    struct osb_list todo;
    osb_list_init(&todo);
    while (!osb_list_is_empty(&loop->children)) {
        struct osb_list *link = loop->children.next;
        osb_list_remove(link);
        osb_list_append(&todo, link);
    }
    while (!osb_list_is_empty(&todo)) {
        struct osb_child *child = osb_list_first(&todo, struct osb_child, link);
        int status;
        osb_list_remove(&child->link);
        osb_list_append(&loop->children, &child->link);
        if (reap(child->pid, &status))
            finish(child, status);
    }
}

static void on_sweep(struct osb_defer *defer)
{
    osb_children_sweep(defer->loop);
}

static int watch_by_pidfd(struct osb_child *child, int pidfd)
{
    osb_watch_init(&child->watch, child->loop, pidfd, on_pidfd, NULL);
    int r = osb_watch_set(&child->watch, OSB_READABLE);
    if (r < 0) {
        close(pidfd);
        return r;
    }
    child->pidfd = pidfd;
    return 0;
}

static int watch_by_signal(struct osb_child *child)
{
    siginfo_t info;
    if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
        return errno == ECHILD ? -OSB_E_UNSUPPORTED : -errno;
    int r = osb_signals_want_child(child->loop);
    if (r < 0)
        return r;
    osb_list_append(&child->loop->children, &child->link);
    osb_defer_post(&child->loop->child_sweep); /* it may have ended before the signal was blocked */
    return 0;
}

int osb_child_watch(struct osb_child *child, struct osb_loop *loop, pid_t pid,
                    void (*fn)(struct osb_child *child, int wait_status), void *arg)
{
    *child = (struct osb_child){.loop = loop, .pid = pid, .fn = fn, .arg = arg, .pidfd = -1};
    osb_list_init(&child->link);
    int pidfd = open_pidfd(pid);
    if (pidfd == -ESRCH || pidfd == -EINVAL)
        return pidfd;
    return pidfd < 0 ? watch_by_signal(child) : watch_by_pidfd(child, pidfd);
}

void osb_child_stop(struct osb_child *child)
{
    osb_list_remove(&child->link);
    if (!child->watch.is_registered) /* by signal, stopped, or zero-filled */
        return;
    osb_watch_stop(&child->watch);
    close(child->pidfd);
    child->pidfd = -1;
}

void osb_children_init(struct osb_loop *loop)
{
    osb_list_init(&loop->children);
    osb_defer_init(&loop->child_sweep, loop, on_sweep, NULL);
}

void osb_children_done(struct osb_loop *loop)
{
    osb_defer_cancel(&loop->child_sweep);
    while (!osb_list_is_empty(&loop->children))
        osb_list_remove(loop->children.next);
}
