// SPDX-License-Identifier: Apache-2.0
/*
 * A server on the simulated loop with one scripted peer: what the peer has read is in `seen`. Time
 * moves only by rig_advance_ms().
 */
#ifndef OSB_HTTP_TESTS_RIG_H
#define OSB_HTTP_TESTS_RIG_H

#include <osb/alloc.h>
#include <osb/clock.h>
#include <osb/http_server.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define RIG_UNUSED __attribute__((unused))

enum { RIG_CAPACITY = 64 * 1024 };

struct rig {
    struct osb_loop *loop;
    struct osb_http_server *server;
    struct osb_stream *peer;
    struct osb_buf seen;
    size_t seen_total; /* also what was dropped from `seen` */
    bool is_dropping;  /* count only */
    bool is_not_reading;
    bool is_at_end;
    int closed;    /* close callbacks */
    int completed; /* of these with a whole answer */
};

static RIG_UNUSED void rig_on_peer(struct osb_stream *stream, int events, void *arg)
{
    struct rig *rig = arg;
    char buffer[16 * 1024];
    if (!(events & OSB_READABLE))
        return;
    ssize_t n = osb_stream_read(stream, buffer, sizeof(buffer));
    if (n <= 0 && n != -EAGAIN) {
        rig->is_at_end = true;
        osb_stream_want(stream, 0);
    } else if (n > 0) {
        rig->seen_total += (size_t)n;
        if (!rig->is_dropping)
            osb_buf_append(&rig->seen, buffer, (size_t)n);
    }
}

/* Another peer of the same server; the earlier one is closed. */
static RIG_UNUSED void rig_connect(struct rig *rig)
{
    struct osb_stream *served;
    osb_stream_close(rig->peer);
    assert_int_equal(osb_stream_pair(rig->loop, RIG_CAPACITY, &rig->peer, &served), 0);
    osb_stream_set_callback(rig->peer, rig_on_peer, rig);
    osb_stream_want(rig->peer, rig->is_not_reading ? 0 : OSB_READABLE);
    osb_buf_clear(&rig->seen);
    rig->is_at_end = false;
    rig->seen_total = 0;
    osb_http_server_serve(rig->server, served, "peer");
}

static RIG_UNUSED struct rig *rig_new(osb_http_handler *handler, void *arg,
                                      const struct osb_http_server_options *options)
{
    struct rig *rig = osb_new(struct rig);
    assert_int_equal(osb_loop_new_sim(&rig->loop, NULL), 0);
    assert_int_equal(
        osb_http_server_new(rig->loop, options, handler, arg ? arg : rig, &rig->server, NULL), 0);
    rig_connect(rig);
    return rig;
}

static RIG_UNUSED void rig_free(struct rig *rig)
{
    osb_http_server_free(rig->server);
    osb_stream_close(rig->peer);
    osb_loop_free(rig->loop);
    osb_buf_done(&rig->seen);
    free(rig);
}

static RIG_UNUSED void rig_settle(struct rig *rig)
{
    osb_loop_sim_settle(rig->loop);
}

static RIG_UNUSED void rig_advance_ms(struct rig *rig, uint64_t ms)
{
    osb_loop_sim_advance(rig->loop, ms * OSB_NS_PER_MS);
}

/* Sends all of DATA and lets everything run. */
static RIG_UNUSED void rig_send(struct rig *rig, struct osb_slice data)
{
    while (data.len > 0) {
        ssize_t n = osb_stream_write(rig->peer, data);
        assert_true(n > 0 || n == -EAGAIN || n == -EPIPE);
        if (n == -EPIPE)
            return;
        data = osb_slice_from(data, n > 0 ? (size_t)n : 0);
        rig_settle(rig);
    }
    rig_settle(rig);
}

static RIG_UNUSED void rig_send_str(struct rig *rig, const char *text)
{
    rig_send(rig, osb_slice_str(text));
}

/* What the peer has read since the last call, and forgets it. Valid until the next call. */
static RIG_UNUSED const char *rig_seen(struct rig *rig)
{
    static char *text;
    free(text);
    text = osb_buf_take(&rig->seen);
    return text;
}

static RIG_UNUSED bool rig_saw(struct rig *rig, const char *part)
{
    return osb_slice_find_slice(osb_buf_slice(&rig->seen), osb_slice_str(part)) >= 0;
}

/* To be set as close callback with the rig as its argument. */
static RIG_UNUSED void rig_count_close(struct osb_http_exchange *x, bool is_complete, void *arg)
{
    struct rig *rig = arg;
    (void)x;
    rig->closed++;
    rig->completed += is_complete ? 1 : 0;
}

/* Starts and ends an answer: head of the date that the simulated clock shows. */
#define RIG_DATE "Date: Thu, 01 Jan 2026 00:00:00 GMT\r\n"

#endif
