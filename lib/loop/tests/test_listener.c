// SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <osb/cleanup.h>
#include <osb/stream.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static struct osb_listener *listener;
static struct osb_stream *accepted;
static struct osb_stream *connected;
static struct osb_connect *attempt;
static char peer_text[64];
static int connect_result;
static int accepts;
static char folder[32];
static char path[64];

static int setup(void **state)
{
    accepts = 0;
    connect_result = 1; /* not told yet */
    strcpy(folder, "/tmp/loop-test-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/socket", folder);
    return make_loop(state);
}

static int teardown(void **state)
{
    osb_stream_close(accepted);
    osb_stream_close(connected);
    osb_listener_free(listener);
    accepted = connected = NULL;
    listener = NULL;
    unlink(path);
    rmdir(folder);
    return free_loop(state);
}

static void on_accept(struct osb_stream *stream, const char *peer, void *arg)
{
    (void)arg;
    osb_stream_close(accepted);
    accepted = stream;
    accepts++;
    snprintf(peer_text, sizeof(peer_text), "%s", peer);
}

static void on_connect(struct osb_stream *stream, int r, void *arg)
{
    (void)arg;
    connected = stream;
    connect_result = r;
    attempt = NULL;
}

static void connect_tcp(const char *address)
{
    assert_int_equal(osb_connect_tcp(the_loop, address, osb_listener_port(listener), 0, on_connect,
                                     NULL, &attempt, NULL),
                     0);
    assert_int_equal(connect_result, 1); /* never from inside the call */
    turn_until(connect_result != 1);
}

static void exchange(void)
{
    char buffer[4];
    turn_until(accepted);
    assert_int_equal(osb_stream_write(connected, OSB_SLICE("ping")), 4);
    ssize_t n;
    while ((n = osb_stream_read(accepted, buffer, sizeof(buffer))) == -EAGAIN)
        osb_loop_turn(the_loop, 0);
    assert_int_equal(n, 4);
}

static void a_tcp_connection_is_accepted_and_tuned(void **state)
{
    int value = 0;
    socklen_t len = sizeof(value);
    (void)state;
    assert_int_equal(
        osb_listener_new_tcp(the_loop, "127.0.0.1", 0, on_accept, NULL, &listener, NULL), 0);
    assert_true(osb_listener_port(listener) > 0);
    connect_tcp("127.0.0.1");
    assert_int_equal(connect_result, 0);
    exchange();
    assert_memory_equal(peer_text, "127.0.0.1:", 10);
    getsockopt(osb_stream_fd(accepted), IPPROTO_TCP, TCP_NODELAY, &value, &len);
    assert_int_equal(value, 1);
    getsockopt(osb_stream_fd(connected), SOL_SOCKET, SO_KEEPALIVE, &value, &len);
    assert_int_equal(value, 1);
}

static void a_listener_of_both_families_takes_ipv4_and_ipv6(void **state)
{
    struct osb_err err = {0};
    (void)state;
    int r = osb_listener_new_tcp(the_loop, "::", 0, on_accept, NULL, &listener, &err);
    if (r == -EAFNOSUPPORT || r == -EADDRNOTAVAIL)
        skip(); /* a kernel without IPv6 */
    assert_int_equal(r, 0);
    connect_tcp("127.0.0.1");
    assert_int_equal(connect_result, 0);
    turn_until(accepts == 1);
    assert_memory_equal(peer_text, "127.0.0.1:", 10);
    osb_stream_close(connected);
    connect_result = 1;
    connect_tcp("::1");
    assert_int_equal(connect_result, 0);
    turn_until(accepts == 2);
    assert_memory_equal(peer_text, "[::1]:", 6);
}

static void a_port_in_use_and_wrong_addresses_are_told(void **state)
{
    struct osb_listener *second;
    struct osb_err err = {0};
    (void)state;
    assert_int_equal(
        osb_listener_new_tcp(the_loop, "127.0.0.1", 0, on_accept, NULL, &listener, NULL), 0);
    assert_int_equal(osb_listener_new_tcp(the_loop, "127.0.0.1", osb_listener_port(listener),
                                          on_accept, NULL, &second, &err),
                     -EADDRINUSE);
    assert_int_equal(osb_listener_new_tcp(the_loop, "localhost", 0, on_accept, NULL, &second, &err),
                     -OSB_E_INVALID);
    assert_string_equal(err.message, "\"localhost\" is not an IP address");
    assert_int_equal(osb_connect_tcp(the_loop, "1.2.3", 80, 0, on_connect, NULL, &attempt, &err),
                     -OSB_E_INVALID);
    assert_int_equal(
        osb_connect_tcp(the_loop, "127.0.0.1", 65536, 0, on_connect, NULL, &attempt, &err),
        -OSB_E_INVALID);
}

static void a_refused_connection_is_told_by_the_callback(void **state)
{
    (void)state;
    assert_int_equal(
        osb_listener_new_tcp(the_loop, "127.0.0.1", 0, on_accept, NULL, &listener, NULL), 0);
    int port = osb_listener_port(listener);
    osb_listener_free(listener);
    listener = NULL;
    assert_int_equal(
        osb_connect_tcp(the_loop, "127.0.0.1", port, 0, on_connect, NULL, &attempt, NULL), 0);
    turn_until(connect_result != 1);
    assert_int_equal(connect_result, -ECONNREFUSED);
    assert_null(connected);
}

static void a_cancelled_attempt_is_silent(void **state)
{
    (void)state;
    assert_int_equal(
        osb_connect_unix(the_loop, "/no/such/socket", 0, on_connect, NULL, &attempt, NULL), 0);
    osb_connect_cancel(attempt);
    osb_connect_cancel(NULL);
    turn_idle();
    assert_int_equal(connect_result, 1);
}

/* A UNIX socket whose queue is full neither refuses nor accepts. */
static void an_attempt_that_gets_nowhere_times_out(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)state;
    strcpy(address.sun_path, path);
    _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    _cleanup_close_ int first = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fd, 0), 0);
    assert_int_equal(connect(first, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(osb_connect_unix(the_loop, path, 20, on_connect, NULL, &attempt, NULL), 0);
    turn_until(connect_result != 1);
    assert_int_equal(connect_result, -OSB_E_TIMEOUT);

    connect_result = 1;
    assert_int_equal(osb_connect_unix(the_loop, path, 1000, on_connect, NULL, &attempt, NULL), 0);
    osb_loop_turn(the_loop, 0);
    close(accept4(fd, NULL, NULL, SOCK_CLOEXEC)); /* makes room: the next try gets in */
    turn_until(connect_result != 1);
    assert_int_equal(connect_result, 0);
}

static void a_unix_listener_has_the_mode_that_was_asked_for_and_tells_its_peer(void **state)
{
    struct stat st;
    char expected[64];
    (void)state;
    mode_t old = umask(0777);
    int r = osb_listener_new_unix(the_loop, path, 0660, on_accept, NULL, &listener, NULL);
    umask(old);
    assert_int_equal(r, 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0660);
    assert_int_equal(osb_listener_port(listener), 0);
    assert_int_equal(osb_connect_unix(the_loop, path, 0, on_connect, NULL, &attempt, NULL), 0);
    turn_until(connect_result != 1);
    assert_int_equal(connect_result, 0);
    exchange();
    snprintf(expected, sizeof(expected), "unix:%d,%u", (int)getpid(), (unsigned)getuid());
    assert_string_equal(peer_text, expected);
    osb_listener_free(listener);
    listener = NULL;
    assert_int_equal(stat(path, &st), -1);
}

static void a_stale_socket_is_replaced_a_live_one_and_other_files_are_not(void **state)
{
    struct osb_listener *second;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)state;
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    close(fd); /* as a process that was killed leaves it */
    assert_int_equal(osb_listener_new_unix(the_loop, path, 0600, on_accept, NULL, &listener, NULL),
                     0);
    assert_int_equal(osb_listener_new_unix(the_loop, path, 0600, on_accept, NULL, &second, NULL),
                     -EADDRINUSE);
    osb_listener_free(listener);
    listener = NULL;
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    assert_int_equal(osb_listener_new_unix(the_loop, path, 0600, on_accept, NULL, &second, NULL),
                     -EEXIST);
}

static void a_successor_keeps_its_socket_when_the_old_listener_goes(void **state)
{
    struct osb_listener *second;
    struct stat st;
    (void)state;
    assert_int_equal(osb_listener_new_unix(the_loop, path, 0600, on_accept, NULL, &listener, NULL),
                     0);
    unlink(path);
    assert_int_equal(osb_listener_new_unix(the_loop, path, 0600, on_accept, NULL, &second, NULL),
                     0);
    osb_listener_free(listener);
    listener = second;
    assert_int_equal(stat(path, &st), 0);
}

static void a_path_that_is_too_long_is_told(void **state)
{
    struct osb_err err = {0};
    char long_path[200];
    (void)state;
    memset(long_path, 'x', sizeof(long_path) - 1);
    long_path[sizeof(long_path) - 1] = '\0';
    assert_int_equal(
        osb_listener_new_unix(the_loop, long_path, 0600, on_accept, NULL, &listener, &err),
        -ENAMETOOLONG);
    assert_int_equal(osb_connect_unix(the_loop, long_path, 0, on_connect, NULL, &attempt, &err),
                     -ENAMETOOLONG);
}

static void free_listener_on_accept(struct osb_stream *stream, const char *peer, void *arg)
{
    on_accept(stream, peer, arg);
    osb_listener_free(listener);
    listener = NULL;
}

static void a_listener_may_be_freed_by_its_own_callback(void **state)
{
    (void)state;
    assert_int_equal(osb_listener_new_tcp(the_loop, "127.0.0.1", 0, free_listener_on_accept, NULL,
                                          &listener, NULL),
                     0);
    connect_tcp("127.0.0.1");
    turn_until(accepted);
    assert_null(listener);
}

static void accepting_pauses_when_descriptors_run_out(void **state)
{
    struct rlimit limit;
    uint64_t start = osb_loop_now_ns(the_loop);
    (void)state;
    if (the_backend != osb_loop_new_sim)
        skip(); /* a pause of a second */
    assert_int_equal(
        osb_listener_new_tcp(the_loop, "127.0.0.1", 0, on_accept, NULL, &listener, NULL), 0);
    connect_tcp("127.0.0.1");
    turn_until(accepts == 1);
    osb_stream_close(connected);
    connect_result = 1;
    assert_int_equal(osb_connect_tcp(the_loop, "127.0.0.1", osb_listener_port(listener), 0,
                                     on_connect, NULL, &attempt, NULL),
                     0);
    getrlimit(RLIMIT_NOFILE, &limit);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){3, limit.rlim_max});
    osb_loop_sim_settle(the_loop);
    assert_int_equal(accepts, 1);
    setrlimit(RLIMIT_NOFILE, &limit);
    osb_loop_sim_settle(the_loop);
    assert_int_equal(accepts, 1);
    osb_loop_sim_advance(the_loop, UINT64_C(1000000000));
    assert_int_equal(accepts, 2);
    assert_true(osb_loop_now_ns(the_loop) - start >= UINT64_C(1000000000));
}

#define NET_TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        NET_TEST(a_tcp_connection_is_accepted_and_tuned),
        NET_TEST(a_listener_of_both_families_takes_ipv4_and_ipv6),
        NET_TEST(a_port_in_use_and_wrong_addresses_are_told),
        NET_TEST(a_refused_connection_is_told_by_the_callback),
        NET_TEST(a_cancelled_attempt_is_silent),
        NET_TEST(an_attempt_that_gets_nowhere_times_out),
        NET_TEST(a_unix_listener_has_the_mode_that_was_asked_for_and_tells_its_peer),
        NET_TEST(a_stale_socket_is_replaced_a_live_one_and_other_files_are_not),
        NET_TEST(a_successor_keeps_its_socket_when_the_old_listener_goes),
        NET_TEST(a_path_that_is_too_long_is_told),
        NET_TEST(a_listener_may_be_freed_by_its_own_callback),
        NET_TEST(accepting_pauses_when_descriptors_run_out),
    };
    return RUN_ON_EACH_BACKEND(tests);
}
