// SPDX-License-Identifier: Apache-2.0
/* Live watches: a watcher each, pumped when events are committed and when its peer has room. */
#include "server.h"
#include "watch.h"

#include <osb/alloc.h>
#include <osb/metric.h>
#include <osb/uuid.h>

struct watch_stream {
    struct osb_list link;
    struct call *call;
    struct watcher watcher;
    struct osb_timer timeout;
    bool is_waiting; /* for the peer to take what is queued */
};

static struct osb_metric *open_watches(void)
{
    static struct osb_metric *metric;
    if (!metric)
        metric = osb_metric_new(OSB_METRIC_GAUGE, "apiserver_watches", "Open watches", NULL);
    return metric;
}

static void end_stream(struct watch_stream *s)
{
    osb_list_remove(&s->link);
    osb_timer_stop(&s->timeout);
    osb_http_reply_end(s->call->x);
}

static void pump(struct watch_stream *s)
{
    int64_t now_ns = osb_loop_realtime_ns(s->call->server->loop);
    _cleanup_buf_ struct osb_buf line = {0};
    while (!s->is_waiting && watcher_next(&s->watcher, now_ns, &line)) {
        size_t queued = osb_http_reply_write(s->call->x, osb_buf_slice(&line));
        s->is_waiting = queued > WATCH_MAX_QUEUED;
        osb_buf_clear(&line);
    }
    if (s->watcher.is_ended)
        end_stream(s);
}

static void on_drain(struct osb_http_exchange *x, void *arg)
{
    struct watch_stream *s = arg;
    (void)x;
    if (!s->is_waiting || osb_list_is_empty(&s->link))
        return;
    s->is_waiting = false;
    pump(s);
}

static void on_timeout(struct osb_timer *timer)
{
    end_stream(timer->arg);
}

static void free_stream(void *stream)
{
    struct watch_stream *s = stream;
    osb_list_remove(&s->link);
    osb_timer_stop(&s->timeout);
    watcher_done(&s->watcher);
    osb_metric_add(open_watches(), -1);
    free(s);
}

/* Between one and two times the default, so that clients do not come back all at once. */
static uint64_t timeout_ms(const struct request *request)
{
    uint16_t random;
    if (request->timeout_s > WATCH_MAX_TIMEOUT_S)
        return WATCH_MAX_TIMEOUT_S * 1000;
    if (request->timeout_s > 0)
        return (uint64_t)request->timeout_s * 1000;
    osb_random_bytes(&random, sizeof(random));
    return WATCH_DEFAULT_TIMEOUT_S * 1000 +
           (uint64_t)random * WATCH_DEFAULT_TIMEOUT_S * 1000 / UINT16_MAX;
}

static void start_stream(struct call *call, const struct read_context *context,
                         const struct watch_start *start)
{
    struct watch_stream *s = osb_new(struct watch_stream);
    s->call = call;
    watcher_init(&s->watcher, context, start);
    osb_list_append(&call->server->watches, &s->link);
    osb_metric_add(open_watches(), 1);
    call->stream = s;
    call->free_stream = free_stream;
    osb_timer_init(&s->timeout, call->server->loop, on_timeout, s);
    osb_timer_set(&s->timeout, timeout_ms(&call->request));
    call->status = 200;
    osb_http_reply_header(call->x, "Cache-Control", OSB_SLICE("no-cache, private"));
    osb_http_reply_start(call->x, 200, "application/json", -1);
    osb_http_on_drain(call->x, on_drain, s);
    pump(s);
}

void serve_watch(struct call *call)
{
    struct read_context context = {.cache = &call->server->cluster->cache,
                                   .history = &call->server->cluster->history,
                                   .request = &call->request,
                                   .output = &call->output,
                                   .arena = &call->arena,
                                   .refusal = &call->refusal};
    struct watch_start start;
    if (watch_begin(&context, &start) < 0)
        reply_refusal(call, &call->refusal);
    else
        start_stream(call, &context, &start);
}

static void on_pump(struct osb_defer *defer)
{
    struct server *server = defer->arg;
    struct watch_stream *s, *next;
    osb_list_foreach_safe (s, next, &server->watches, link)
        pump(s);
}

static void on_bookmarks(struct osb_timer *timer)
{
    struct server *server = timer->arg;
    struct watch_stream *s, *next;
    _cleanup_buf_ struct osb_buf line = {0};
    osb_list_foreach_safe (s, next, &server->watches, link) {
        bool is_wanted = s->call->request.allows_bookmarks && !s->is_waiting;
        if (is_wanted && watcher_bookmark(&s->watcher, &line))
            osb_http_reply_write(s->call->x, osb_buf_slice(&line));
        osb_buf_clear(&line);
    }
    osb_timer_set(&server->bookmarks, WATCH_BOOKMARK_MS);
}

void watches_init(struct server *server)
{
    osb_list_init(&server->watches);
    osb_defer_init(&server->pump, server->loop, on_pump, server);
    osb_timer_init(&server->bookmarks, server->loop, on_bookmarks, server);
    osb_timer_set(&server->bookmarks, WATCH_BOOKMARK_MS);
}

void watches_wake(struct server *server)
{
    osb_defer_post(&server->pump);
}

void watches_end(struct server *server)
{
    struct watch_stream *s, *next;
    osb_list_foreach_safe (s, next, &server->watches, link)
        end_stream(s);
}
