// SPDX-License-Identifier: Apache-2.0
// What only the kernel can show: sendfile, resets, full socket buffers. Peers are plain sockets of
// this process, driven between turns of the loop.
#include <osb/http_server.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { MAX_TURNS = 5000, FILE_LEN = 5 << 20 };

static struct osb_loop *loop;
static struct osb_http_server *server;
static struct osb_listener *listener;
static struct osb_http_exchange *current;
static int closed;
static int completed;

static void on_close(struct osb_http_exchange *x, bool is_complete, void *arg)
{
    (void)x;
    (void)arg;
    closed++;
    completed += is_complete;
}

static void handle(struct osb_http_exchange *x, void *arg)
{
    (void)arg;
    osb_http_on_close(x, on_close, NULL);
    current = x;
    if (osb_slice_eq_str(osb_http_raw_path(x), "/refuse"))
        osb_http_reply(x, 403, NULL, OSB_SLICE("no"));
}

static int set_up(void **state)
{
    (void)state;
    closed = completed = 0;
    current = NULL;
    assert_int_equal(osb_loop_new_epoll(&loop, NULL), 0);
    assert_int_equal(osb_http_server_new(loop, NULL, handle, NULL, &server, NULL), 0);
    assert_int_equal(
        osb_listener_new_tcp(loop, "127.0.0.1", 0, osb_http_server_accept, server, &listener, NULL),
        0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    osb_listener_free(listener);
    osb_http_server_free(server);
    osb_loop_free(loop);
    return 0;
}

static int dial(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)osb_listener_port(listener))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    return fd;
}

static void say(int fd, const char *text)
{
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void turn_until_exchange(void)
{
    for (int i = 0; i < MAX_TURNS && !current; i++)
        osb_loop_turn(loop, 100);
    assert_non_null(current);
}

/* Reads until the end of file; 0, or -errno of the socket. */
static int read_to_end(int fd, struct osb_buf *seen)
{
    static char buffer[64 * 1024];
    for (int i = 0; i < MAX_TURNS; i++) {
        osb_loop_turn(loop, 0);
        ssize_t n = read(fd, buffer, sizeof(buffer));
        if (n == 0)
            return 0;
        if (n > 0)
            osb_buf_append(seen, buffer, (size_t)n);
        else if (errno != EAGAIN)
            return -errno;
        else
            osb_loop_turn(loop, 1);
    }
    fail_msg("no end");
    return 0;
}

static int large_file(void)
{
    char path[] = "/tmp/osb-http-test-XXXXXX";
    static char block[4096];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    for (int i = 0; i < FILE_LEN / (int)sizeof(block); i++) {
        memset(block, i, sizeof(block));
        assert_int_equal(write(fd, block, sizeof(block)), sizeof(block));
    }
    return fd;
}

static void a_large_file_goes_through_sendfile(void **state)
{
    (void)state;
    int fd = dial();
    struct osb_buf seen = {0};
    say(fd, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    turn_until_exchange();
    osb_http_reply_file(current, 200, NULL, large_file(), 0, FILE_LEN);
    assert_int_equal(read_to_end(fd, &seen), 0);
    struct osb_slice all = osb_buf_slice(&seen);
    ptrdiff_t head = osb_slice_find_slice(all, OSB_SLICE("\r\n\r\n"));
    assert_true(head > 0);
    struct osb_slice body = osb_slice_from(all, (size_t)head + 4);
    assert_int_equal(body.len, FILE_LEN);
    for (size_t i = 0; i < body.len; i += 1000)
        assert_int_equal((unsigned char)body.data[i], (unsigned char)(i / 4096));
    assert_int_equal(completed, 1);
    osb_buf_done(&seen);
    close(fd);
}

static void an_early_answer_to_a_large_upload_arrives_without_a_reset(void **state)
{
    (void)state;
    static char block[64 * 1024];
    int fd = dial();
    struct osb_buf seen = {0};
    say(fd, "POST /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: 20000000\r\n\r\n");
    size_t sent = 0;
    for (int i = 0; i < MAX_TURNS && sent < 20000000; i++) {
        ssize_t n = send(fd, block, sizeof(block), MSG_NOSIGNAL);
        assert_true(n > 0 || errno == EAGAIN);
        sent += n > 0 ? (size_t)n : 0;
        osb_loop_turn(loop, 0);
    }
    assert_int_equal(read_to_end(fd, &seen), 0);
    assert_true(osb_slice_starts(osb_buf_slice(&seen), OSB_SLICE("HTTP/1.1 403 Forbidden\r\n")));
    osb_buf_done(&seen);
    close(fd);
}

static void a_cut_answer_without_a_length_shows_as_a_reset(void **state)
{
    (void)state;
    int fd = dial();
    struct osb_buf seen = {0};
    say(fd, "GET / HTTP/1.0\r\n\r\n");
    turn_until_exchange();
    osb_http_reply_start(current, 200, NULL, -1);
    osb_http_reply_write(current, OSB_SLICE("part"));
    osb_loop_turn(loop, 0);
    osb_loop_turn(loop, 0);
    osb_http_abort(current);
    assert_int_equal(read_to_end(fd, &seen), -ECONNRESET);
    osb_buf_done(&seen);
    close(fd);
}

static void a_client_that_vanishes_is_noticed_while_nothing_is_written(void **state)
{
    (void)state;
    int fd = dial();
    say(fd, "GET / HTTP/1.1\r\nHost: h\r\n\r\nGET /next HTTP/1.1\r\nHost: h\r\n\r\n");
    turn_until_exchange();
    osb_http_reply_start(current, 200, "text/event-stream", -1);
    osb_loop_turn(loop, 0);
    assert_int_equal(closed, 0);
    struct linger hard = {.l_onoff = 1};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    close(fd);
    for (int i = 0; i < MAX_TURNS && !closed; i++)
        osb_loop_turn(loop, 100);
    assert_int_equal(closed, 1);
    assert_int_equal(completed, 0);
}

static void an_answer_larger_than_the_socket_buffer_arrives_whole(void **state)
{
    (void)state;
    enum { LEN = 30 << 20 };
    char *body = malloc(LEN);
    struct osb_buf seen = {0};
    assert_non_null(body);
    for (size_t i = 0; i < LEN; i++)
        body[i] = (char)(i * 31 >> 3);
    int fd = dial();
    say(fd, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    turn_until_exchange();
    osb_http_reply(current, 200, NULL, osb_slice(body, LEN));
    assert_int_equal(read_to_end(fd, &seen), 0);
    assert_true(osb_slice_ends(osb_buf_slice(&seen), osb_slice(body, LEN)));
    osb_buf_done(&seen);
    free(body);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_large_file_goes_through_sendfile, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_early_answer_to_a_large_upload_arrives_without_a_reset,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cut_answer_without_a_length_shows_as_a_reset, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_client_that_vanishes_is_noticed_while_nothing_is_written,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_answer_larger_than_the_socket_buffer_arrives_whole,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
