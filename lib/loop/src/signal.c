// SPDX-License-Identifier: Apache-2.0
#include "core.h"
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { SIGNALS_PER_READ = 8 };

static void deliver(struct osb_loop *loop, int signo)
{
    if (signo == SIGCHLD && loop->has_sigchld)
        osb_children_sweep(loop);
    const struct osb_signal_handler *handler = &loop->signals[signo];
    if (handler->fn) {
        loop->callbacks++;
        handler->fn(signo, handler->arg);
    }
}

static void on_signal_fd(struct osb_watch *watch, int events)
{
    struct signalfd_siginfo infos[SIGNALS_PER_READ];
    (void)events;
    ssize_t got = read(watch->fd, infos, sizeof(infos));
    for (ssize_t i = 0; i < got / (ssize_t)sizeof(infos[0]); i++)
        deliver(watch->loop, (int)infos[i].ssi_signo);
}

/* Tells the kernel about loop->signal_mask. */
static int update_fd(struct osb_loop *loop)
{
    int fd = signalfd(loop->signal_fd, &loop->signal_mask, SFD_NONBLOCK | SFD_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (loop->signal_fd >= 0)
        return 0;
    osb_watch_init(&loop->signal_watch, loop, fd, on_signal_fd, NULL);
    int r = osb_watch_set(&loop->signal_watch, OSB_READABLE);
    if (r < 0) {
        close(fd);
        return r;
    }
    loop->signal_fd = fd;
    return 0;
}

static int add(struct osb_loop *loop, int signo)
{
    if (sigismember(&loop->signal_mask, signo))
        return 0;
    sigset_t one;
    sigset_t before;
    sigemptyset(&one);
    sigaddset(&one, signo);
    sigaddset(&loop->signal_mask, signo);
    pthread_sigmask(SIG_BLOCK, &one, &before);
    loop->signals[signo].was_blocked = sigismember(&before, signo) == 1;
    int r = update_fd(loop);
    if (r < 0) {
        sigdelset(&loop->signal_mask, signo);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    return r;
}

static int remove_signal(struct osb_loop *loop, int signo)
{
    loop->signals[signo].fn = NULL;
    if (!sigismember(&loop->signal_mask, signo) || (signo == SIGCHLD && loop->has_sigchld))
        return 0;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signo);
    sigdelset(&loop->signal_mask, signo);
    int r = update_fd(loop);
    if (!loop->signals[signo].was_blocked)
        pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    return r;
}

int osb_loop_on_signal(struct osb_loop *loop, int signo, void (*fn)(int signo, void *arg),
                       void *arg, struct osb_err *err)
{
    /* SIGKILL and SIGSTOP cannot be caught; 32 and 33 belong to the C library. */
    if (signo < 1 || signo >= NSIG || signo == SIGKILL || signo == SIGSTOP ||
        (signo >= 32 && signo < SIGRTMIN))
        return osb_fail(err, -EINVAL, "signal %d cannot be handled", signo);
    int r = fn ? add(loop, signo) : remove_signal(loop, signo);
    if (r < 0)
        return osb_fail(err, r, "watch signal %d: %s", signo, strerror(-r));
    loop->signals[signo].fn = fn;
    loop->signals[signo].arg = arg;
    return 0;
}

int osb_signals_want_child(struct osb_loop *loop)
{
    if (loop->has_sigchld)
        return 0;
    int r = add(loop, SIGCHLD);
    if (r == 0)
        loop->has_sigchld = true;
    return r;
}

void osb_signals_init(struct osb_loop *loop)
{
    sigemptyset(&loop->signal_mask);
}

void osb_signals_done(struct osb_loop *loop)
{
    loop->has_sigchld = false;
    for (int signo = 1; signo < NSIG; signo++)
        remove_signal(loop, signo);
    osb_watch_stop(&loop->signal_watch);
    if (loop->signal_fd >= 0)
        close(loop->signal_fd);
    loop->signal_fd = -1;
}
