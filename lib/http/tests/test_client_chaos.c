// SPDX-License-Identifier: Apache-2.0
/*
 * Callers and servers that do anything they may, in any order, from a fixed row of seeds: every
 * call ends exactly once, or never after it was cancelled, and nothing is left.
 */
#include <osb/alloc.h>
#include <osb/http_client.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { SEEDS = 100, STEPS = 80, CALLS = 4, PEERS = 8 };

struct caller {
    struct osb_http_call *call; /* NULL: this place is free */
    bool is_body_ended;
};

static uint64_t random_state;
static struct osb_loop *loop;
static struct osb_http_client *client;
static struct caller callers[CALLS];
static struct osb_stream *peers[PEERS];
static char path[64];
static int started;
static int ended;
static int cancelled;
static char block[100 * 1000];

static uint32_t dice(uint32_t sides)
{
    osb_assert(sides > 0);
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32) % sides;
}

/* ---- callers ---- */

static void act(struct caller *caller)
{
    struct osb_http_call *call = caller->call;
    if (!call)
        return;
    switch (dice(10)) {
    case 0:
        osb_http_call_pause(call);
        break;
    case 1:
    case 2:
        osb_http_call_resume(call);
        break;
    case 3:
        if (dice(5) == 0) {
            caller->call = NULL;
            cancelled++;
            osb_http_call_cancel(call);
        }
        break;
    case 4:
        if (!caller->is_body_ended)
            osb_http_call_end_body(call);
        caller->is_body_ended = true;
        break;
    default:
        if (!caller->is_body_ended)
            osb_http_call_write(call, osb_slice(block, dice(dice(2) ? 100 : sizeof(block))));
        break;
    }
}

static void on_head(struct osb_http_call *call, const struct osb_http_head *head, void *arg)
{
    struct caller *caller = arg;
    assert_ptr_equal(caller->call, call);
    if (head->status == 101 && dice(2)) {
        struct osb_buf leftover = {0};
        osb_stream_close(osb_http_call_take_stream(call, &leftover));
        osb_buf_done(&leftover);
    } else if (dice(2)) {
        act(caller);
    }
}

static void on_data(struct osb_http_call *call, struct osb_slice data, void *arg)
{
    struct caller *caller = arg;
    assert_ptr_equal(caller->call, call);
    assert_true(data.len > 0);
    if (dice(2))
        act(caller);
}

static void on_writable(struct osb_http_call *call, void *arg)
{
    struct caller *caller = arg;
    assert_ptr_equal(caller->call, call);
    if (dice(2))
        act(caller);
}

static void on_end(struct osb_http_call *call, int r, const struct osb_err *err, void *arg)
{
    struct caller *caller = arg;
    assert_ptr_equal(caller->call, call);
    assert_true((r < 0) == (err && err->message[0]));
    caller->call = NULL;
    ended++;
}

static void start(struct caller *caller)
{
    static const struct osb_http_call_callbacks callbacks = {on_head, on_data, on_end, on_writable};
    static const char *const methods[] = {"GET", "POST", "HEAD", "PUT"};
    static const int64_t lengths[] = {0, -1, 1000, 300 * 1000};
    struct osb_http_request request = {
        .origin = {.unix_path = path},
        .method = methods[dice(4)],
        .target = "/",
        .body_stream_length = lengths[dice(4)],
        .timeout_ms = dice(4) ? 0 : 1,
    };
    if (dice(2))
        request.body = osb_slice(block, dice(1000));
    *caller = (struct caller){.is_body_ended = request.body_stream_length == 0};
    assert_int_equal(osb_http_call_start(client, &request, &callbacks, caller, &caller->call, NULL),
                     0);
    started++;
}

/* ---- servers ---- */

static void on_peer(struct osb_stream *stream, int events, void *arg)
{
    static const char *const texts[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\nraw",
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\nuntil the end",
        "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        "nonsense\n",
    };
    struct osb_stream **place = arg;
    static char buffer[50 * 1000];
    (void)events;
    ssize_t n = osb_stream_read(stream, buffer, sizeof(buffer));
    bool is_gone = n <= 0 && n != -EAGAIN;
    struct osb_slice text = osb_slice_str(texts[dice(sizeof(texts) / sizeof(texts[0]))]);
    if (dice(4) == 0)
        text = osb_slice_first(text, dice((uint32_t)text.len));
    if (n > 0 && dice(3))
        (void)osb_stream_write(stream, text);
    if (is_gone || dice(12) == 0)
        osb_stream_close(osb_take_ptr(*place));
}

static void on_accept(struct osb_stream *stream, const char *name, void *arg)
{
    (void)name;
    (void)arg;
    struct osb_stream **place = &peers[dice(PEERS)];
    osb_stream_close(*place);
    *place = stream;
    osb_stream_set_callback(stream, on_peer, place);
    osb_stream_want(stream, OSB_READABLE);
}

static void play(uint64_t seed)
{
    struct osb_http_client_options options = {.max_idle_per_origin = 2};
    struct osb_listener *listener;
    random_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    started = ended = cancelled = 0;
    assert_int_equal(osb_loop_new_epoll(&loop, NULL), 0);
    assert_int_equal(osb_http_client_new(loop, &options, &client, NULL), 0);
    assert_int_equal(osb_listener_new_unix(loop, path, 0600, on_accept, NULL, &listener, NULL), 0);
    for (int i = 0; i < STEPS; i++) {
        struct caller *caller = &callers[dice(CALLS)];
        if (caller->call)
            act(caller);
        else
            start(caller);
        osb_loop_turn(loop, 0);
    }
    osb_http_client_free(client);
    assert_int_equal(ended + cancelled, started);
    for (int i = 0; i < PEERS; i++)
        osb_stream_close(osb_take_ptr(peers[i]));
    osb_listener_free(listener);
    osb_loop_free(loop);
}

static void every_call_ends_once(void **state)
{
    (void)state;
    char folder[] = "/tmp/osb-http-chaos-XXXXXX";
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/s", folder);
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        play(seed);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_ends_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
