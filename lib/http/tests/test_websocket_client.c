// SPDX-License-Identifier: Apache-2.0
// Both ends of a WebSocket over a loopback socket, and servers that do not know the handshake.
#include <osb/websocket.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MAX_TURNS = 5000, LARGE = 300 * 1000 };

static struct osb_loop *loop;
static struct osb_http_client *client;
static struct osb_http_server *server;
static struct osb_listener *listener;

static struct {
    struct osb_ws *ws;
    bool is_open;
    size_t bytes;
    int messages;
    bool is_closed;
    int code;
    char reason[128];
} near, far;

/* ---- the server's end: echoes, closes on "bye" ---- */

static void far_message(struct osb_ws *ws, enum osb_ws_type type, struct osb_slice data, void *arg)
{
    (void)arg;
    far.messages++;
    if (osb_slice_eq_str(data, "bye"))
        osb_ws_close(ws, 1000, "as asked");
    else
        osb_ws_send(ws, type, data);
}

static void far_close(struct osb_ws *ws, int code, struct osb_slice reason, void *arg)
{
    (void)ws;
    (void)reason;
    (void)arg;
    far.is_closed = true;
    far.code = code;
    far.ws = NULL;
}

static void handle(struct osb_http_exchange *x, void *arg)
{
    static const char *const protocols[] = {"two", NULL};
    static const struct osb_ws_callbacks callbacks = {.on_message = far_message,
                                                      .on_close = far_close};
    struct osb_ws_options options = {.protocols = protocols};
    struct osb_slice path = osb_http_raw_path(x);
    (void)arg;
    if (osb_slice_eq_str(path, "/no")) {
        osb_http_reply(x, 403, NULL, OSB_SLICE("no"));
    } else if (osb_slice_eq_str(path, "/wrong")) {
        struct osb_buf leftover = {0};
        osb_http_reply_header(x, "Upgrade", OSB_SLICE("websocket"));
        osb_http_reply_header(x, "Sec-WebSocket-Accept", OSB_SLICE("AAAA"));
        osb_stream_close(osb_http_upgrade(x, &leftover));
        osb_buf_done(&leftover);
    } else if (!osb_slice_eq_str(path, "/never")) {
        assert_int_equal(osb_ws_accept(x, &options, &callbacks, NULL, &far.ws, NULL), 0);
    }
}

/* ---- the client's end ---- */

static void near_open(struct osb_ws *ws, void *arg)
{
    (void)arg;
    near.is_open = true;
    osb_ws_send(ws, OSB_WS_TEXT, OSB_SLICE("first"));
}

static void near_message(struct osb_ws *ws, enum osb_ws_type type, struct osb_slice data, void *arg)
{
    (void)ws;
    (void)type;
    (void)arg;
    near.messages++;
    near.bytes += data.len;
}

static void near_close(struct osb_ws *ws, int code, struct osb_slice reason, void *arg)
{
    (void)ws;
    (void)arg;
    assert_false(near.is_closed);
    near.is_closed = true;
    near.code = code;
    snprintf(near.reason, sizeof(near.reason), "%.*s", OSB_SLICE_ARG(reason));
    near.ws = NULL;
}

static const struct osb_ws_callbacks callbacks = {
    .on_open = near_open,
    .on_message = near_message,
    .on_close = near_close,
};

static int set_up(void **state)
{
    (void)state;
    memset(&near, 0, sizeof(near));
    memset(&far, 0, sizeof(far));
    assert_int_equal(osb_loop_new_epoll(&loop, NULL), 0);
    assert_int_equal(osb_http_client_new(loop, NULL, &client, NULL), 0);
    assert_int_equal(osb_http_server_new(loop, NULL, handle, NULL, &server, NULL), 0);
    assert_int_equal(
        osb_listener_new_tcp(loop, "127.0.0.1", 0, osb_http_server_accept, server, &listener, NULL),
        0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    osb_ws_free(near.ws);
    osb_ws_free(far.ws);
    osb_http_client_free(client);
    osb_listener_free(listener);
    osb_http_server_free(server);
    osb_loop_free(loop);
    return 0;
}

static void dial(const char *target, const char *const *protocols)
{
    struct osb_ws_options options = {.protocols = protocols, .needs_protocol = protocols != NULL};
    struct osb_http_request request = {
        .origin = {.address = "127.0.0.1", .port = osb_listener_port(listener)},
        .target = target,
        .timeout_ms = 20,
    };
    assert_int_equal(osb_ws_connect(client, &request, &options, &callbacks, NULL, &near.ws, NULL),
                     0);
}

static void turn_until_messages(int count)
{
    for (int i = 0; i < MAX_TURNS && near.messages < count; i++)
        osb_loop_turn(loop, 100);
    assert_int_equal(near.messages, count);
}

static void turn_until(const bool *flag)
{
    for (int i = 0; i < MAX_TURNS && !*flag; i++)
        osb_loop_turn(loop, 100);
    assert_true(*flag);
}

static void both_ends_talk_and_close(void **state)
{
    (void)state;
    static char large[LARGE];
    static const char *const protocols[] = {"one", "two", NULL};
    dial("/ws", protocols);
    turn_until_messages(1);
    assert_true(near.is_open);
    assert_string_equal(osb_ws_protocol(near.ws), "two");
    for (int i = 0; i < 10; i++)
        osb_ws_send(near.ws, OSB_WS_BINARY, osb_slice(large, sizeof(large)));
    turn_until_messages(11);
    assert_int_equal(near.bytes, 5 + 10 * LARGE);
    osb_ws_send(near.ws, OSB_WS_TEXT, OSB_SLICE("bye"));
    turn_until(&near.is_closed);
    turn_until(&far.is_closed);
    assert_int_equal(near.code, 1000);
    assert_string_equal(near.reason, "as asked");
    assert_int_equal(far.code, 1000);
}

static void the_client_may_close_first(void **state)
{
    (void)state;
    dial("/ws", NULL);
    turn_until_messages(1);
    osb_ws_close(near.ws, 1001, "leaving");
    turn_until(&near.is_closed);
    turn_until(&far.is_closed);
    assert_int_equal(near.code, 1001);
    assert_int_equal(far.code, 1001);
}

static void failed_handshakes_say_why(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        const char *reason;
    } cases[] = {
        {"/no", "the server did not switch protocols: status 403"},
        {"/wrong", "the server's handshake is wrong"},
        {"/never", "no answer in time"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        memset(&near, 0, sizeof(near));
        dial(cases[i].target, NULL);
        turn_until(&near.is_closed);
        assert_int_equal(near.code, OSB_WS_ABNORMAL);
        assert_string_equal(near.reason, cases[i].reason);
        assert_false(near.is_open);
    }
}

static void a_missing_subprotocol_fails_the_handshake(void **state)
{
    (void)state;
    static const char *const protocols[] = {"three", NULL};
    dial("/ws", protocols);
    turn_until(&near.is_closed);
    assert_string_equal(near.reason, "the server agreed on no subprotocol");
}

static void a_socket_may_be_freed_while_it_connects(void **state)
{
    (void)state;
    dial("/ws", NULL);
    osb_ws_free(near.ws);
    dial("/never", NULL);
    osb_loop_turn(loop, 10);
    osb_loop_turn(loop, 10);
    osb_ws_free(near.ws);
    near.ws = NULL;
    osb_loop_turn(loop, 10);
    assert_false(near.is_closed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(both_ends_talk_and_close, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_client_may_close_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(failed_handshakes_say_why, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_missing_subprotocol_fails_the_handshake, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_socket_may_be_freed_while_it_connects, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
