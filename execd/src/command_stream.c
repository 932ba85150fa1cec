// SPDX-License-Identifier: Apache-2.0
#include "command_stream.h"

#include "events.h"
#include "lines.h"

#include <osb/alloc.h>
#include <osb/clock.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    /* Short lines grow twenty-fold as events: a batch above this makes the next reads smaller. */
    STREAM_BIG_BATCH = 512 * 1024,
    STREAM_SMALL_READ = 8 * 1024,
    STREAM_BATCH_KEPT = 128 * 1024, /* bytes of the batch buffer that are kept between batches */
};

struct command_stream {
    struct osb_http_exchange *x;
    struct command_run *run; /* NULL before the start and after the end */
    struct lines lines[RUN_PIPES];
    struct osb_buf batch;
    struct osb_timer ping;
    uint64_t started_ns;
    int64_t now_ms;   /* of the batch */
    const char *type; /* of the events being made */
};

static int64_t wall_ms(void)
{
    return osb_realtime_ns() / (int64_t)OSB_NS_PER_MS;
}

static void stream_free(struct command_stream *stream)
{
    for (int i = 0; i < RUN_PIPES; i++)
        lines_done(&stream->lines[i]);
    osb_buf_done(&stream->batch);
    osb_timer_stop(&stream->ping);
    free(stream);
}

/* Hands the batch to the connection; bytes that the client has not taken yet. */
static size_t flush(struct command_stream *stream)
{
    size_t queued = 0;

    if (stream->batch.len > 0)
        queued = osb_http_reply_write(stream->x, osb_buf_slice(&stream->batch));
    if (stream->batch.cap > STREAM_BATCH_KEPT)
        osb_buf_done(&stream->batch);
    else
        osb_buf_clear(&stream->batch);
    return queued;
}

static void on_line(struct osb_slice text, void *arg)
{
    struct command_stream *stream = arg;

    event_text(&stream->batch, stream->type, text, stream->now_ms);
}

static void begin_batch(struct command_stream *stream, int pipe)
{
    stream->now_ms = wall_ms();
    stream->type = pipe == RUN_STDERR ? "stderr" : "stdout";
}

static void on_output(int pipe, struct osb_slice data, void *arg)
{
    struct command_stream *stream = arg;

    begin_batch(stream, pipe);
    lines_feed(&stream->lines[pipe], data, on_line, stream);
    if (stream->batch.len > STREAM_BIG_BATCH)
        command_run_set_read_size(stream->run, STREAM_SMALL_READ);
    if (flush(stream) > STREAM_HIGH_WATER && stream->run)
        command_run_pause(stream->run);
}

static void on_drain(struct osb_http_exchange *x, void *arg)
{
    struct command_stream *stream = arg;

    (void)x;
    if (stream->run)
        command_run_resume(stream->run);
}

static void on_ping(struct osb_timer *timer)
{
    struct command_stream *stream = timer->arg;

    event_text(&stream->batch, "ping", OSB_SLICE("pong"), wall_ms());
    flush(stream);
    osb_timer_set(timer, STREAM_PING_MS);
}

/* The stream's last callback in every case. */
static void on_close(struct osb_http_exchange *x, bool is_complete, void *arg)
{
    struct command_stream *stream = arg;

    (void)x;
    (void)is_complete;
    if (stream->run)
        command_run_detach(stream->run);
    stream_free(stream);
}

void command_stream_end(struct command_stream *stream, const char *value, const char *text)
{
    uint64_t elapsed_ns = osb_monotonic_ns() - stream->started_ns;

    stream->run = NULL;
    osb_timer_stop(&stream->ping);
    for (int i = 0; i < RUN_PIPES; i++) {
        begin_batch(stream, i);
        lines_end(&stream->lines[i], on_line, stream);
    }
    if (text)
        event_error(&stream->batch, "CommandExecError", osb_slice_str(value), osb_slice_str(text),
                    wall_ms());
    else
        event_complete(&stream->batch, (int64_t)(elapsed_ns / OSB_NS_PER_MS), wall_ms());
    /* Both are queued and leave together: a client must not see the one without the other. */
    flush(stream);
    osb_http_reply_end(stream->x);
}

static void on_end(const struct command_outcome *outcome, void *arg)
{
    char value[16];

    snprintf(value, sizeof(value), "%d", outcome->exit_code);
    command_stream_end(arg, value, outcome->text);
}

struct command_stream *command_stream_start(struct osb_http_exchange *x, const char *id,
                                            bool keeps_ends)
{
    struct command_stream *stream = osb_new(struct command_stream);

    stream->x = x;
    stream->started_ns = osb_monotonic_ns();
    for (int i = 0; i < RUN_PIPES; i++)
        lines_init(&stream->lines[i], keeps_ends);
    osb_timer_init(&stream->ping, osb_http_loop(x), on_ping, stream);
    osb_timer_set(&stream->ping, STREAM_PING_MS);
    osb_http_on_close(x, on_close, stream);
    osb_http_on_drain(x, on_drain, stream);
    osb_http_reply_header(x, "Cache-Control", OSB_SLICE("no-cache"));
    osb_http_reply_header(x, "X-Accel-Buffering", OSB_SLICE("no"));
    osb_http_reply_start(x, 200, "text/event-stream", -1);
    event_text(&stream->batch, "init", osb_slice_str(id), wall_ms());
    event_text(&stream->batch, "ping", OSB_SLICE("pong"), wall_ms());
    flush(stream);
    return stream;
}

struct command_listener command_stream_listener(struct command_stream *stream)
{
    return (struct command_listener){on_output, on_end, stream};
}

void command_stream_attach(struct command_stream *stream, struct command_run *run)
{
    stream->run = run;
}
