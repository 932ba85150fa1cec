// SPDX-License-Identifier: Apache-2.0
/*
 * Handlers and clients that do anything they may, in any order, from a fixed row of seeds: every
 * exchange is closed exactly once, nothing is left, and what a patient client reads is well-formed.
 */
#include "server.h"

#include <osb/alloc.h>
#include <osb/clock.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SEEDS = 600, STEPS = 60, CLIENTS = 3, MAX_LIVE = 16 };

struct live {
    struct osb_http_exchange *x;
    bool is_collecting;
    bool is_streaming; /* the answer was started */
    bool is_ended;
    bool has_sink;
    bool is_used; /* this place */
};

struct peer {
    struct osb_stream *stream;
    bool is_patient;
    struct osb_buf seen;
};

static uint64_t random_state;
static struct osb_loop *loop;
static struct osb_http_server *server;
static struct live lives[MAX_LIVE];
static struct peer peers[CLIENTS];
static int opened;
static int closed;
static char block[100 * 1000];

static uint32_t dice(uint32_t sides)
{
    osb_assert(sides > 0);
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32) % sides;
}

/* ---- handlers ---- */

static void on_close(struct osb_http_exchange *x, bool is_complete, void *arg)
{
    struct live *live = arg;
    assert_true(live->is_used);
    assert_ptr_equal(live->x, x);
    (void)is_complete; /* also true for an answer that the server gave itself */
    live->is_used = false;
    closed++;
}

static void act(struct live *live);

static void got_body(struct osb_http_exchange *x, struct osb_slice body, void *arg)
{
    struct live *live = arg;
    (void)x;
    (void)body;
    assert_true(live->is_used);
    live->is_collecting = false;
    if (dice(2))
        act(live);
}

static void got_run(struct osb_http_exchange *x, struct osb_slice data, bool is_end, void *arg)
{
    struct live *live = arg;
    (void)data;
    assert_true(live->is_used);
    if (!is_end && dice(3) == 0)
        osb_http_body_pause(x);
    if (dice(3) == 0)
        act(live);
}

static void drained(struct osb_http_exchange *x, void *arg)
{
    struct live *live = arg;
    (void)x;
    assert_true(live->is_used && !live->is_ended);
    if (dice(2))
        act(live);
}

static void take_body(struct live *live)
{
    if (live->has_sink)
        return;
    live->has_sink = true;
    live->is_collecting = dice(2);
    if (live->is_collecting)
        osb_http_collect(live->x, 2000, got_body, live);
    else
        osb_http_on_body(live->x, got_run, live);
}

static void go_on_answering(struct live *live)
{
    if (!live->is_streaming && dice(2)) {
        live->is_ended = true;
        osb_http_reply(live->x, 200, "text/plain", osb_slice(block, dice(sizeof(block))));
    } else if (!live->is_streaming) {
        live->is_streaming = true;
        osb_http_on_drain(live->x, drained, live);
        osb_http_reply_start(live->x, 200, NULL, -1);
    } else if (dice(3)) {
        osb_http_reply_write(live->x, osb_slice(block, dice(dice(2) ? 100 : sizeof(block))));
    } else {
        live->is_ended = true;
        osb_http_reply_end(live->x);
    }
}

/* One thing that a handler may do now. */
static void act(struct live *live)
{
    if (!live->is_used || live->is_ended)
        return;
    switch (dice(8)) {
    case 0:
        take_body(live);
        break;
    case 1:
        osb_http_body_pause(live->x);
        break;
    case 2:
        osb_http_body_resume(live->x);
        break;
    case 3:
        if (dice(10) == 0)
            osb_http_abort(live->x);
        break;
    default:
        /* A body that is too large is answered for the handler, whose answer is dropped. */
        if (!live->is_collecting)
            go_on_answering(live);
        break;
    }
}

static void handle(struct osb_http_exchange *x, void *arg)
{
    (void)arg;
    opened++;
    for (int i = 0; i < MAX_LIVE; i++) {
        struct live *live = &lives[i];
        if (live->is_used)
            continue;
        *live = (struct live){.x = x, .is_used = true};
        osb_http_on_close(x, on_close, live);
        for (uint32_t n = dice(4); n > 0; n--)
            act(live);
        return;
    }
    fail_msg("more exchanges than connections");
}

/* ---- clients ---- */

static void connect_peer(struct peer *peer)
{
    struct osb_stream *served;
    assert_int_equal(osb_stream_pair(loop, 1 + dice(80 * 1000), &peer->stream, &served), 0);
    osb_buf_clear(&peer->seen);
    osb_http_server_serve(server, served, "chaos");
}

static void speak(struct peer *peer)
{
    static const char *const texts[] = {
        "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
        "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n01234",
        "56789",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3000\r\nExpect: 100-continue\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "3\r\nabc\r\n0\r\n\r\n",
        "GET / HTT",
        "nonsense\n",
    };
    struct osb_slice text = osb_slice_str(texts[dice(sizeof(texts) / sizeof(texts[0]))]);
    if (dice(4) == 0)
        text = osb_slice_first(text, dice((uint32_t)text.len));
    if (dice(8) == 0)
        text = osb_slice(block, dice(10 * 1000));
    (void)osb_stream_write(peer->stream, text);
}

static void listen_some(struct peer *peer)
{
    static char buffer[50 * 1000];
    ssize_t n = osb_stream_read(peer->stream, buffer, 1 + dice(sizeof(buffer)));
    if (n > 0 && peer->seen.len == 0)
        osb_buf_append(&peer->seen, buffer, (size_t)n < 9 ? (size_t)n : 9);
    /* Whatever was sent, an answer begins like one. */
    struct osb_slice start = osb_slice_first(osb_buf_slice(&peer->seen), 9);
    assert_true(osb_slice_eq(start, osb_slice("HTTP/1.1 ", start.len)));
}

static void act_as_client(struct peer *peer)
{
    if (!peer->stream) {
        connect_peer(peer);
        return;
    }
    switch (dice(8)) {
    case 0:
    case 1:
    case 2:
        speak(peer);
        break;
    case 3:
    case 4:
    case 5:
        listen_some(peer);
        break;
    case 6:
        if (dice(4) == 0)
            osb_stream_shutdown(peer->stream);
        break;
    default:
        if (dice(4) == 0)
            osb_stream_close(osb_take_ptr(peer->stream));
        break;
    }
}

static void pass_time(void)
{
    switch (dice(6)) {
    case 0:
        osb_loop_sim_advance(loop, dice(20000) * OSB_NS_PER_MS);
        break;
    case 1:
        osb_loop_sim_settle(loop);
        break;
    default:
        osb_loop_turn(loop, 0);
        break;
    }
}

/*
 * That a client has gone can only stay unnoticed behind more bytes than are read ahead, while the
 * handler writes nothing.
 */
static void end_unnoticed(void)
{
    for (int i = 0; i < MAX_LIVE; i++) {
        if (!lives[i].is_used)
            continue;
        assert_true(lives[i].x->conn->in.len >= HTTP_READ_AHEAD);
        osb_http_abort(lives[i].x);
    }
}

static void play(uint64_t seed)
{
    random_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    opened = closed = 0;
    memset(lives, 0, sizeof(lives));
    assert_int_equal(osb_loop_new_sim(&loop, NULL), 0);
    assert_int_equal(osb_http_server_new(loop, NULL, handle, NULL, &server, NULL), 0);
    for (int i = 0; i < STEPS; i++) {
        act_as_client(&peers[dice(CLIENTS)]);
        act(&lives[dice(CLIENTS)]);
        pass_time();
    }
    bool is_leaving = dice(2);
    for (int i = 0; i < CLIENTS && is_leaving; i++)
        osb_stream_close(osb_take_ptr(peers[i].stream));
    if (is_leaving) {
        osb_loop_sim_advance(loop, 1000 * OSB_NS_PER_S);
        end_unnoticed();
        osb_loop_sim_settle(loop);
        assert_int_equal(opened, closed);
        assert_int_equal(osb_http_server_connections(server), 0);
    }
    osb_http_server_free(server);
    assert_int_equal(opened, closed);
    for (int i = 0; i < CLIENTS; i++) {
        osb_stream_close(osb_take_ptr(peers[i].stream));
        osb_buf_done(&peers[i].seen);
    }
    osb_loop_free(loop);
}

static void nothing_is_lost_or_closed_twice(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        play(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_or_closed_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
