// SPDX-License-Identifier: Apache-2.0
#include "rig.h"

static struct osb_http_exchange *current;
static int bodies;

static void got_body(struct osb_http_exchange *x, struct osb_slice body, void *arg)
{
    (void)body;
    (void)arg;
    bodies++;
    current = x;
}

static void collect(struct osb_http_exchange *x, void *arg)
{
    osb_http_on_close(x, rig_count_close, arg);
    osb_http_collect(x, 0, got_body, NULL);
}

#define GET "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"

static void a_slow_head_is_408(void **state)
{
    (void)state;
    struct osb_http_server_options options = {.head_timeout_ms = 1000};
    struct rig *rig = rig_new(collect, NULL, &options);
    rig_advance_ms(rig, 5000); /* nothing was begun */
    for (int i = 0; i < 9; i++) {
        rig_send_str(rig, "GET /aaaaaaaa" + (i == 0 ? 0 : 8));
        rig_advance_ms(rig, 100);
    }
    assert_string_equal(rig_seen(rig), "");
    rig_advance_ms(rig, 200);
    assert_true(rig_saw(rig, "HTTP/1.1 408 Request Timeout"));
    assert_true(rig->is_at_end);
    rig_free(rig);
}

static void a_slow_body_is_408(void **state)
{
    (void)state;
    struct osb_http_server_options options = {.body_timeout_ms = 1000};
    struct rig *rig = rig_new(collect, NULL, &options);
    bodies = 0;
    rig_send_str(rig, "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 20\r\n\r\n");
    for (int i = 0; i < 10; i++) {
        rig_advance_ms(rig, 900);
        rig_send_str(rig, "x");
    }
    assert_string_equal(rig_seen(rig), "");
    rig_advance_ms(rig, 1100);
    assert_true(rig_saw(rig, "HTTP/1.1 408 Request Timeout"));
    assert_int_equal(bodies, 0);
    assert_int_equal(rig->closed, 1);
    rig_free(rig);
}

static void an_idle_connection_is_closed_quietly(void **state)
{
    (void)state;
    struct osb_http_server_options options = {.idle_timeout_ms = 1000};
    struct rig *rig = rig_new(collect, NULL, &options);
    rig_send_str(rig, GET);
    rig_advance_ms(rig, 100 * 1000); /* a handler may take its time */
    assert_false(rig->is_at_end);
    osb_http_reply(current, 200, NULL, OSB_SLICE_NULL);
    rig_advance_ms(rig, 999);
    assert_false(rig->is_at_end);
    rig_seen(rig);
    rig_advance_ms(rig, 2);
    assert_true(rig->is_at_end);
    assert_string_equal(rig_seen(rig), "");
    assert_int_equal(osb_http_server_connections(rig->server), 0);
    rig_free(rig);
}

static void connections_over_the_limit_get_503(void **state)
{
    (void)state;
    struct osb_http_server_options options = {.max_connections = 1};
    struct rig *rig = rig_new(collect, NULL, &options);
    rig_send_str(rig, GET);
    struct osb_stream *first = osb_take_ptr(rig->peer);
    rig_connect(rig);
    rig_send_str(rig, GET);
    assert_true(rig_saw(rig, "HTTP/1.1 503 Service Unavailable"));
    assert_true(rig->is_at_end);
    assert_int_equal(osb_http_server_connections(rig->server), 1);
    osb_stream_close(first);
    rig_settle(rig);
    rig_connect(rig);
    rig_send_str(rig, GET);
    assert_int_equal(osb_http_server_connections(rig->server), 1);
    osb_http_reply(current, 200, NULL, OSB_SLICE_NULL);
    rig_settle(rig);
    assert_true(rig_saw(rig, "200 OK"));
    rig_free(rig);
}

static void a_smaller_head_limit_is_kept(void **state)
{
    (void)state;
    struct osb_http_server_options options = {.max_head = 100};
    struct rig *rig = rig_new(collect, NULL, &options);
    rig_send_str(rig, "GET / HTTP/1.1\r\nHost: h\r\nX: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n\r\n");
    assert_true(rig_saw(rig, "HTTP/1.1 431 "));
    rig_connect(rig);
    rig_send_str(rig, "GET / HTTP/1.1\r\nHost: h\r\nX: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n");
    assert_true(rig_saw(rig, "HTTP/1.1 431 "));
    rig_free(rig);
}

static void count_drained(void *arg)
{
    ++*(int *)arg;
}

static void a_drain_lets_running_exchanges_end(void **state)
{
    (void)state;
    struct rig *rig = rig_new(collect, NULL, NULL);
    struct osb_stream *idle;
    struct osb_stream *served;
    assert_int_equal(osb_stream_pair(rig->loop, 1000, &idle, &served), 0);
    osb_http_server_serve(rig->server, served, "idle");
    rig_send_str(rig, GET);
    int drained = 0;
    osb_http_server_drain(rig->server, count_drained, &drained);
    rig_settle(rig);
    assert_int_equal(osb_http_server_connections(rig->server), 1);
    assert_int_equal(drained, 0);
    osb_http_reply(current, 200, NULL, OSB_SLICE("last"));
    rig_settle(rig);
    assert_true(rig_saw(rig, "Connection: close\r\n\r\nlast"));
    assert_int_equal(drained, 1);
    osb_stream_close(idle);
    rig_free(rig);
}

static void freeing_the_server_closes_running_exchanges(void **state)
{
    (void)state;
    struct rig *rig = rig_new(collect, NULL, NULL);
    rig_send_str(rig, GET);
    osb_http_reply_start(current, 200, NULL, -1);
    osb_http_server_free(rig->server);
    assert_int_equal(rig->closed, 1);
    assert_int_equal(rig->completed, 0);
    rig->server = NULL;
    rig_free(rig);
}

static void an_end_of_file_is_quiet_when_idle_and_ends_a_half_request(void **state)
{
    (void)state;
    struct rig *rig = rig_new(collect, NULL, NULL);
    osb_stream_shutdown(rig->peer);
    rig_settle(rig);
    assert_true(rig->is_at_end);
    assert_string_equal(rig_seen(rig), "");
    rig_connect(rig);
    rig_send_str(rig, "GET / HT");
    osb_stream_shutdown(rig->peer);
    rig_settle(rig);
    assert_true(rig->is_at_end);
    rig_connect(rig);
    rig_send_str(rig, "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 20\r\n\r\nabc");
    osb_stream_shutdown(rig->peer);
    rig_settle(rig);
    assert_true(rig->is_at_end);
    assert_int_equal(rig->closed, 1);
    assert_int_equal(osb_http_server_connections(rig->server), 0);
    rig_free(rig);
}

static void answer_at_once(struct osb_http_exchange *x, void *arg)
{
    static char block[100 * 1000];
    osb_http_on_close(x, rig_count_close, arg);
    osb_http_reply(x, 200, NULL, osb_slice(block, sizeof(block)));
}

static void a_client_that_half_closes_still_gets_a_whole_answer(void **state)
{
    (void)state;
    struct rig *rig = rig_new(answer_at_once, NULL, NULL);
    rig->is_dropping = true;
    osb_stream_want(rig->peer, 0);
    rig_send_str(rig, GET);
    osb_stream_shutdown(rig->peer);
    rig_settle(rig);
    osb_stream_want(rig->peer, OSB_READABLE);
    rig_settle(rig);
    assert_true(rig->seen_total > 100 * 1000);
    assert_int_equal(rig->completed, 1);
    assert_true(rig->is_at_end);
    rig_free(rig);
}

static void abort_in_handler(struct osb_http_exchange *x, void *arg)
{
    osb_http_on_close(x, rig_count_close, arg);
    osb_http_abort(x);
    osb_http_reply(x, 200, NULL, OSB_SLICE("never"));
}

static void an_aborted_exchange_answers_nothing(void **state)
{
    (void)state;
    struct rig *rig = rig_new(abort_in_handler, NULL, NULL);
    rig_send_str(rig, GET);
    assert_true(rig->is_at_end);
    assert_string_equal(rig_seen(rig), "");
    assert_int_equal(rig->closed, 1);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_head_is_408),
        cmocka_unit_test(a_slow_body_is_408),
        cmocka_unit_test(an_idle_connection_is_closed_quietly),
        cmocka_unit_test(connections_over_the_limit_get_503),
        cmocka_unit_test(a_smaller_head_limit_is_kept),
        cmocka_unit_test(a_drain_lets_running_exchanges_end),
        cmocka_unit_test(freeing_the_server_closes_running_exchanges),
        cmocka_unit_test(an_end_of_file_is_quiet_when_idle_and_ends_a_half_request),
        cmocka_unit_test(a_client_that_half_closes_still_gets_a_whole_answer),
        cmocka_unit_test(an_aborted_exchange_answers_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
