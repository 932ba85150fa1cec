// SPDX-License-Identifier: Apache-2.0
/*
 * One loop thread a daemon. The loop owns timers, descriptor watches, deferred calls, signals and
 * child processes, and runs callbacks on its own thread, never from inside another callback's call
 * into the loop. Three back ends stand behind the same interface and pass the same tests: libuv
 * (daemons), a small epoll one (static execd) and a simulated one (virtual clock, scripted
 * streams) in which time moves only when nothing is left to run.
 *
 * Handles (timer, watch, defer, child) are memory of the caller, initialised once, and may be
 * stopped, restarted or freed inside any callback, also their own, after stopping them. All calls
 * are for the loop thread, except osb_loop_post() and osb_loop_stop().
 */
#ifndef OSB_LOOP_H
#define OSB_LOOP_H

#include <osb/cleanup.h>
#include <osb/err.h>
#include <osb/list.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct osb_loop;

/*
 * Each returns a new loop in *RET, freed with osb_loop_free(). The first one makes the process
 * ignore SIGPIPE (a write to a pipe that nobody reads is then -EPIPE) unless it has a handler, and
 * takes back an inherited ignoring of SIGCHLD.
 */
int osb_loop_new_epoll(struct osb_loop **ret, struct osb_err *err);
int osb_loop_new_sim(struct osb_loop **ret, struct osb_err *err);
/* In library osb_loop_uv, so that execd does not link libuv. */
int osb_loop_new_uv(struct osb_loop **ret, struct osb_err *err);
/*
 * NULL is allowed. Not from inside a turn. Handles are to be stopped before; those that are not
 * are marked as stopped, and posts that did not run are dropped.
 */
void osb_loop_free(struct osb_loop *loop);

/* Runs until osb_loop_stop(); 0 or the back end's error. */
int osb_loop_run(struct osb_loop *loop);
/*
 * One turn: waits at most MAX_WAIT_MS (0: not at all, -1: until something happens), runs what is
 * due: descriptors, timers, deferred calls, in this order. Returns the number of callbacks run
 * (0 may also mean that a signal or a wake-up ended the wait) or the back end's error.
 */
int osb_loop_turn(struct osb_loop *loop, int max_wait_ms);
/* Makes osb_loop_run() return after the current turn. Any thread, async-signal-safe. */
void osb_loop_stop(struct osb_loop *loop);

/*
 * Monotonic nanoseconds; the same during all callbacks of a turn; virtual in the simulated back
 * end.
 */
uint64_t osb_loop_now_ns(const struct osb_loop *loop);
/* Wall-clock nanoseconds since 1970; virtual in the simulated back end. */
int64_t osb_loop_realtime_ns(const struct osb_loop *loop);

/* Runs FN(ARG) on the loop thread soon. Any thread; order of one caller is kept. */
void osb_loop_post(struct osb_loop *loop, void (*fn)(void *arg), void *arg);

/* ---- timers ---- */

struct osb_timer {
    struct osb_loop *loop;
    void (*fn)(struct osb_timer *timer);
    void *arg;            /* the caller's */
    uint64_t deadline_ns; /* private */
    size_t heap_index;    /* private: position + 1, 0 when stopped */
    uint64_t order;       /* private: equal deadlines fire in the order they were set */
};

/* One-shot; set it again to repeat. */
void osb_timer_init(struct osb_timer *timer, struct osb_loop *loop,
                    void (*fn)(struct osb_timer *timer), void *arg);
void osb_timer_set_at(struct osb_timer *timer, uint64_t deadline_ns);
void osb_timer_set(struct osb_timer *timer, uint64_t delay_ms);
/* Safe on a zero-filled or stopped timer. */
void osb_timer_stop(struct osb_timer *timer);
bool osb_timer_is_set(const struct osb_timer *timer);

/* ---- deferred calls: once, at the end of this turn ---- */

struct osb_defer {
    struct osb_loop *loop;
    void (*fn)(struct osb_defer *defer);
    void *arg;
    struct osb_list link; /* private */
};

void osb_defer_init(struct osb_defer *defer, struct osb_loop *loop,
                    void (*fn)(struct osb_defer *defer), void *arg);
/* Posting a posted call does nothing. */
void osb_defer_post(struct osb_defer *defer);
/* Safe on a zero-filled one. */
void osb_defer_cancel(struct osb_defer *defer);

/* ---- descriptor watches, level-triggered ---- */

enum {
    OSB_READABLE = 1, /* readable, end of file, or error */
    OSB_WRITABLE = 2, /* writable or error */
};

struct osb_watch {
    struct osb_loop *loop;
    int fd; /* borrowed */
    void (*fn)(struct osb_watch *watch, int events);
    void *arg;
    int events;         /* private: what is asked for */
    int armed;          /* private: what the kernel reports; may be more */
    bool is_registered; /* private */
    void *backend;      /* private */
};

void osb_watch_init(struct osb_watch *watch, struct osb_loop *loop, int fd,
                    void (*fn)(struct osb_watch *watch, int events), void *arg);
/*
 * EVENTS of OSB_READABLE and OSB_WRITABLE; 0 stops. Returns 0 or -errno: -EEXIST when another
 * watch has this descriptor, -EPERM for files that are always ready (regular ones).
 */
int osb_watch_set(struct osb_watch *watch, int events);
/* Must be called before the descriptor is closed; safe on a zero-filled watch. */
void osb_watch_stop(struct osb_watch *watch);

/* ---- signals ---- */

/*
 * Calls FN on the loop thread for each delivery of SIGNO (coalesced as the kernel does). Blocks
 * the signal in this thread and reads it from a signalfd. FN NULL removes it. Call before any
 * thread is started, so that all inherit the mask.
 */
int osb_loop_on_signal(struct osb_loop *loop, int signo, void (*fn)(int signo, void *arg),
                       void *arg, struct osb_err *err);

/* ---- child processes, by pidfd where the kernel has it, else by SIGCHLD ---- */

/* In place of a wait status: PID ended, but it is not our child, or somebody else reaped it. */
enum { OSB_CHILD_STATUS_UNKNOWN = -1 };

struct osb_child {
    struct osb_loop *loop;
    pid_t pid;
    void (*fn)(struct osb_child *child, int wait_status);
    void *arg;
    struct osb_watch watch; /* private */
    struct osb_list link;   /* private */
    int pidfd;              /* private */
};

/*
 * Reaps PID and calls FN once with its wait(2) status. PID may also be a process that is not our
 * child (then the status is unknown), but -OSB_E_UNSUPPORTED where the kernel has no pidfd. 0 or
 * -errno, -ESRCH when there is no such process. FN may free the child.
 */
int osb_child_watch(struct osb_child *child, struct osb_loop *loop, pid_t pid,
                    void (*fn)(struct osb_child *child, int wait_status), void *arg);
/* Stops watching without reaping; safe on a zero-filled child. */
void osb_child_stop(struct osb_child *child);

/*
 * ---- simulated back end only ----
 *
 * Descriptors are real there and polled without waiting. Time moves by osb_loop_sim_advance(),
 * and jumps to the next timer (at most by the time-out) where a turn would wait. Only with no
 * timer at all does a turn with -1 really wait, so that threads and children can be used.
 */

/* Moves the virtual clock on by DELTA_NS, firing timers in order as it passes them. */
void osb_loop_sim_advance(struct osb_loop *loop, uint64_t delta_ns);
/* Runs until nothing is left that could run without time moving. Returns callbacks run. */
int osb_loop_sim_settle(struct osb_loop *loop);

OSB_DEFINE_CLEANUP(struct osb_loop, osb_cleanup_loop, osb_loop_free);
#define _cleanup_loop_ OSB_CLEANUP(osb_cleanup_loop)

#endif
