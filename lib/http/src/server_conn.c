// SPDX-License-Identifier: Apache-2.0
// One connection: the driver that runs what is due, timeouts, and the end.
#include "server.h"

#include <osb/alloc.h>
#include <osb/clock.h>
#include <stdlib.h>
#include <sys/socket.h>

static bool wants_read(const struct http_conn *conn)
{
    if (conn->is_eof || conn->is_broken)
        return false;
    if (conn->state == HTTP_CONN_LINGER)
        return conn->is_shut;
    if (!conn->x || http_exchange_wants_body(conn->x))
        return true;
    /* A little is read ahead, so that a client that goes away is noticed. */
    return conn->in.len < HTTP_READ_AHEAD;
}

static bool wants_write(const struct http_conn *conn)
{
    const struct osb_http_exchange *x = conn->x;
    return conn->out.is_blocked || (x && (x->is_drain_due || (x->is_started && x->file_left > 0)));
}

static bool is_all_written(const struct http_conn *conn)
{
    return conn->out.buf.len == 0 && (!conn->x || conn->x->file_left == 0);
}

/* ---- timeouts: one lazy timer, only moved when it would be late ---- */

static uint64_t read_timeout_ms(const struct http_conn *conn)
{
    const struct osb_http_server_options *options = &conn->server->options;
    switch (conn->state) {
    case HTTP_CONN_HEAD:
        return conn->in.len > 0 ? options->head_timeout_ms : options->idle_timeout_ms;
    case HTTP_CONN_EXCHANGE:
        return http_exchange_wants_body(conn->x) ? options->body_timeout_ms : 0;
    case HTTP_CONN_DISCARD:
        return HTTP_DISCARD_MS;
    default:
        return conn->is_shut ? HTTP_LINGER_MS : 0;
    }
}

static uint64_t read_deadline(const struct http_conn *conn)
{
    uint64_t ms = read_timeout_ms(conn);
    return ms ? conn->read_since_ns + ms * OSB_NS_PER_MS : UINT64_MAX;
}

static uint64_t write_deadline(const struct http_conn *conn)
{
    if (!conn->out.is_blocked)
        return UINT64_MAX;
    return conn->write_since_ns + conn->server->options.write_timeout_ms * OSB_NS_PER_MS;
}

static void arm_timer(struct http_conn *conn)
{
    uint64_t deadline = read_deadline(conn);
    if (write_deadline(conn) < deadline)
        deadline = write_deadline(conn);
    if (deadline == UINT64_MAX)
        osb_timer_stop(&conn->timer);
    else if (!osb_timer_is_set(&conn->timer) || deadline < conn->timer.deadline_ns)
        osb_timer_set_at(&conn->timer, deadline);
}

static void read_timed_out(struct http_conn *conn)
{
    if (conn->state == HTTP_CONN_HEAD && conn->in.len > 0)
        http_conn_refuse(conn, 408, "the request head did not come in time");
    else if (conn->state == HTTP_CONN_EXCHANGE)
        http_exchange_refuse(conn->x, 408, "the request body did not come in time");
    else
        conn->is_broken = true;
}

static void on_timer(struct osb_timer *timer)
{
    struct http_conn *conn = timer->arg;
    uint64_t now = osb_loop_now_ns(conn->server->loop);
    if (now >= write_deadline(conn))
        conn->is_broken = true;
    else if (now >= read_deadline(conn))
        read_timed_out(conn);
    http_conn_run(conn);
}

/* ---- writing ---- */

static void flush(struct http_conn *conn)
{
    bool had_data = conn->out.buf.len > 0;
    bool was_blocked = conn->out.is_blocked || conn->out.is_retry;
    conn->out.is_retry = false;
    if (http_out_flush(&conn->out) < 0) {
        conn->is_broken = true;
        return;
    }
    struct osb_http_exchange *x = conn->x;
    if (x && x->is_started && x->file_left > 0 && conn->out.buf.len == 0 && !conn->out.is_blocked &&
        http_exchange_send_file(x) < 0) {
        conn->is_broken = true;
        return;
    }
    if (conn->out.is_progress || !was_blocked)
        conn->write_since_ns = osb_loop_now_ns(conn->server->loop);
    conn->out.is_progress = false;
    if (had_data && is_all_written(conn) && x && x->drain_fn)
        x->is_drain_due = true;
}

static void run_drain(struct osb_http_exchange *x)
{
    x->is_drain_due = false;
    if (x->is_started && !x->is_ended && x->drain_fn)
        x->drain_fn(x, x->drain_arg);
}

/* ---- moves between states ---- */

/* The allowed moves, a bit a state; README.md draws them. */
static const unsigned moves[] = {
    [HTTP_CONN_HEAD] = 1u << HTTP_CONN_EXCHANGE | 1u << HTTP_CONN_LINGER,
    [HTTP_CONN_EXCHANGE] = 1u << HTTP_CONN_HEAD | 1u << HTTP_CONN_DISCARD | 1u << HTTP_CONN_LINGER,
    [HTTP_CONN_DISCARD] = 1u << HTTP_CONN_HEAD | 1u << HTTP_CONN_LINGER,
    [HTTP_CONN_LINGER] = 0,
};

void http_conn_enter(struct http_conn *conn, enum http_conn_state state)
{
    osb_assert(moves[conn->state] >> state & 1);
    osb_assert((state == HTTP_CONN_EXCHANGE) == (conn->x != NULL));
    conn->state = state;
    conn->dropped = 0;
    conn->parsed_len = 0;
    conn->read_since_ns = osb_loop_now_ns(conn->server->loop);
}

/* The answer is out: what next? */
static void finish_exchange(struct http_conn *conn)
{
    bool is_keep_alive = conn->x->is_keep_alive && !conn->server->is_draining;
    struct osb_http_exchange *x = osb_take_ptr(conn->x);
    http_exchange_close(x, true);
    if (is_keep_alive && conn->stream)
        http_conn_enter(conn, conn->body.is_done ? HTTP_CONN_HEAD : HTTP_CONN_DISCARD);
    else if (conn->stream && (!conn->body.is_done || conn->in.len > 0))
        http_conn_enter(conn, HTTP_CONN_LINGER);
    else
        conn->is_broken = true;
}

/* Ends the writing side, then what the peer still sends is dropped until it ends too. */
static bool step_linger(struct http_conn *conn)
{
    if (!conn->is_shut) {
        if (conn->out.buf.len > 0)
            return false;
        conn->is_shut = true;
        conn->read_since_ns = osb_loop_now_ns(conn->server->loop);
        if (conn->is_eof || osb_stream_shutdown(conn->stream) < 0)
            conn->is_broken = true;
        return true;
    }
    conn->dropped += conn->in.len;
    osb_buf_clear(&conn->in);
    if (!conn->is_eof && conn->dropped <= HTTP_LINGER_MAX)
        return false;
    conn->is_broken = true;
    return true;
}

/*
 * An end of file is a client that went away: nobody half-closes and waits. Only an answer that is
 * complete here is still written out, in case somebody does.
 */
static bool step_eof(struct http_conn *conn)
{
    if (!conn->is_eof || conn->state == HTTP_CONN_LINGER || (conn->x && conn->x->is_ended))
        return false;
    conn->is_broken = true;
    return true;
}

/* Does one thing that is due; false when there is nothing. */
static bool step(struct http_conn *conn, bool *has_drained)
{
    struct osb_http_exchange *x = conn->x;
    if (x && x->is_ended && (!conn->stream || is_all_written(conn))) {
        finish_exchange(conn);
        return true;
    }
    if (x && x->is_drain_due && !*has_drained) {
        *has_drained = true; /* once a run: a quick peer must not keep the loop here */
        run_drain(x);
        return true;
    }
    if (x && http_exchange_deliver(x))
        return true;
    if (conn->state == HTTP_CONN_HEAD && http_conn_parse(conn))
        return true;
    if (conn->state == HTTP_CONN_DISCARD && http_conn_discard(conn))
        return true;
    if (conn->state == HTTP_CONN_LINGER && step_linger(conn))
        return true;
    if (conn->can_read && wants_read(conn)) {
        conn->can_read = false;
        http_conn_read(conn);
        return true;
    }
    return step_eof(conn);
}

static void wait_for_events(struct http_conn *conn)
{
    int events = (wants_read(conn) ? OSB_READABLE : 0) | (wants_write(conn) ? OSB_WRITABLE : 0);
    if (events != conn->stream->events && osb_stream_want(conn->stream, events) < 0) {
        conn->is_broken = true;
        http_conn_kick(conn);
    }
    arm_timer(conn);
}

void http_conn_run(struct http_conn *conn)
{
    bool has_drained = false;
    osb_defer_cancel(&conn->kick);
    conn->is_running = true;
    do {
        if (conn->stream && !conn->is_broken)
            flush(conn);
    } while (!conn->is_broken && step(conn, &has_drained));
    conn->is_running = false;
    if (conn->is_broken) {
        http_conn_free(conn);
        return;
    }
    osb_defer_cancel(&conn->kick); /* what the callbacks asked for has been done */
    http_conn_park_input(conn);
    wait_for_events(conn);
}

void http_conn_kick(struct http_conn *conn)
{
    if (!conn->is_running)
        osb_defer_post(&conn->kick);
}

static void on_kick(struct osb_defer *defer)
{
    http_conn_run(defer->arg);
}

static void on_stream(struct osb_stream *stream, int events, void *arg)
{
    (void)stream;
    struct http_conn *conn = arg;
    if (events & OSB_READABLE)
        conn->can_read = true;
    if ((events & OSB_WRITABLE) && conn->out.is_blocked) {
        conn->out.is_blocked = false;
        conn->out.is_retry = true;
    }
    http_conn_run(conn);
}

void http_conn_start(struct osb_http_server *server, struct osb_stream *stream, const char *peer,
                     bool is_rejected)
{
    struct http_conn *conn = osb_new(struct http_conn);
    conn->server = server;
    conn->stream = stream;
    conn->out.stream = stream;
    conn->peer = osb_strdup(peer ? peer : "");
    conn->is_rejected = is_rejected;
    conn->body.is_done = true;
    osb_timer_init(&conn->timer, server->loop, on_timer, conn);
    osb_defer_init(&conn->kick, server->loop, on_kick, conn);
    osb_list_append(&server->conns, &conn->link);
    *(is_rejected ? &server->rejected_count : &server->conn_count) += 1;
    osb_stream_set_callback(stream, on_stream, conn);
    conn->read_since_ns = osb_loop_now_ns(server->loop);
    if (is_rejected)
        http_conn_refuse(conn, 503, "too many connections");
    conn->can_read = !is_rejected; /* often the request is there already */
    http_conn_kick(conn);
}

/*
 * An answer without length ends where the connection ends: only a reset tells the peer that this
 * one was cut.
 */
static void reset_on_close(const struct http_conn *conn)
{
    int fd = osb_stream_fd(conn->stream);
    struct linger hard = {.l_onoff = 1, .l_linger = 0};
    if (conn->x && conn->x->is_until_close && fd >= 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
}

void http_conn_free(struct http_conn *conn)
{
    struct osb_http_server *server = conn->server;
    osb_timer_stop(&conn->timer);
    osb_defer_cancel(&conn->kick);
    osb_list_remove(&conn->link);
    *(conn->is_rejected ? &server->rejected_count : &server->conn_count) -= 1;
    if (conn->stream) {
        reset_on_close(conn);
        osb_stream_want(conn->stream, 0);
    }
    conn->is_running = true; /* nothing that the close callback calls may start it again */
    if (conn->x)
        http_exchange_close(osb_take_ptr(conn->x), false);
    osb_stream_close(conn->stream);
    osb_buf_done(&conn->in);
    osb_buf_done(&conn->out.buf);
    free(conn->peer);
    free(conn);
    if (server->is_draining && osb_list_is_empty(&server->conns))
        osb_defer_post(&server->drained);
}
