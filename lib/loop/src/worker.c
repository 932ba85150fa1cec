// SPDX-License-Identifier: Apache-2.0
#include <osb/alloc.h>
#include <osb/list.h>
#include <osb/worker.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct job {
    uint64_t key;
    int (*work)(void *arg);
    void (*done)(int r, void *arg);
    void *arg;
    int result;
    struct osb_list link;
};

struct worker {
    struct osb_workers *pool;
    pthread_t thread;
    uint64_t running_key; /* 0: idle or unordered */
};

struct osb_workers {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct osb_list queue; /* under lock: not started, in order of submission */
    size_t queue_len;
    size_t queue_limit;
    struct osb_list finished; /* under lock: done is to be called */
    bool is_stopping;
    struct worker *workers;
    int worker_count;

    /* Of the loop thread. An own eventfd instead of osb_loop_post(): this can be withdrawn. */
    int event_fd;
    struct osb_watch watch;
    bool *is_freed; /* set while calling done: it may free the pool */
};

/* ---- pool threads; all with the lock held but for WORK itself ---- */

static bool is_running(const struct osb_workers *pool, uint64_t key)
{
    for (int i = 0; i < pool->worker_count; i++)
        if (pool->workers[i].running_key == key)
            return true;
    return false;
}

/* The first job that may start. Queue order and one running job a key give the order of a key. */
static struct job *take_job(struct osb_workers *pool)
{
    struct job *job;
    osb_list_foreach (job, &pool->queue, link) {
        if (job->key != 0 && is_running(pool, job->key))
            continue;
        osb_list_remove(&job->link);
        pool->queue_len--;
        return job;
    }
    return NULL;
}

static void finish_job(struct osb_workers *pool, struct job *job)
{
    uint64_t one = 1;
    osb_list_append(&pool->finished, &job->link);
    ssize_t written = write(pool->event_fd, &one, sizeof(one));
    (void)written; /* a full counter wakes the loop, too */
}

static void *worker_main(void *arg)
{
    struct worker *worker = arg;
    struct osb_workers *pool = worker->pool;
    pthread_mutex_lock(&pool->lock);
    while (!pool->is_stopping) {
        struct job *job = take_job(pool);
        if (!job) {
            pthread_cond_wait(&pool->changed, &pool->lock);
            continue;
        }
        worker->running_key = job->key;
        pthread_mutex_unlock(&pool->lock);
        job->result = job->work(job->arg);
        pthread_mutex_lock(&pool->lock);
        if (job->key != 0) /* others may wait for this key */
            pthread_cond_broadcast(&pool->changed);
        worker->running_key = 0;
        finish_job(pool, job);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* ---- loop thread ---- */

static struct job *take_finished(struct osb_workers *pool)
{
    pthread_mutex_lock(&pool->lock);
    struct job *job = osb_list_first(&pool->finished, struct job, link);
    if (job)
        osb_list_remove(&job->link);
    pthread_mutex_unlock(&pool->lock);
    return job;
}

static void complete(struct job *job)
{
    struct job copy = *job;
    free(job);
    copy.done(copy.result, copy.arg);
}

static void on_finished(struct osb_watch *watch, int events)
{
    struct osb_workers *pool = watch->arg;
    bool is_freed = false;
    uint64_t count;
    (void)events;
    ssize_t got = read(pool->event_fd, &count, sizeof(count));
    (void)got;
    pool->is_freed = &is_freed;
    for (struct job *job; !is_freed && (job = take_finished(pool));)
        complete(job);
    if (!is_freed)
        pool->is_freed = NULL;
}

/* Signals are for the loop thread: a worker that took one would hide it from the signalfd. */
static int start_threads(struct osb_workers *pool, int threads)
{
    sigset_t all;
    sigset_t before;
    int r = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&pool->lock); /* nobody looks at the table while it grows */
    for (; r == 0 && pool->worker_count < threads; pool->worker_count += r == 0) {
        struct worker *worker = &pool->workers[pool->worker_count];
        worker->pool = pool;
        r = -pthread_create(&worker->thread, NULL, worker_main, worker);
    }
    pthread_mutex_unlock(&pool->lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r;
}

int osb_workers_new(struct osb_loop *loop, int threads, size_t queue_limit,
                    struct osb_workers **ret, struct osb_err *err)
{
    osb_assert(threads > 0 && queue_limit > 0);
    struct osb_workers *pool = osb_new(struct osb_workers);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
    osb_list_init(&pool->queue);
    osb_list_init(&pool->finished);
    pool->queue_limit = queue_limit;
    pool->workers = osb_calloc((size_t)threads, sizeof(*pool->workers));
    pool->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    int r = pool->event_fd < 0 ? -errno : 0;
    osb_watch_init(&pool->watch, loop, pool->event_fd, on_finished, pool);
    if (r == 0)
        r = osb_watch_set(&pool->watch, OSB_READABLE);
    if (r == 0)
        r = start_threads(pool, threads);
    if (r < 0) {
        osb_workers_free(pool);
        return osb_fail(err, r, "start %d worker threads: %s", threads, strerror(-r));
    }
    *ret = pool;
    return 0;
}

static void stop_threads(struct osb_workers *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->is_stopping = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->worker_count; i++)
        pthread_join(pool->workers[i].thread, NULL);
}

void osb_workers_free(struct osb_workers *pool)
{
    if (!pool)
        return;
    if (pool->is_freed)
        *pool->is_freed = true;
    stop_threads(pool);
    osb_watch_stop(&pool->watch);
    for (struct job *job; (job = take_finished(pool));)
        complete(job);
    for (struct job *job; (job = osb_list_first(&pool->queue, struct job, link));) {
        osb_list_remove(&job->link);
        job->result = -ECANCELED;
        complete(job);
    }
    if (pool->event_fd >= 0)
        close(pool->event_fd);
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
    free(pool->workers);
    free(pool);
}

int osb_workers_submit(struct osb_workers *pool, uint64_t key, int (*work)(void *arg),
                       void (*done)(int r, void *arg), void *arg)
{
    int r = 0;
    pthread_mutex_lock(&pool->lock);
    if (pool->is_stopping)
        r = -ECANCELED;
    else if (pool->queue_len >= pool->queue_limit)
        r = -OSB_E_RATE_LIMITED;
    if (r == 0) {
        struct job *job = osb_new(struct job);
        *job = (struct job){.key = key, .work = work, .done = done, .arg = arg};
        osb_list_append(&pool->queue, &job->link);
        pool->queue_len++;
        pthread_cond_signal(&pool->changed);
    }
    pthread_mutex_unlock(&pool->lock);
    return r;
}
