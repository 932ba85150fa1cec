// SPDX-License-Identifier: Apache-2.0
/* GET /metrics and /metrics/watch (execd contract 10). */
#include "execd.h"
#include "reply.h"

#include <osb/alloc.h>
#include <osb/clock.h>
#include <osb/json_writer.h>
#include <stdlib.h>

enum {
    METRICS_WATCH_MS = 1000,
    METRICS_SAMPLE_MS = 200, /* a share of CPU over less than this is noise */
};

static const double mib = 1024.0 * 1024.0;

/* Moves the two readings on when the newer one is old enough to be compared with. */
static void take_sample(struct execd *execd)
{
    struct usage now;

    usage_read("", &now);
    if (execd->usage_now.taken_ns == 0) /* asked before the first reading: nothing to compare */
        execd->usage_before = now;
    else if (now.taken_ns - execd->usage_now.taken_ns >= METRICS_SAMPLE_MS * OSB_NS_PER_MS)
        execd->usage_before = execd->usage_now;
    execd->usage_now = now;
}

static void append_sample(struct execd *execd, struct osb_buf *out)
{
    struct osb_json_writer w;

    take_sample(execd);
    const struct usage *now = &execd->usage_now;
    osb_json_writer_init(&w, out);
    osb_json_begin_object(&w);
    osb_json_key(&w, "cpu_count");
    osb_json_double(&w, now->cpu_count);
    osb_json_key(&w, "cpu_used_pct");
    osb_json_double(&w, usage_cpu_percent(&execd->usage_before, now));
    osb_json_key(&w, "mem_total_mib");
    osb_json_double(&w, (double)now->memory_total / mib);
    osb_json_key(&w, "mem_used_mib");
    osb_json_double(&w, (double)now->memory_used / mib);
    osb_json_kv_i64(&w, "timestamp", osb_realtime_ns() / (int64_t)OSB_NS_PER_MS);
    osb_json_end_object(&w);
}

static void get_metrics(struct osb_http_exchange *x, const struct osb_http_params *params,
                        void *arg)
{
    _cleanup_buf_ struct osb_buf body = {0};

    (void)params;
    append_sample(arg, &body);
    reply_json(x, osb_buf_slice(&body));
}

struct metrics_watch {
    struct execd *execd;
    struct osb_http_exchange *x;
    struct osb_timer timer;
};

static void on_close(struct osb_http_exchange *x, bool is_complete, void *arg)
{
    struct metrics_watch *watch = arg;

    (void)x;
    (void)is_complete;
    osb_timer_stop(&watch->timer);
    free(watch);
}

/* Clients of one kind read lines, those of another wait for an empty one. */
static void on_tick(struct osb_timer *timer)
{
    struct metrics_watch *watch = timer->arg;
    _cleanup_buf_ struct osb_buf line = {0};

    append_sample(watch->execd, &line);
    osb_buf_append_str(&line, "\n\n");
    osb_http_reply_write(watch->x, osb_buf_slice(&line));
    osb_timer_set(timer, METRICS_WATCH_MS);
}

static void get_watch(struct osb_http_exchange *x, const struct osb_http_params *params, void *arg)
{
    struct metrics_watch *watch = osb_new(struct metrics_watch);

    (void)params;
    watch->execd = arg;
    watch->x = x;
    osb_timer_init(&watch->timer, osb_http_loop(x), on_tick, watch);
    osb_http_on_close(x, on_close, watch);
    osb_http_reply_header(x, "Cache-Control", OSB_SLICE("no-cache"));
    osb_http_reply_header(x, "X-Accel-Buffering", OSB_SLICE("no"));
    osb_http_reply_start(x, 200, "text/event-stream", -1);
    on_tick(&watch->timer);
}

/* The reading that the first share of CPU is taken from; not at once, because starting is urgent.
 */
static void on_first_sample(struct osb_timer *timer)
{
    struct execd *execd = timer->arg;

    usage_read("", &execd->usage_now);
    execd->usage_before = execd->usage_now;
}

void metric_routes(struct execd *execd)
{
    osb_timer_init(&execd->first_usage, execd->loop, on_first_sample, execd);
    osb_timer_set(&execd->first_usage, METRICS_SAMPLE_MS);
    osb_http_route(execd->router, "GET", "/metrics", get_metrics, execd);
    osb_http_route(execd->router, "GET", "/metrics/watch", get_watch, execd);
}
