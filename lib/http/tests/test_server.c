// SPDX-License-Identifier: Apache-2.0
#include "rig.h"

/* Answers "METHOD PATH BODY" as text. */
static void answer_body(struct osb_http_exchange *x, struct osb_slice body, void *arg)
{
    (void)arg;
    struct osb_slice method = osb_http_method(x);
    struct osb_slice path = osb_http_raw_path(x);
    char *text = osb_arena_printf(osb_http_arena(x), "%.*s %.*s %.*s", OSB_SLICE_ARG(method),
                                  OSB_SLICE_ARG(path), OSB_SLICE_ARG(body));
    osb_http_reply(x, 200, "text/plain", osb_slice_str(text));
}

static void echo(struct osb_http_exchange *x, void *arg)
{
    osb_http_on_close(x, rig_count_close, arg);
    osb_http_collect(x, 1000, answer_body, arg);
}

#define HELLO                                                                                      \
    "HTTP/1.1 200 OK\r\n" RIG_DATE "Content-Type: text/plain\r\nContent-Length: 7\r\n\r\nGET /a "

static void a_request_gets_its_answer(void **state)
{
    (void)state;
    struct rig *rig = rig_new(echo, NULL, NULL);
    rig_send_str(rig, "GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_string_equal(rig_seen(rig), HELLO);
    assert_int_equal(rig->completed, 1);
    rig_send_str(rig, "GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_string_equal(rig_seen(rig), HELLO);
    assert_int_equal(rig->completed, 2);
    assert_false(rig->is_at_end);
    rig_free(rig);
}

static void a_request_may_be_cut_at_any_byte(void **state)
{
    (void)state;
    struct osb_slice text =
        OSB_SLICE("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
                  "\r\n3\r\nabc\r\n0\r\nT: r\r\n\r\n");
    for (size_t cut = 1; cut < text.len; cut++) {
        struct rig *rig = rig_new(echo, NULL, NULL);
        rig_send(rig, osb_slice_first(text, cut));
        rig_send(rig, osb_slice_from(text, cut));
        assert_true(rig_saw(rig, "Content-Length: 11\r\n\r\nPOST /a abc"));
        rig_free(rig);
    }
}

static void a_request_may_come_byte_by_byte(void **state)
{
    (void)state;
    struct osb_slice text =
        OSB_SLICE("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc");
    struct rig *rig = rig_new(echo, NULL, NULL);
    for (size_t i = 0; i < text.len; i++)
        rig_send(rig, osb_slice(text.data + i, 1));
    assert_true(rig_saw(rig, "Content-Length: 11\r\n\r\nPOST /a abc"));
    rig_free(rig);
}

static void pipelined_requests_are_answered_in_order(void **state)
{
    (void)state;
    struct rig *rig = rig_new(echo, NULL, NULL);
    rig_send_str(rig, "GET /1 HTTP/1.1\r\nHost: h\r\n\r\n"
                      "POST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nxy"
                      "GET /3 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    const char *seen = rig_seen(rig);
    const char *one = strstr(seen, "GET /1 ");
    const char *two = strstr(seen, "POST /2 xy");
    const char *three = strstr(seen, "GET /3 ");
    assert_true(one && two && three && one < two && two < three);
    assert_non_null(strstr(seen, "Connection: close"));
    assert_true(rig->is_at_end);
    assert_int_equal(rig->completed, 3);
    rig_free(rig);
}

static void head_requests_get_no_body(void **state)
{
    (void)state;
    struct rig *rig = rig_new(echo, NULL, NULL);
    rig_send_str(rig, "HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n");
    const char *seen = rig_seen(rig);
    assert_non_null(strstr(seen, "Content-Length: 8\r\n\r\n"));
    assert_null(strstr(seen, "HEAD /a"));
    rig_send_str(rig, "GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_string_equal(rig_seen(rig), HELLO);
    rig_free(rig);
}

static void old_clients_are_closed_unless_they_ask(void **state)
{
    (void)state;
    struct rig *rig = rig_new(echo, NULL, NULL);
    rig_send_str(rig, "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_true(rig_saw(rig, "Connection: keep-alive\r\n"));
    assert_false(rig->is_at_end);
    rig_send_str(rig, "GET /a HTTP/1.0\r\n\r\n");
    assert_true(rig_saw(rig, "Connection: close\r\n"));
    assert_true(rig->is_at_end);
    rig_free(rig);
}

static void a_body_is_asked_for_with_100_once(void **state)
{
    (void)state;
    struct rig *rig = rig_new(echo, NULL, NULL);
    rig_send_str(rig, "POST /a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
                      "Content-Length: 2\r\n\r\n");
    assert_string_equal(rig_seen(rig), "HTTP/1.1 100 Continue\r\n\r\n");
    rig_send_str(rig, "x");
    assert_string_equal(rig_seen(rig), "");
    rig_send_str(rig, "y");
    assert_true(rig_saw(rig, "POST /a xy"));
    rig_free(rig);
}

static void refuse_early(struct osb_http_exchange *x, void *arg)
{
    osb_http_on_close(x, rig_count_close, arg);
    osb_http_reply(x, 403, NULL, OSB_SLICE_NULL);
}

static void a_body_that_nobody_asked_for_ends_the_connection(void **state)
{
    (void)state;
    struct rig *rig = rig_new(refuse_early, NULL, NULL);
    rig_send_str(rig, "POST /a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
                      "Content-Length: 2\r\n\r\n");
    assert_true(rig_saw(rig, "403 Forbidden"));
    assert_true(rig_saw(rig, "Connection: close\r\n"));
    assert_true(rig->is_at_end);
    rig_free(rig);
}

static void a_small_unread_body_is_dropped_and_the_connection_kept(void **state)
{
    (void)state;
    struct rig *rig = rig_new(refuse_early, NULL, NULL);
    rig_send_str(rig, "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc");
    assert_true(rig_saw(rig, "403 Forbidden"));
    rig_seen(rig);
    rig_send_str(rig, "defghijGET /b HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_true(rig_saw(rig, "403 Forbidden"));
    assert_false(rig->is_at_end);
    assert_int_equal(rig->completed, 2);
    rig_free(rig);
}

static void a_large_unread_body_is_taken_until_the_peer_has_the_answer(void **state)
{
    (void)state;
    static char block[50000];
    struct rig *rig = rig_new(refuse_early, NULL, NULL);
    rig_send_str(rig, "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 900000\r\n\r\n");
    assert_true(rig_saw(rig, "Connection: close\r\n"));
    assert_true(rig->is_at_end); /* the writing side alone */
    for (int i = 0; i < 10; i++)
        rig_send(rig, osb_slice(block, sizeof(block)));
    assert_int_equal(osb_http_server_connections(rig->server), 1);
    rig_advance_ms(rig, 6000);
    assert_int_equal(osb_http_server_connections(rig->server), 0);
    rig_free(rig);
}

static void a_body_over_the_limit_is_413(void **state)
{
    (void)state;
    struct rig *rig = rig_new(echo, NULL, NULL);
    rig_send_str(rig, "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n");
    assert_true(rig_saw(rig, "HTTP/1.1 413 Content Too Large"));
    assert_true(rig_saw(rig, "{\"code\":\"INVALID_REQUEST\",\"message\":\""));
    assert_int_equal(rig->closed, 1);

    rig_connect(rig);
    rig_send_str(rig, "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n");
    static char block[1001];
    rig_send(rig, osb_slice(block, sizeof(block)));
    assert_true(rig_saw(rig, "HTTP/1.1 413 Content Too Large"));
    assert_int_equal(rig->closed, 2);
    rig_free(rig);
}

static void bad_requests_are_answered_and_closed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *status;
    } cases[] = {
        {"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n"},
        {"GET / HTTP/1.1\nHost: a\n\n", "HTTP/1.1 400 Bad Request\r\n"},
        {"GET / HTTP/3.0\r\n\r\n", "HTTP/1.1 505 HTTP Version Not Supported\r\n"},
        {"\x16\x03\x01", "HTTP/1.1 400 Bad Request\r\n"},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n",
         "HTTP/1.1 501 Not Implemented\r\n"},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
         "HTTP/1.1 400 Bad Request\r\n"},
    };
    struct rig *rig = rig_new(echo, NULL, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        rig_connect(rig);
        rig_send_str(rig, cases[i].text);
        assert_int_equal(strncmp(rig_seen(rig), cases[i].status, strlen(cases[i].status)), 0);
        assert_true(rig->is_at_end);
    }
    rig_free(rig);
}

static void answer_query(struct osb_http_exchange *x, void *arg)
{
    (void)arg;
    struct osb_slice a = OSB_SLICE("none");
    struct osb_slice b = OSB_SLICE("none");
    osb_http_query(x, "a b", &a);
    osb_http_query_at(x, "k", 1, &b);
    assert_false(osb_http_query(x, "bad", NULL));
    assert_false(osb_http_query(x, "absent", NULL));
    assert_true(osb_slice_eq_str(osb_http_raw_path(x), "/p%20q"));
    osb_http_reply_headerf(x, "X-A", "%.*s", OSB_SLICE_ARG(a));
    osb_http_reply_header(x, "X-B", b);
    osb_http_reply_header(x, "X-Split", OSB_SLICE("a\r\nX-Evil: 1"));
    osb_http_reply_header(x, "Content-Length", OSB_SLICE("77"));
    osb_http_reply(x, 204, NULL, OSB_SLICE_NULL);
}

static void query_parameters_are_decoded(void **state)
{
    (void)state;
    struct rig *rig = rig_new(answer_query, NULL, NULL);
    rig_send_str(rig, "GET /p%20q?k=1&a+b=x%26+y&bad=%zz&k=2 HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_string_equal(rig_seen(rig),
                        "HTTP/1.1 204 No Content\r\n" RIG_DATE "X-A: x& y\r\nX-B: 2\r\n\r\n");
    rig_send_str(rig, "GET http://h/p%20q?k=1&k=3 HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_true(rig_saw(rig, "X-B: 3\r\n"));
    rig_free(rig);
}

static struct osb_buf upgraded_leftover;
static struct osb_stream *upgraded;

static void upgrade(struct osb_http_exchange *x, void *arg)
{
    osb_http_on_close(x, rig_count_close, arg);
    osb_http_reply_header(x, "Upgrade", OSB_SLICE("echo"));
    upgraded = osb_http_upgrade(x, &upgraded_leftover);
}

static void an_upgrade_hands_the_stream_over(void **state)
{
    (void)state;
    struct rig *rig = rig_new(upgrade, NULL, NULL);
    rig_send_str(rig,
                 "GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\nabc");
    assert_string_equal(rig_seen(rig), "HTTP/1.1 101 Switching Protocols\r\n" RIG_DATE
                                       "Connection: Upgrade\r\nUpgrade: echo\r\n\r\n");
    assert_true(osb_slice_eq_str(osb_buf_slice(&upgraded_leftover), "abc"));
    assert_int_equal(rig->completed, 1);
    assert_int_equal(osb_http_server_connections(rig->server), 0);
    assert_int_equal(osb_stream_write(upgraded, OSB_SLICE("hi")), 2);
    rig_settle(rig);
    assert_string_equal(rig_seen(rig), "hi");
    osb_stream_close(upgraded);
    osb_buf_done(&upgraded_leftover);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_gets_its_answer),
        cmocka_unit_test(a_request_may_be_cut_at_any_byte),
        cmocka_unit_test(a_request_may_come_byte_by_byte),
        cmocka_unit_test(pipelined_requests_are_answered_in_order),
        cmocka_unit_test(head_requests_get_no_body),
        cmocka_unit_test(old_clients_are_closed_unless_they_ask),
        cmocka_unit_test(a_body_is_asked_for_with_100_once),
        cmocka_unit_test(a_body_that_nobody_asked_for_ends_the_connection),
        cmocka_unit_test(a_small_unread_body_is_dropped_and_the_connection_kept),
        cmocka_unit_test(a_large_unread_body_is_taken_until_the_peer_has_the_answer),
        cmocka_unit_test(a_body_over_the_limit_is_413),
        cmocka_unit_test(bad_requests_are_answered_and_closed),
        cmocka_unit_test(query_parameters_are_decoded),
        cmocka_unit_test(an_upgrade_hands_the_stream_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
