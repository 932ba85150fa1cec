// SPDX-License-Identifier: Apache-2.0
#include "rpc_queue.h"

#include "rpc_tsan.h"

#include <grpc/support/log.h>
#include <grpc/support/time.h>
#include <malloc.h>
#include <osb/fd.h>
#include <osb/log.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    /* A busy stream leaves the loop to others after so many messages. */
    EVENTS_A_TURN = 64,
    /* So long without an event is idle: the memory of the last burst is not wanted at once. */
    TRIM_IDLE_MS = 500,
};

/* The library would write plain text to standard error; ours is one JSON object a line. */
static void log_library(gpr_log_func_args *args)
{
    if (args->severity == GPR_LOG_SEVERITY_ERROR)
        osb_log(OSB_LOG_WARN, "grpc library", OSB_KV_STR("error", args->message));
}

static void set_up_logging(void)
{
    gpr_set_log_function(log_library);
}

static void ring(struct rpc_queue *queue)
{
    osb_assert(osb_write_all(queue->wake_fd, &(uint64_t){1}, sizeof(uint64_t)) >= 0);
}

void rpc_queue_push(struct rpc_queue *queue, struct rpc_event *event)
{
    bool was_empty;

    pthread_mutex_lock(&queue->lock);
    was_empty = osb_list_is_empty(&queue->done);
    osb_list_append(&queue->done, &event->link);
    pthread_mutex_unlock(&queue->lock);
    if (was_empty)
        ring(queue);
}

static grpc_event next(struct rpc_queue *queue)
{
    gpr_timespec deadline = gpr_inf_future(GPR_CLOCK_MONOTONIC);

    if (queue->is_trim_due)
        deadline = gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                                gpr_time_from_millis(TRIM_IDLE_MS, GPR_TIMESPAN));
    return grpc_completion_queue_next(queue->cq, deadline, NULL);
}

static void *drain(void *arg)
{
    struct rpc_queue *queue = arg;

    for (;;) {
        grpc_event done = next(queue);
        struct rpc_event *event = done.tag;

        if (done.type == GRPC_QUEUE_SHUTDOWN)
            return NULL;
        if (done.type == GRPC_QUEUE_TIMEOUT) {
            queue->is_trim_due = false;
            malloc_trim(0);
            continue;
        }
        rpc_taken_over(event);
        event->is_ok = done.success;
        if (event->on_queue)
            event->on_queue(event);
        else
            rpc_queue_push(queue, event);
    }
}

void rpc_queue_trim_when_idle(struct rpc_queue *queue)
{
    queue->is_trim_due = true;
}

/*
 * The loop reads its signals from descriptors, which works only if no thread takes them. Threads
 * inherit the mask, so the library's are started under a full one.
 */
static int start_threads(struct rpc_queue *queue)
{
    sigset_t all, old;
    int r;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    grpc_init();
    queue->cq = grpc_completion_queue_create_for_next(NULL);
    r = pthread_create(&queue->thread, NULL, drain, queue);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (r != 0) {
        grpc_completion_queue_shutdown(queue->cq);
        grpc_completion_queue_destroy(queue->cq);
        grpc_shutdown();
    }
    return -r;
}

int rpc_queue_init(struct rpc_queue *queue, struct osb_loop *loop,
                   void (*fn)(struct osb_watch *watch, int events), void *arg, struct osb_err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    _cleanup_close_ int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int r;

    if (wake_fd < 0)
        return osb_fail(err, -errno, "eventfd: %s", strerror(errno));
    pthread_once(&once, set_up_logging);
    osb_watch_init(&queue->watch, loop, wake_fd, fn, arg);
    r = osb_watch_set(&queue->watch, OSB_READABLE);
    if (r < 0)
        return osb_fail(err, r, "watch an eventfd: %s", strerror(-r));
    pthread_mutex_init(&queue->lock, NULL);
    osb_list_init(&queue->done);
    queue->wake_fd = wake_fd;
    r = start_threads(queue);
    if (r < 0) {
        osb_watch_stop(&queue->watch);
        pthread_mutex_destroy(&queue->lock);
        return osb_fail(err, r, "start a thread: %s", strerror(-r));
    }
    osb_take_fd(&wake_fd);
    return 0;
}

static struct rpc_event *pop(struct rpc_queue *queue)
{
    struct rpc_event *event;

    pthread_mutex_lock(&queue->lock);
    event = osb_list_first(&queue->done, struct rpc_event, link);
    if (event)
        osb_list_remove(&event->link);
    pthread_mutex_unlock(&queue->lock);
    return event;
}

/* Ready to be rung again; to be called before popping. */
static void hear(struct rpc_queue *queue)
{
    uint64_t count;

    /* EAGAIN when a former turn popped what this ring was for. */
    if (read(queue->wake_fd, &count, sizeof(count)) < 0)
        osb_assert(errno == EAGAIN || errno == EINTR);
}

/* Rings if something was left unpopped. */
static void ring_again(struct rpc_queue *queue)
{
    bool is_empty;

    pthread_mutex_lock(&queue->lock);
    is_empty = osb_list_is_empty(&queue->done);
    pthread_mutex_unlock(&queue->lock);
    if (!is_empty)
        ring(queue);
}

void rpc_queue_run(struct rpc_queue *queue, const bool *is_closing)
{
    struct rpc_event *event;

    hear(queue);
    for (int i = 0; i < EVENTS_A_TURN && !*is_closing; i++) {
        event = pop(queue);
        if (!event)
            break;
        event->on_done(event);
    }
    ring_again(queue);
}

void rpc_queue_wait(struct rpc_queue *queue)
{
    struct pollfd bell = {.fd = queue->wake_fd, .events = POLLIN};
    struct rpc_event *event;

    while (poll(&bell, 1, -1) < 0)
        osb_assert(errno == EINTR);
    hear(queue);
    while ((event = pop(queue)))
        event->on_done(event);
}

void rpc_queue_done(struct rpc_queue *queue)
{
    osb_watch_stop(&queue->watch);
    grpc_completion_queue_shutdown(queue->cq);
    pthread_join(queue->thread, NULL);
    grpc_completion_queue_destroy(queue->cq);
    pthread_mutex_destroy(&queue->lock);
    close(queue->wake_fd);
    grpc_shutdown();
}
