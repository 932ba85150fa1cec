// SPDX-License-Identifier: Apache-2.0
#include "rpc_queue.h"

#include "rpc_mailbox.h"
#include "rpc_tsan.h"

#include <grpc/support/log.h>
#include <grpc/support/time.h>
#include <malloc.h>
#include <osb/log.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

enum {
    /* So long without an event is idle: the memory of the last burst is not wanted at once ... */
    TRIM_IDLE_MS = 500,
    /* ... and a queue that is never idle does not keep it for ever. */
    TRIM_LATEST_MS = 10000,
};

static struct {
    pthread_mutex_t lock; /* for users, and what comes and goes with them */
    int users;
    grpc_completion_queue *cq;
    pthread_t thread;
    bool is_trim_due; /* of the thread, as the next */
    gpr_timespec trim_latest;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The library would write plain text to standard error; ours is one JSON object a line. */
static void log_library(gpr_log_func_args *args)
{
    if (args->severity == GPR_LOG_SEVERITY_ERROR)
        osb_log(OSB_LOG_WARN, "grpc library", OSB_KV_STR("error", args->message));
}

static gpr_timespec from_now(int64_t ms)
{
    return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(ms, GPR_TIMESPAN));
}

static void trim(void)
{
    queue.is_trim_due = false;
    malloc_trim(0);
}

static grpc_event next(void)
{
    gpr_timespec deadline = gpr_inf_future(GPR_CLOCK_MONOTONIC);

    if (queue.is_trim_due && gpr_time_cmp(from_now(0), queue.trim_latest) > 0)
        trim();
    if (queue.is_trim_due)
        deadline = from_now(TRIM_IDLE_MS);
    return grpc_completion_queue_next(queue.cq, deadline, NULL);
}

static void *drain(void *arg)
{
    (void)arg;
    for (;;) {
        grpc_event done = next();
        struct rpc_event *event = done.tag;

        if (done.type == GRPC_QUEUE_SHUTDOWN)
            return NULL;
        if (done.type == GRPC_QUEUE_TIMEOUT) {
            trim();
            continue;
        }
        rpc_taken_over(event);
        event->is_ok = done.success;
        if (event->mailbox)
            rpc_mailbox_push(event->mailbox, event);
        else
            event->on_done(event);
    }
}

void rpc_queue_trim_when_idle(void)
{
    if (!queue.is_trim_due)
        queue.trim_latest = from_now(TRIM_LATEST_MS);
    queue.is_trim_due = true;
}

static void stop(void)
{
    grpc_completion_queue_destroy(queue.cq);
    grpc_shutdown();
}

/*
 * The loop reads its signals from descriptors, which works only if no thread takes them. Threads
 * inherit the mask, so the library's are started under a full one.
 */
static int start(void)
{
    sigset_t all, old;
    int r;

    gpr_set_log_function(log_library);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    grpc_init();
    queue.is_trim_due = false;
    queue.cq = grpc_completion_queue_create_for_next(NULL);
    r = pthread_create(&queue.thread, NULL, drain, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (r != 0) {
        grpc_completion_queue_shutdown(queue.cq);
        stop();
    }
    return -r;
}

int rpc_queue_ref(grpc_completion_queue **ret, struct osb_err *err)
{
    int r = 0;

    pthread_mutex_lock(&queue.lock);
    if (queue.users == 0)
        r = start();
    if (r == 0) {
        queue.users++;
        *ret = queue.cq;
    }
    pthread_mutex_unlock(&queue.lock);
    if (r < 0)
        return osb_fail(err, r, "start a thread: %s", strerror(-r));
    return 0;
}

void rpc_queue_unref(void)
{
    pthread_mutex_lock(&queue.lock);
    osb_assert(queue.users > 0);
    if (--queue.users == 0) {
        grpc_completion_queue_shutdown(queue.cq);
        pthread_join(queue.thread, NULL);
        stop();
    }
    pthread_mutex_unlock(&queue.lock);
}
