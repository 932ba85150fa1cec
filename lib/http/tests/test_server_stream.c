// SPDX-License-Identifier: Apache-2.0
#include "rig.h"

#include <unistd.h>

static struct osb_http_exchange *current;

/* Keeps the exchange for the test to answer. */
static void keep(struct osb_http_exchange *x, void *arg)
{
    osb_http_on_close(x, rig_count_close, arg);
    current = x;
}

static struct rig *rig_with_request(const char *request)
{
    struct rig *rig = rig_new(keep, NULL, NULL);
    rig_send_str(rig, request);
    assert_non_null(current);
    return rig;
}

#define GET "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"

static void a_stream_is_sent_piece_by_piece(void **state)
{
    (void)state;
    struct rig *rig = rig_with_request(GET);
    osb_http_reply_start(current, 200, "text/event-stream", -1);
    rig_settle(rig);
    assert_string_equal(rig_seen(rig),
                        "HTTP/1.1 200 OK\r\n" RIG_DATE "Content-Type: text/event-stream\r\n"
                        "Transfer-Encoding: chunked\r\n\r\n");
    osb_http_reply_write(current, OSB_SLICE("data: 1\n\n"));
    osb_http_reply_write(current, OSB_SLICE("0123456789abcdef"));
    osb_http_reply_write(current, OSB_SLICE_NULL);
    rig_settle(rig);
    assert_string_equal(rig_seen(rig), "9\r\ndata: 1\n\n\r\n10\r\n0123456789abcdef\r\n");
    osb_http_reply_end(current);
    assert_int_equal(rig->closed, 0);
    rig_settle(rig);
    assert_string_equal(rig_seen(rig), "0\r\n\r\n");
    assert_int_equal(rig->completed, 1);
    rig_free(rig);
}

/* A stream that counts its writes, around the server's end of the pair. */
struct counting {
    struct osb_stream base;
    struct osb_stream *inner;
    int writes;
};

static struct counting counting;

static ssize_t count_read(struct osb_stream *stream, void *buffer, size_t len)
{
    (void)stream;
    return osb_stream_read(counting.inner, buffer, len);
}

static ssize_t count_writev(struct osb_stream *stream, const struct iovec *iov, int count)
{
    (void)stream;
    counting.writes++;
    return osb_stream_writev(counting.inner, iov, count);
}

static void count_forward(struct osb_stream *inner, int events, void *arg)
{
    (void)inner;
    (void)arg;
    counting.base.fn(&counting.base, events, counting.base.arg);
}

static int count_want(struct osb_stream *stream, int events)
{
    stream->events = events;
    return osb_stream_want(counting.inner, events);
}

static int count_shutdown(struct osb_stream *stream)
{
    (void)stream;
    return osb_stream_shutdown(counting.inner);
}

static void count_close(struct osb_stream *stream)
{
    (void)stream;
    osb_stream_close(counting.inner);
}

static const struct osb_stream_ops counting_ops = {
    .read = count_read,
    .writev = count_writev,
    .want = count_want,
    .shutdown = count_shutdown,
    .close = count_close,
};

static void a_chunk_and_the_last_one_go_out_in_one_write(void **state)
{
    (void)state;
    struct rig *rig = rig_new(keep, NULL, NULL);
    osb_stream_close(osb_take_ptr(rig->peer));
    rig_settle(rig);
    counting = (struct counting){.base = {.ops = &counting_ops, .loop = rig->loop}};
    assert_int_equal(osb_stream_pair(rig->loop, RIG_CAPACITY, &rig->peer, &counting.inner), 0);
    osb_stream_set_callback(counting.inner, count_forward, NULL);
    osb_stream_set_callback(rig->peer, rig_on_peer, rig);
    osb_stream_want(rig->peer, OSB_READABLE);
    osb_http_server_serve(rig->server, &counting.base, "counted");
    rig_send_str(rig, GET);
    osb_http_reply_start(current, 200, NULL, -1);
    osb_http_reply_write(current, OSB_SLICE("only"));
    osb_http_reply_end(current);
    rig_settle(rig);
    assert_true(rig_saw(rig, "\r\n\r\n4\r\nonly\r\n0\r\n\r\n"));
    assert_int_equal(counting.writes, 1);
    rig_free(rig);
}

static void old_clients_get_a_stream_that_ends_with_the_connection(void **state)
{
    (void)state;
    struct rig *rig = rig_with_request("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    osb_http_reply_start(current, 200, NULL, -1);
    osb_http_reply_write(current, OSB_SLICE("plain"));
    osb_http_reply_end(current);
    rig_settle(rig);
    assert_string_equal(rig_seen(rig),
                        "HTTP/1.1 200 OK\r\n" RIG_DATE "Connection: close\r\n\r\nplain");
    assert_true(rig->is_at_end);
    rig_free(rig);
}

static void a_stream_with_a_length_has_no_chunks(void **state)
{
    (void)state;
    struct rig *rig = rig_with_request(GET);
    osb_http_reply_start(current, 200, NULL, 4);
    osb_http_reply_write(current, OSB_SLICE("ab"));
    osb_http_reply_write(current, OSB_SLICE("cdef")); /* what is over is dropped */
    osb_http_reply_end(current);
    rig_settle(rig);
    assert_true(rig_saw(rig, "Content-Length: 4\r\n\r\nabcd"));
    assert_false(rig_saw(rig, "e"
                              "f"));
    assert_int_equal(rig->completed, 1);

    rig_send_str(rig, GET);
    osb_http_reply_start(current, 200, NULL, 4);
    osb_http_reply_write(current, OSB_SLICE("ab"));
    osb_http_reply_end(current); /* too short: cut */
    rig_settle(rig);
    assert_true(rig->is_at_end);
    assert_int_equal(rig->closed, 2);
    assert_int_equal(rig->completed, 1);
    rig_free(rig);
}

static void a_client_that_leaves_ends_the_exchange_at_once(void **state)
{
    (void)state;
    struct rig *rig = rig_with_request(GET);
    osb_http_reply_start(current, 200, NULL, -1);
    osb_http_reply_write(current, OSB_SLICE("x"));
    rig_settle(rig);
    assert_int_equal(rig->closed, 0);
    osb_stream_close(osb_take_ptr(rig->peer));
    rig_settle(rig);
    assert_int_equal(rig->closed, 1);
    assert_int_equal(rig->completed, 0);
    rig_free(rig);
}

static void a_client_that_leaves_before_the_answer_is_noticed(void **state)
{
    (void)state;
    struct rig *rig =
        rig_with_request("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab");
    osb_stream_close(osb_take_ptr(rig->peer));
    rig_settle(rig);
    assert_int_equal(rig->closed, 1);
    rig_free(rig);
}

static void requests_sent_ahead_survive_a_running_answer(void **state)
{
    (void)state;
    struct rig *rig = rig_with_request(GET);
    struct osb_http_exchange *first = current;
    current = NULL;
    rig_send_str(rig, "GET /b HTTP/1.1\r\nHost: h\r\n\r\nGET /c HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_null(current);
    osb_http_reply(first, 200, NULL, OSB_SLICE("1"));
    rig_settle(rig);
    assert_true(osb_slice_eq_str(osb_http_raw_path(current), "/b"));
    osb_http_reply(current, 200, NULL, OSB_SLICE("2"));
    rig_settle(rig);
    assert_true(osb_slice_eq_str(osb_http_raw_path(current), "/c"));
    osb_http_reply(current, 200, NULL, OSB_SLICE("3"));
    rig_settle(rig);
    assert_int_equal(rig->completed, 3);
    rig_free(rig);
}

static void reading_ahead_is_bounded(void **state)
{
    (void)state;
    struct rig *rig = rig_with_request(GET);
    static char noise[8 * 1024];
    size_t taken = 0;
    memset(noise, 'G', sizeof(noise));
    for (int i = 0; i < 100; i++) {
        ssize_t n = osb_stream_write(rig->peer, osb_slice(noise, sizeof(noise)));
        taken += n > 0 ? (size_t)n : 0;
        rig_settle(rig);
    }
    /* The pipe's own capacity, one read beyond the mark. */
    assert_true(taken <= RIG_CAPACITY + 16 * 1024 + RIG_CAPACITY);
    osb_http_abort(current);
    rig_settle(rig);
    assert_int_equal(rig->closed, 1);
    rig_free(rig);
}

/* ---- back-pressure of the answer ---- */

static size_t most_queued;
static int drains;
static int blocks_left;

static void write_more(struct osb_http_exchange *x, void *arg)
{
    static char block[10 * 1000];
    (void)arg;
    drains++;
    size_t queued = 0;
    while (blocks_left > 0 && queued < 64 * 1024) {
        blocks_left--;
        queued = osb_http_reply_write(x, osb_slice(block, sizeof(block)));
        if (queued > most_queued)
            most_queued = queued;
    }
    if (blocks_left == 0) {
        blocks_left = -1;
        osb_http_reply_end(x);
    }
}

static void a_long_answer_keeps_memory_flat_and_waits_for_a_slow_peer(void **state)
{
    (void)state;
    struct rig *rig = rig_with_request(GET);
    rig->is_dropping = true;
    most_queued = 0;
    drains = 0;
    blocks_left = 5000; /* 50 MB */
    osb_stream_want(rig->peer, 0);
    osb_http_reply_start(current, 200, NULL, -1);
    osb_http_on_drain(current, write_more, NULL);
    rig_settle(rig);
    assert_int_equal(drains, 1); /* the head is out; then the window is full */
    int before = blocks_left;
    rig_advance_ms(rig, 30 * 1000);
    assert_int_equal(blocks_left, before);
    osb_stream_want(rig->peer, OSB_READABLE);
    rig_settle(rig);
    assert_int_equal(rig->completed, 1);
    assert_true(most_queued < 80 * 1024);
    assert_true(rig->seen_total > 50 * 1000 * 1000);
    rig_free(rig);
}

static void a_peer_that_takes_nothing_is_cut(void **state)
{
    (void)state;
    struct osb_http_server_options options = {.write_timeout_ms = 5000};
    struct rig *rig = rig_new(keep, NULL, &options);
    rig_send_str(rig, GET);
    osb_stream_want(rig->peer, 0);
    rig_advance_ms(rig, 60 * 1000); /* a quiet handler is no reason */
    assert_int_equal(rig->closed, 0);
    static char block[200 * 1000];
    osb_http_reply_start(current, 200, NULL, -1);
    osb_http_reply_write(current, osb_slice(block, sizeof(block)));
    rig_advance_ms(rig, 4999);
    assert_int_equal(rig->closed, 0);
    osb_stream_want(rig->peer, OSB_READABLE); /* a little progress */
    osb_loop_turn(rig->loop, 0);
    osb_stream_want(rig->peer, 0);
    rig_advance_ms(rig, 4000);
    assert_int_equal(rig->closed, 0);
    rig_advance_ms(rig, 2000);
    assert_int_equal(rig->closed, 1);
    assert_int_equal(rig->completed, 0);
    rig_free(rig);
}

/* ---- request bodies as streams ---- */

static size_t body_bytes;
static bool is_body_end;

static void take_body(struct osb_http_exchange *x, struct osb_slice data, bool is_end, void *arg)
{
    (void)arg;
    body_bytes += data.len;
    is_body_end |= is_end;
    if (is_end)
        osb_http_reply(x, 200, NULL, OSB_SLICE("taken"));
}

static void a_long_upload_is_streamed(void **state)
{
    (void)state;
    static char block[32 * 1024];
    struct rig *rig =
        rig_with_request("PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 16777216\r\n\r\n");
    body_bytes = 0;
    is_body_end = false;
    osb_http_on_body(current, take_body, NULL);
    for (int i = 0; i < 512; i++)
        rig_send(rig, osb_slice(block, sizeof(block)));
    assert_int_equal(body_bytes, 16 << 20);
    assert_true(is_body_end);
    assert_true(rig_saw(rig, "taken"));
    rig_free(rig);
}

static void a_paused_body_is_not_read(void **state)
{
    (void)state;
    static char block[32 * 1024];
    struct rig *rig =
        rig_with_request("PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 16777216\r\n\r\n");
    body_bytes = 0;
    osb_http_on_body(current, take_body, NULL);
    osb_http_body_pause(current);
    size_t taken = 0;
    for (int i = 0; i < 512; i++) {
        ssize_t n = osb_stream_write(rig->peer, osb_slice(block, sizeof(block)));
        taken += n > 0 ? (size_t)n : 0;
        rig_settle(rig);
    }
    assert_int_equal(body_bytes, 0);
    assert_true(taken <= 3 * RIG_CAPACITY);
    rig_advance_ms(rig, 120 * 1000); /* the wait is ours, not the peer's */
    assert_int_equal(rig->closed, 0);
    osb_http_body_resume(current);
    rig_settle(rig);
    assert_int_equal(body_bytes, taken);
    rig_free(rig);
}

static void echo_body(struct osb_http_exchange *x, struct osb_slice data, bool is_end, void *arg)
{
    (void)arg;
    if (is_end)
        osb_http_reply_end(x);
    else
        osb_http_reply_write(x, data);
}

static void an_answer_may_run_while_the_body_comes_in(void **state)
{
    (void)state;
    struct rig *rig =
        rig_with_request("PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
    osb_http_reply_start(current, 200, NULL, -1);
    osb_http_on_body(current, echo_body, NULL);
    rig_settle(rig);
    rig_seen(rig);
    rig_send_str(rig, "3\r\nabc\r\n");
    assert_string_equal(rig_seen(rig), "3\r\nabc\r\n");
    rig_send_str(rig, "2\r\nde\r\n0\r\n\r\n");
    assert_string_equal(rig_seen(rig), "2\r\nde\r\n0\r\n\r\n");
    assert_int_equal(rig->completed, 1);
    assert_false(rig->is_at_end);
    rig_free(rig);
}

/* ---- files ---- */

static int temporary_file(size_t len)
{
    char path[] = "/tmp/osb-http-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    for (size_t i = 0; i < len; i++)
        assert_int_equal(pwrite(fd, &"0123456789"[i % 10], 1, (off_t)i), 1);
    return fd;
}

static void a_part_of_a_file_is_an_answer(void **state)
{
    (void)state;
    struct rig *rig = rig_with_request(GET);
    osb_http_reply_file(current, 206, "text/plain", temporary_file(100), 5, 10);
    rig_settle(rig);
    assert_true(rig_saw(rig, "206 Partial Content"));
    assert_true(rig_saw(rig, "Content-Length: 10\r\n\r\n5678901234"));
    assert_int_equal(rig->completed, 1);

    rig_send_str(rig, "HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n");
    rig_seen(rig);
    osb_http_reply_file(current, 200, NULL, temporary_file(3), 0, 3);
    rig_settle(rig);
    assert_true(rig_saw(rig, "Content-Length: 3\r\n\r\n"));
    assert_false(rig_saw(rig, "012"));
    rig_free(rig);
}

static void a_large_file_is_sent_whole_and_a_shrunken_one_is_cut(void **state)
{
    (void)state;
    enum { LEN = 300 * 1000 };
    struct rig *rig = rig_with_request(GET);
    rig->is_dropping = true;
    osb_http_reply_file(current, 200, NULL, temporary_file(LEN), 0, LEN);
    rig_settle(rig);
    assert_int_equal(rig->completed, 1);
    assert_true(rig->seen_total > LEN && rig->seen_total < LEN + 200);

    rig_send_str(rig, GET);
    osb_http_reply_file(current, 200, NULL, temporary_file(20 * 1000), 0, LEN);
    rig_settle(rig);
    assert_int_equal(rig->closed, 2);
    assert_int_equal(rig->completed, 1);
    assert_true(rig->is_at_end);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_is_sent_piece_by_piece),
        cmocka_unit_test(a_chunk_and_the_last_one_go_out_in_one_write),
        cmocka_unit_test(old_clients_get_a_stream_that_ends_with_the_connection),
        cmocka_unit_test(a_stream_with_a_length_has_no_chunks),
        cmocka_unit_test(a_client_that_leaves_ends_the_exchange_at_once),
        cmocka_unit_test(a_client_that_leaves_before_the_answer_is_noticed),
        cmocka_unit_test(requests_sent_ahead_survive_a_running_answer),
        cmocka_unit_test(reading_ahead_is_bounded),
        cmocka_unit_test(a_long_answer_keeps_memory_flat_and_waits_for_a_slow_peer),
        cmocka_unit_test(a_peer_that_takes_nothing_is_cut),
        cmocka_unit_test(a_long_upload_is_streamed),
        cmocka_unit_test(a_paused_body_is_not_read),
        cmocka_unit_test(an_answer_may_run_while_the_body_comes_in),
        cmocka_unit_test(a_part_of_a_file_is_an_answer),
        cmocka_unit_test(a_large_file_is_sent_whole_and_a_shrunken_one_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
