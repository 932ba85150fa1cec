// SPDX-License-Identifier: Apache-2.0
/* The loop itself, shared by the sources of this library only. */
#ifndef OSB_LOOP_CORE_H
#define OSB_LOOP_CORE_H

#include "backend.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

struct osb_signal_handler {
    void (*fn)(int signo, void *arg);
    void *arg;
    bool was_blocked; /* before we blocked it: put back on removal */
};

struct osb_loop {
    struct osb_backend *backend;
    uint64_t now_ns;   /* cached while in a turn */
    bool is_now_fresh; /* in this turn: read after the wait */
    bool is_in_turn;
    int callbacks; /* run in this turn */
    atomic_bool is_stopping;

    struct osb_timer **heap; /* timer.c */
    size_t heap_len;
    size_t heap_cap;
    uint64_t timer_order;

    struct osb_list defers;

    int wake_fd; /* eventfd: posts and stop */
    struct osb_watch wake;
    pthread_mutex_t post_lock;
    struct osb_list posts; /* under post_lock */

    int signal_fd; /* signal.c; -1 until the first handler */
    struct osb_watch signal_watch;
    sigset_t signal_mask;
    struct osb_signal_handler signals[NSIG];

    struct osb_list children; /* child.c: those without a pidfd */
    struct osb_defer child_sweep;
    bool has_sigchld;
};

/* timer.c */
/* Nanoseconds until the next timer, 0 when one is due, -1 without any. */
int64_t osb_timers_wait_ns(const struct osb_loop *loop);
/* Fires what is due at loop->now_ns; timers set meanwhile wait for the next turn. */
void osb_timers_fire(struct osb_loop *loop);
/* Marks all as stopped. */
void osb_timers_done(struct osb_loop *loop);

/* signal.c */
void osb_signals_init(struct osb_loop *loop);
void osb_signals_done(struct osb_loop *loop);
/* Routes SIGCHLD to osb_children_sweep() beside a handler of the user. */
int osb_signals_want_child(struct osb_loop *loop);

/* child.c */
void osb_children_init(struct osb_loop *loop);
void osb_children_sweep(struct osb_loop *loop);
void osb_children_done(struct osb_loop *loop);

/* loop.c */
/*
 * Reports nothing until the next osb_watch_set(), but stays registered: cheaper than stopping for
 * a stream that is paused and resumed often.
 */
void osb_watch_pause(struct osb_watch *watch);

#endif
