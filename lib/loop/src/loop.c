// SPDX-License-Identifier: Apache-2.0
#include "core.h"
#include <osb/alloc.h>
#include <osb/clock.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct post {
    void (*fn)(void *arg);
    void *arg;
    struct osb_list link;
};

/* ---- posts ---- */

static void wake_up(struct osb_loop *loop)
{
    int saved = errno; /* osb_loop_stop() may run in a signal handler */
    uint64_t one = 1;
    /* Fails only when the counter is full, and then the loop wakes anyway. */
    ssize_t written = write(loop->wake_fd, &one, sizeof(one));
    (void)written;
    errno = saved;
}

void osb_loop_post(struct osb_loop *loop, void (*fn)(void *arg), void *arg)
{
    struct post *post = osb_new(struct post);
    post->fn = fn;
    post->arg = arg;
    pthread_mutex_lock(&loop->post_lock);
    bool was_empty = osb_list_is_empty(&loop->posts);
    osb_list_append(&loop->posts, &post->link);
    pthread_mutex_unlock(&loop->post_lock);
    if (was_empty)
        wake_up(loop);
}

static struct post *take_post(struct osb_loop *loop)
{
    pthread_mutex_lock(&loop->post_lock);
    struct post *post = osb_list_first(&loop->posts, struct post, link);
    if (post)
        osb_list_remove(&post->link);
    pthread_mutex_unlock(&loop->post_lock);
    return post;
}

static size_t count_posts(struct osb_loop *loop)
{
    size_t count = 0;
    struct post *post;
    pthread_mutex_lock(&loop->post_lock);
    osb_list_foreach (post, &loop->posts, link)
        count++;
    pthread_mutex_unlock(&loop->post_lock);
    return count;
}

static void on_wake(struct osb_watch *watch, int events)
{
    struct osb_loop *loop = watch->loop;
    uint64_t counter;
    (void)events;
    ssize_t got = read(loop->wake_fd, &counter, sizeof(counter));
    (void)got;
    /* Only what is here now, so that a post which posts itself again cannot hold the turn. */
    for (size_t left = count_posts(loop); left > 0; left--) {
        struct post *post = take_post(loop);
        void (*fn)(void *) = post->fn;
        void *arg = post->arg;
        free(post);
        loop->callbacks++;
        fn(arg);
    }
    pthread_mutex_lock(&loop->post_lock);
    bool has_more = !osb_list_is_empty(&loop->posts);
    pthread_mutex_unlock(&loop->post_lock);
    if (has_more) /* their poster saw a list that was not empty, and did not wake us */
        wake_up(loop);
}

/* ---- life ---- */

/*
 * Daemons must see EPIPE instead of dying of it (MSG_NOSIGNAL does not exist for pipes), and an
 * ignored SIGCHLD, which an unkind parent may leave us, would make children vanish unreaped.
 */
static void set_process_signals(void)
{
    struct sigaction action;
    if (sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == SIG_DFL)
        signal(SIGPIPE, SIG_IGN);
    if (sigaction(SIGCHLD, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
        signal(SIGCHLD, SIG_DFL);
}

int osb_loop_new_with(struct osb_backend *backend, struct osb_loop **ret, struct osb_err *err)
{
    struct osb_loop *loop = osb_new(struct osb_loop);
    loop->backend = backend;
    loop->signal_fd = -1;
    pthread_mutex_init(&loop->post_lock, NULL);
    osb_list_init(&loop->posts);
    osb_list_init(&loop->defers);
    osb_signals_init(loop);
    osb_children_init(loop);
    loop->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    int r = loop->wake_fd < 0 ? -errno : 0;
    if (r == 0) {
        osb_watch_init(&loop->wake, loop, loop->wake_fd, on_wake, NULL);
        r = osb_watch_set(&loop->wake, OSB_READABLE);
    }
    if (r < 0) {
        osb_loop_free(loop);
        return osb_fail(err, r, "make the event loop's wake-up descriptor: %s", strerror(-r));
    }
    set_process_signals();
    *ret = loop;
    return 0;
}

void osb_loop_free(struct osb_loop *loop)
{
    if (!loop)
        return;
    osb_assert(!loop->is_in_turn);
    osb_children_done(loop);
    osb_signals_done(loop);
    osb_timers_done(loop);
    while (!osb_list_is_empty(&loop->defers))
        osb_list_remove(loop->defers.next);
    for (struct post *post; (post = take_post(loop));)
        free(post);
    osb_watch_stop(&loop->wake);
    if (loop->wake_fd >= 0)
        close(loop->wake_fd);
    loop->backend->ops->free(loop->backend);
    pthread_mutex_destroy(&loop->post_lock);
    free(loop->heap);
    free(loop);
}

/* ---- time ---- */

uint64_t osb_loop_now_ns(const struct osb_loop *loop)
{
    return loop->is_in_turn ? loop->now_ns : loop->backend->ops->now_ns(loop->backend);
}

int64_t osb_loop_realtime_ns(const struct osb_loop *loop)
{
    return loop->backend->ops->realtime_ns(loop->backend);
}

/* ---- turns ---- */

static int64_t turn_wait_ns(const struct osb_loop *loop, int max_wait_ms)
{
    if (!osb_list_is_empty(&loop->defers) || atomic_load(&loop->is_stopping))
        return 0;
    int64_t wait_ns = osb_timers_wait_ns(loop);
    int64_t max_ns = (int64_t)max_wait_ms * (int64_t)OSB_NS_PER_MS;
    if (max_wait_ms >= 0 && (wait_ns < 0 || wait_ns > max_ns))
        return max_ns;
    return wait_ns;
}

/* Those that are posted meanwhile belong to the next turn. */
static void run_defers(struct osb_loop *loop)
{
    struct osb_list batch;
    osb_list_init(&batch);
    if (osb_list_is_empty(&loop->defers))
        return;
    osb_list_append(&loop->defers, &batch); /* a marker behind the last one of this turn */
    while (loop->defers.next != &batch) {
        struct osb_defer *defer = osb_list_first(&loop->defers, struct osb_defer, link);
        osb_list_remove(&defer->link);
        loop->callbacks++;
        defer->fn(defer);
    }
    osb_list_remove(&batch);
}

/*
 * The wait may have been long, and the first callback after it, which the back end runs inside of
 * its wait, must not set timers by the time from before.
 */
static void freshen_now(struct osb_loop *loop)
{
    if (!loop->is_now_fresh)
        loop->now_ns = loop->backend->ops->now_ns(loop->backend);
    loop->is_now_fresh = true;
}

int osb_loop_turn(struct osb_loop *loop, int max_wait_ms)
{
    const struct osb_backend_ops *ops = loop->backend->ops;
    osb_assert(!loop->is_in_turn);
    loop->is_in_turn = true;
    loop->callbacks = 0;
    loop->now_ns = ops->now_ns(loop->backend);
    loop->is_now_fresh = false;
    int r = ops->wait(loop->backend, turn_wait_ns(loop, max_wait_ms));
    freshen_now(loop);
    osb_timers_fire(loop);
    run_defers(loop);
    loop->is_in_turn = false;
    return r < 0 ? r : loop->callbacks;
}

int osb_loop_run(struct osb_loop *loop)
{
    int r = 0;
    while (r >= 0 && !atomic_load(&loop->is_stopping))
        r = osb_loop_turn(loop, -1);
    atomic_store(&loop->is_stopping, false);
    return r < 0 ? r : 0;
}

void osb_loop_stop(struct osb_loop *loop)
{
    atomic_store(&loop->is_stopping, true);
    wake_up(loop);
}

/* ---- deferred calls ---- */

void osb_defer_init(struct osb_defer *defer, struct osb_loop *loop,
                    void (*fn)(struct osb_defer *defer), void *arg)
{
    *defer = (struct osb_defer){.loop = loop, .fn = fn, .arg = arg};
    osb_list_init(&defer->link);
}

void osb_defer_post(struct osb_defer *defer)
{
    if (osb_list_is_empty(&defer->link))
        osb_list_append(&defer->loop->defers, &defer->link);
}

void osb_defer_cancel(struct osb_defer *defer)
{
    osb_list_remove(&defer->link);
}

/* ---- watches ---- */

void osb_watch_init(struct osb_watch *watch, struct osb_loop *loop, int fd,
                    void (*fn)(struct osb_watch *watch, int events), void *arg)
{
    *watch = (struct osb_watch){.loop = loop, .fd = fd, .fn = fn, .arg = arg};
}

/*
 * Asking for less costs nothing: the kernel goes on reporting what was armed until it reports
 * something that nobody wants (osb_watch_dispatch()), which seldom happens to a short pause.
 */
int osb_watch_set(struct osb_watch *watch, int events)
{
    if (events == 0) {
        osb_watch_stop(watch);
        return 0;
    }
    if (events & ~watch->armed) {
        struct osb_backend *backend = watch->loop->backend;
        int r = backend->ops->arm(backend, watch, events);
        if (r < 0)
            return r;
        watch->armed = events;
        watch->is_registered = true;
    }
    watch->events = events;
    return 0;
}

void osb_watch_pause(struct osb_watch *watch)
{
    watch->events = 0;
}

void osb_watch_stop(struct osb_watch *watch)
{
    if (watch->is_registered)
        watch->loop->backend->ops->remove(watch->loop->backend, watch);
    osb_watch_forget(watch);
}

void osb_watch_forget(struct osb_watch *watch)
{
    watch->is_registered = false;
    watch->events = 0;
    watch->armed = 0;
}

void osb_watch_dispatch(struct osb_watch *watch, int ready)
{
    int wanted = ready & watch->events;
    if (wanted == 0) {
        struct osb_backend *backend = watch->loop->backend;
        if (backend->ops->arm(backend, watch, watch->events) == 0)
            watch->armed = watch->events;
        return;
    }
    freshen_now(watch->loop);
    watch->loop->callbacks++;
    watch->fn(watch, wanted);
}
