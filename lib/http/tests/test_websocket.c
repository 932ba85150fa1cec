// SPDX-License-Identifier: Apache-2.0
#include "rig.h"
#include "sha1.h"
#include "ws_frame.h"

#include <osb/websocket.h>

static struct osb_ws *ws;
static struct osb_buf log_text;
static int closes;
static int drains;
static int accept_result;
static struct osb_err accept_err;

static void on_message(struct osb_ws *socket, enum osb_ws_type type, struct osb_slice data,
                       void *arg)
{
    (void)arg;
    osb_buf_appendf(&log_text, "%c%zu:%.*s;", type == OSB_WS_TEXT ? 't' : 'b', data.len,
                    OSB_SLICE_ARG(osb_slice_first(data, 20)));
    if (osb_slice_eq_str(data, "echo"))
        osb_ws_send(socket, type, data);
    if (osb_slice_eq_str(data, "free"))
        osb_ws_free(socket);
}

static void on_drain(struct osb_ws *socket, void *arg)
{
    (void)socket;
    (void)arg;
    drains++;
}

static void on_close(struct osb_ws *socket, int code, struct osb_slice reason, void *arg)
{
    (void)arg;
    assert_ptr_equal(socket, ws);
    closes++;
    ws = NULL;
    osb_buf_appendf(&log_text, "close %d %.*s", code, OSB_SLICE_ARG(reason));
}

static const struct osb_ws_callbacks callbacks = {
    .on_message = on_message,
    .on_drain = on_drain,
    .on_close = on_close,
};

static const char *const protocols[] = {"v5", "v4", NULL};
static struct osb_ws_options options = {.max_message = 100000, .protocols = protocols};

static void handle(struct osb_http_exchange *x, void *arg)
{
    osb_http_on_close(x, rig_count_close, arg);
    osb_err_clear(&accept_err);
    accept_result = osb_ws_accept(x, &options, &callbacks, NULL, &ws, &accept_err);
    if (accept_result < 0)
        osb_http_reply(x, accept_err.http_status, NULL, OSB_SLICE_NULL);
}

#define HANDSHAKE                                                                                  \
    "GET /ws HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n"     \
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

static struct rig *open_rig(void)
{
    closes = drains = 0;
    ws = NULL;
    osb_buf_clear(&log_text);
    struct rig *rig = rig_new(handle, NULL, NULL);
    rig_send_str(rig, HANDSHAKE "\r\n");
    assert_non_null(ws);
    rig_seen(rig);
    return rig;
}

static void close_rig(struct rig *rig)
{
    osb_ws_free(ws);
    ws = NULL;
    rig_free(rig);
    osb_buf_done(&log_text);
}

/* Sends one frame as a client does. */
static void send_raw(struct rig *rig, int first_byte, bool is_masked, struct osb_slice data)
{
    struct ws_frame frame = {.opcode = (enum ws_opcode)(first_byte & 15),
                             .is_masked = is_masked,
                             .mask = {1, 2, 3, 4},
                             .len = data.len};
    uint8_t head[WS_HEAD_MAX];
    size_t head_len = ws_frame_write(&frame, head);
    head[0] = (uint8_t)first_byte;
    struct osb_buf bytes = {0};
    osb_buf_append(&bytes, head, head_len);
    osb_buf_append_slice(&bytes, data);
    if (is_masked && data.len > 0)
        ws_mask(bytes.base + head_len, data.len, frame.mask, 0);
    rig_send(rig, osb_buf_slice(&bytes));
    osb_buf_done(&bytes);
}

enum { LAST_TEXT = 0x81, LAST_BINARY = 0x82, FIRST_TEXT = 0x01, MIDDLE = 0x00, LAST = 0x80 };
enum { CLOSE = 0x88, PING = 0x89, PONG = 0x8a };

static void the_digest_is_that_of_the_standard(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *hex;
    } cases[] = {
        {"", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
        {"abc", "a9993e364706816aba3e25717850c26c9cd0d89d"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "84983e441c3bd26ebaae4aa1f95129e5e54670f1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrl"
         "m"
         "nopqrsmnopqrstnopqrstu",
         "a49b2446a02c645bf419f995b67091253a04a259"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t digest[HTTP_SHA1_LEN];
        char hex[2 * HTTP_SHA1_LEN + 1] = "";
        http_sha1(osb_slice_str(cases[i].text), digest);
        for (int k = 0; k < HTTP_SHA1_LEN; k++)
            snprintf(hex + 2 * k, 3, "%02x", digest[k]);
        assert_string_equal(hex, cases[i].hex);
    }
}

static void a_handshake_is_answered(void **state)
{
    (void)state;
    struct rig *rig = rig_new(handle, NULL, NULL);
    rig_send_str(rig, HANDSHAKE "Sec-WebSocket-Protocol: v3, v4, v5\r\n\r\n");
    assert_string_equal(rig_seen(rig), "HTTP/1.1 101 Switching Protocols\r\n" RIG_DATE
                                       "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                                       "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
                                       "Sec-WebSocket-Protocol: v5\r\n\r\n");
    assert_string_equal(osb_ws_protocol(ws), "v5");
    assert_int_equal(rig->completed, 1);
    close_rig(rig);
}

static void other_handshakes_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *request;
        int status;
    } cases[] = {
        {"GET / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
         "Sec-WebSocket-Version: 8\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
         426},
        {"GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
         "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\n\r\n",
         400},
        {"POST / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
         "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
         400},
    };
    struct rig *rig = rig_new(handle, NULL, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        rig_connect(rig);
        rig_send_str(rig, cases[i].request);
        assert_true(accept_result < 0);
        assert_int_equal(accept_err.http_status, cases[i].status);
    }
    options.needs_protocol = true;
    rig_connect(rig);
    rig_send_str(rig, HANDSHAKE "Sec-WebSocket-Protocol: v3\r\n\r\n");
    options.needs_protocol = false;
    assert_int_equal(accept_err.http_status, 400);
    rig_free(rig);
}

static void messages_arrive_whole_and_in_order(void **state)
{
    (void)state;
    struct rig *rig = open_rig();
    send_raw(rig, LAST_TEXT, true, OSB_SLICE("hello"));
    send_raw(rig, LAST_BINARY, true, OSB_SLICE(""));
    send_raw(rig, FIRST_TEXT, true, OSB_SLICE("a\xc3"));
    send_raw(rig, PING, true, OSB_SLICE("now"));
    send_raw(rig, MIDDLE, true, OSB_SLICE("\xa4"));
    send_raw(rig, LAST, true, OSB_SLICE("b"));
    assert_string_equal(osb_buf_cstr(&log_text), "t5:hello;b0:;t4:a\xc3\xa4"
                                                 "b;");
    assert_string_equal(rig_seen(rig), "\x8a\x03now");
    send_raw(rig, LAST_TEXT, true, OSB_SLICE("echo"));
    assert_string_equal(rig_seen(rig), "\x81\x04"
                                       "echo");
    close_rig(rig);
}

static void frames_may_be_cut_at_any_byte(void **state)
{
    (void)state;
    struct rig *rig = open_rig();
    static const char frames[] = "\x81\x85\1\2\3\4igohn\x82\x80\0\0\0\0";
    for (size_t i = 0; i < sizeof(frames) - 1; i++)
        rig_send(rig, osb_slice(frames + i, 1));
    assert_int_equal(closes, 0);
    assert_string_equal(osb_buf_cstr(&log_text), "t5:hello;b0:;");
    close_rig(rig);
}

static void lengths_of_all_sizes_go_both_ways(void **state)
{
    (void)state;
    static char block[70000];
    static const size_t lengths[] = {125, 126, 127, 65535, 65536, 70000};
    struct rig *rig = open_rig();
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        char want[32];
        struct osb_slice data = osb_slice(block, lengths[i]);
        osb_buf_clear(&log_text);
        send_raw(rig, LAST_BINARY, true, data);
        snprintf(want, sizeof(want), "b%zu:", lengths[i]);
        assert_true(osb_slice_starts(osb_buf_slice(&log_text), osb_slice_str(want)));
        osb_buf_clear(&rig->seen);
        osb_ws_send(ws, OSB_WS_BINARY, data);
        rig_settle(rig);
        struct ws_frame frame;
        int head = ws_frame_parse(osb_buf_slice(&rig->seen), &frame);
        assert_true(head > 0);
        assert_int_equal(frame.len, lengths[i]);
        assert_int_equal(rig->seen.len, (size_t)head + lengths[i]);
    }
    assert_true(drains > 0);
    close_rig(rig);
}

static const struct {
    const char *what;
    struct osb_slice bytes;
    int code;
} bad_frames[] = {
    {"no mask", OSB_SLICE("\x81\x01x"), 1002},
    {"reserved bit", OSB_SLICE("\xc1\x81\0\0\0\0x"), 1002},
    {"unknown opcode", OSB_SLICE("\x83\x81\0\0\0\0x"), 1002},
    {"unknown control opcode", OSB_SLICE("\x8b\x80\0\0\0\0"), 1002},
    {"continuation of nothing", OSB_SLICE("\x80\x81\0\0\0\0x"), 1002},
    {"message inside a message", OSB_SLICE("\x01\x81\0\0\0\0x\x81\x81\0\0\0\0x"), 1002},
    {"ping in pieces", OSB_SLICE("\x09\x80\0\0\0\0"), 1002},
    {"ping of 126 bytes", OSB_SLICE("\x89\xfe\0\x7e\0\0\0\0"), 1002},
    {"length in a longer form", OSB_SLICE("\x81\xfe\0\x05\0\0\0\0hello"), 1002},
    {"length in the longest form", OSB_SLICE("\x81\xff\0\0\0\0\0\0\x05\0\0\0\0\0hello"), 1002},
    {"negative length", OSB_SLICE("\x82\xff\x80\0\0\0\0\0\0\0\0\0\0\0"), 1002},
    {"message too large", OSB_SLICE("\x82\xff\0\0\0\0\0\x01\x86\xa1\0\0\0\0"), 1009},
    {"text that is not UTF-8", OSB_SLICE("\x81\x82\0\0\0\0\xc3("), 1007},
    {"text cut in a character", OSB_SLICE("\x81\x81\0\0\0\0\xc3"), 1007},
    {"close with one byte", OSB_SLICE("\x88\x81\0\0\0\0\x03"), 1002},
    {"close with a reserved code", OSB_SLICE("\x88\x82\0\0\0\0\x03\xed"), 1002},
    {"close with code 999", OSB_SLICE("\x88\x82\0\0\0\0\x03\xe7"), 1002},
    {"close with a bad reason", OSB_SLICE("\x88\x83\0\0\0\0\x03\xe8\xff"), 1002},
};

static void malformed_frames_end_the_socket_with_their_code(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_frames) / sizeof(bad_frames[0]); i++) {
        struct rig *rig = open_rig();
        char want[3] = {(char)(bad_frames[i].code >> 8), (char)bad_frames[i].code, 0};
        rig_send(rig, bad_frames[i].bytes);
        struct osb_slice seen = osb_buf_slice(&rig->seen);
        if (seen.len < 4 || (uint8_t)seen.data[0] != CLOSE || memcmp(seen.data + 2, want, 2) != 0)
            fail_msg("%s: %zu bytes of answer", bad_frames[i].what, seen.len);
        static const char noise[1000];
        rig_send(rig, osb_slice(noise, sizeof(noise))); /* the rest of it is dropped */
        osb_stream_shutdown(rig->peer);
        rig_settle(rig);
        assert_int_equal(closes, 1);
        close_rig(rig);
    }
}

static void a_close_of_the_peer_is_echoed(void **state)
{
    (void)state;
    struct rig *rig = open_rig();
    send_raw(rig, CLOSE, true,
             OSB_SLICE("\x03\xe9"
                       "bye"));
    assert_string_equal(osb_buf_cstr(&log_text), "close 1001 bye");
    assert_string_equal(rig_seen(rig), "\x88\x02\x03\xe9");
    assert_true(rig->is_at_end);
    close_rig(rig);
    rig = open_rig();
    send_raw(rig, CLOSE, true, OSB_SLICE_NULL);
    assert_string_equal(osb_buf_cstr(&log_text), "close 1005 ");
    close_rig(rig);
}

static void our_close_waits_for_the_peer_but_not_for_ever(void **state)
{
    (void)state;
    struct rig *rig = open_rig();
    osb_ws_close(ws, 4000, "enough");
    osb_ws_send(ws, OSB_WS_TEXT, OSB_SLICE("dropped"));
    rig_settle(rig);
    assert_string_equal(rig_seen(rig), "\x88\x08\x0f\xa0"
                                       "enough");
    assert_int_equal(closes, 0);
    send_raw(rig, CLOSE, true, OSB_SLICE("\x0f\xa0"));
    assert_string_equal(osb_buf_cstr(&log_text), "close 4000 enough");
    close_rig(rig);

    rig = open_rig();
    osb_ws_close(ws, 1000, NULL);
    rig_advance_ms(rig, 4000);
    assert_int_equal(closes, 0);
    rig_advance_ms(rig, 2000);
    assert_string_equal(osb_buf_cstr(&log_text), "close 1000 ");
    close_rig(rig);
}

static void a_silent_peer_is_pinged_and_given_up(void **state)
{
    (void)state;
    struct rig *rig = open_rig();
    for (int i = 0; i < 10; i++) {
        rig_advance_ms(rig, 30 * 1000);
        assert_string_equal(rig_seen(rig), "\x89");
        send_raw(rig, PONG, true, OSB_SLICE_NULL);
    }
    assert_int_equal(closes, 0);
    rig_advance_ms(rig, 91 * 1000);
    assert_string_equal(osb_buf_cstr(&log_text), "close 1006 the peer is silent");
    close_rig(rig);
}

static void a_lost_connection_is_1006(void **state)
{
    (void)state;
    struct rig *rig = open_rig();
    osb_stream_close(osb_take_ptr(rig->peer));
    rig_settle(rig);
    assert_string_equal(osb_buf_cstr(&log_text), "close 1006 the connection was closed");
    close_rig(rig);
}

static void a_socket_may_be_freed_in_its_own_callback(void **state)
{
    (void)state;
    struct rig *rig = open_rig();
    send_raw(rig, LAST_TEXT, true, OSB_SLICE("free"));
    ws = NULL;
    assert_int_equal(closes, 0);
    assert_true(rig->is_at_end);
    close_rig(rig);
}

static void a_paused_socket_reads_nothing(void **state)
{
    (void)state;
    struct rig *rig = open_rig();
    osb_ws_pause(ws);
    send_raw(rig, LAST_TEXT, true, OSB_SLICE("x"));
    rig_advance_ms(rig, 300 * 1000);
    assert_string_equal(osb_buf_cstr(&log_text), "");
    osb_ws_resume(ws);
    rig_settle(rig);
    assert_string_equal(osb_buf_cstr(&log_text), "t1:x;");
    close_rig(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_digest_is_that_of_the_standard),
        cmocka_unit_test(a_handshake_is_answered),
        cmocka_unit_test(other_handshakes_are_refused),
        cmocka_unit_test(messages_arrive_whole_and_in_order),
        cmocka_unit_test(frames_may_be_cut_at_any_byte),
        cmocka_unit_test(lengths_of_all_sizes_go_both_ways),
        cmocka_unit_test(malformed_frames_end_the_socket_with_their_code),
        cmocka_unit_test(a_close_of_the_peer_is_echoed),
        cmocka_unit_test(our_close_waits_for_the_peer_but_not_for_ever),
        cmocka_unit_test(a_silent_peer_is_pinged_and_given_up),
        cmocka_unit_test(a_lost_connection_is_1006),
        cmocka_unit_test(a_socket_may_be_freed_in_its_own_callback),
        cmocka_unit_test(a_paused_socket_reads_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
