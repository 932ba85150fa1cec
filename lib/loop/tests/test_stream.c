// SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include <fcntl.h>
#include <osb/stream.h>
#include <sys/socket.h>

/* ---- the same cases over a socket pair and over the pair in memory ---- */

enum { CAPACITY = 1000 };

static struct osb_stream *a;
static struct osb_stream *b;

static int make_memory_pair(void **state)
{
    return make_loop(state) < 0 ? -1 : osb_stream_pair(the_loop, CAPACITY, &a, &b);
}

static int make_socket_pair(void **state)
{
    int fds[2];
    if (make_loop(state) < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return -1;
    return osb_stream_from_fd(the_loop, fds[0], &a, NULL) < 0 ||
                   osb_stream_from_fd(the_loop, fds[1], &b, NULL) < 0
               ? -1
               : 0;
}

static int close_pair(void **state)
{
    osb_stream_close(a);
    osb_stream_close(b);
    a = b = NULL;
    return free_loop(state);
}

static int calls;
static int seen_events;

static void note_event(struct osb_stream *stream, int events, void *arg)
{
    (void)stream;
    (void)arg;
    calls++;
    seen_events = events;
}

static void watch(struct osb_stream *stream, int events)
{
    calls = 0;
    seen_events = 0;
    osb_stream_set_callback(stream, note_event, NULL);
    assert_int_equal(osb_stream_want(stream, events), 0);
}

static void what_one_end_writes_the_other_reads(void **state)
{
    char buffer[16] = {0};
    struct iovec iov[] = {{"hello ", 6}, {"world", 5}};
    (void)state;
    assert_int_equal(osb_stream_read(b, buffer, sizeof(buffer)), -EAGAIN);
    assert_int_equal(osb_stream_writev(a, iov, 2), 11);
    assert_int_equal(osb_stream_read(b, buffer, 5), 5);
    assert_int_equal(osb_stream_read(b, buffer + 5, sizeof(buffer) - 5), 6);
    assert_string_equal(buffer, "hello world");
    assert_int_equal(osb_stream_read(b, buffer, sizeof(buffer)), -EAGAIN);
    assert_int_equal(osb_stream_write(b, OSB_SLICE("x")), 1);
    assert_int_equal(osb_stream_read(a, buffer, sizeof(buffer)), 1);
}

static void a_reader_is_told_for_as_long_as_there_is_something(void **state)
{
    char c;
    (void)state;
    watch(b, OSB_READABLE);
    turn_idle();
    assert_int_equal(calls, 0);
    assert_int_equal(osb_stream_write(a, OSB_SLICE("xy")), 2);
    turn_until(calls == 2);
    assert_int_equal(seen_events, OSB_READABLE);
    assert_int_equal(osb_stream_want(b, 0), 0);
    turn_idle();
    assert_int_equal(calls, 2);
    assert_int_equal(osb_stream_want(b, OSB_READABLE), 0);
    turn_until(calls == 3);
    assert_int_equal(osb_stream_read(b, &c, 1), 1);
    assert_int_equal(osb_stream_read(b, &c, 1), 1);
    calls = 0;
    turn_idle();
    assert_int_equal(calls, 0);
}

static void a_full_stream_pushes_back_until_it_is_read(void **state)
{
    static char block[100];
    size_t total = 0;
    ssize_t n;
    (void)state;
    while ((n = osb_stream_write(a, osb_slice(block, sizeof(block)))) > 0)
        total += (size_t)n;
    assert_int_equal(n, -EAGAIN);
    watch(a, OSB_WRITABLE);
    turn_idle();
    assert_int_equal(calls, 0);
    while ((n = osb_stream_read(b, block, sizeof(block))) > 0)
        total -= (size_t)n;
    assert_int_equal(total, 0);
    turn_until(calls);
    assert_int_equal(seen_events, OSB_WRITABLE);
}

static void a_shutdown_is_the_end_of_file_of_the_other_end_only(void **state)
{
    char buffer[8];
    (void)state;
    assert_int_equal(osb_stream_write(a, OSB_SLICE("bye")), 3);
    assert_int_equal(osb_stream_shutdown(a), 0);
    watch(b, OSB_READABLE);
    turn_until(calls);
    assert_int_equal(osb_stream_read(b, buffer, sizeof(buffer)), 3);
    turn_until(calls >= 2);
    assert_int_equal(osb_stream_read(b, buffer, sizeof(buffer)), 0);
    assert_int_equal(osb_stream_read(b, buffer, sizeof(buffer)), 0);
    assert_int_equal(osb_stream_write(a, OSB_SLICE("x")), -EPIPE);
    assert_int_equal(osb_stream_write(b, OSB_SLICE("back")), 4);
    assert_int_equal(osb_stream_read(a, buffer, sizeof(buffer)), 4);
}

static void writing_to_a_closed_end_is_epipe(void **state)
{
    char buffer[8];
    (void)state;
    assert_int_equal(osb_stream_write(b, OSB_SLICE("last")), 4);
    osb_stream_close(b);
    b = NULL;
    watch(a, OSB_READABLE | OSB_WRITABLE);
    turn_until(calls);
    assert_int_equal(seen_events, OSB_READABLE | OSB_WRITABLE);
    assert_int_equal(osb_stream_write(a, OSB_SLICE("x")), -EPIPE);
    assert_int_equal(osb_stream_read(a, buffer, sizeof(buffer)), 4);
    assert_int_equal(osb_stream_read(a, buffer, sizeof(buffer)), 0);
}

static void close_itself(struct osb_stream *stream, int events, void *arg)
{
    (void)events;
    (void)arg;
    calls++;
    osb_stream_close(stream);
    b = NULL;
}

static void a_stream_may_be_closed_inside_its_own_callback(void **state)
{
    (void)state;
    calls = 0;
    osb_stream_set_callback(b, close_itself, NULL);
    assert_int_equal(osb_stream_want(b, OSB_READABLE | OSB_WRITABLE), 0);
    turn_until(calls);
    turn_idle();
    assert_int_equal(calls, 1);
}

/* ---- what only real descriptors do ---- */

static void pipes_have_one_side_and_give_epipe_without_a_signal(void **state)
{
    int fds[2];
    char buffer[8];
    struct osb_stream *reader;
    struct osb_stream *writer;
    (void)state;
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_int_equal(osb_stream_from_fd(the_loop, fds[0], &reader, NULL), 0);
    assert_int_equal(osb_stream_from_fd(the_loop, fds[1], &writer, NULL), 0);
    assert_int_equal(osb_stream_fd(reader), fds[0]);
    assert_int_equal(osb_stream_write(writer, OSB_SLICE("abc")), 3);
    assert_int_equal(osb_stream_shutdown(writer), 0);
    assert_int_equal(osb_stream_read(reader, buffer, sizeof(buffer)), 3);
    assert_int_equal(osb_stream_read(reader, buffer, sizeof(buffer)), 0);
    osb_stream_set_callback(writer, note_event, NULL);
    assert_int_equal(osb_stream_want(writer, OSB_WRITABLE), -EBADF);
    osb_stream_close(reader);
    osb_stream_close(writer);

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    close(fds[0]);
    assert_int_equal(osb_stream_from_fd(the_loop, fds[1], &writer, NULL), 0);
    assert_int_equal(osb_stream_write(writer, OSB_SLICE("abc")), -EPIPE);
    osb_stream_close(writer);
}

static void a_terminal_whose_other_side_is_closed_is_at_its_end(void **state)
{
    struct osb_stream *stream;
    char buffer[8];
    (void)state;
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_int_equal(grantpt(master), 0);
    assert_int_equal(unlockpt(master), 0);
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_int_equal(osb_stream_from_fd(the_loop, master, &stream, NULL), 0);
    assert_int_equal(write(slave, "hi", 2), 2);
    close(slave);
    watch(stream, OSB_READABLE);
    turn_until(calls);
    assert_int_equal(osb_stream_read(stream, buffer, sizeof(buffer)), 2);
    assert_int_equal(osb_stream_read(stream, buffer, sizeof(buffer)), 0);
    assert_int_equal(osb_stream_shutdown(stream), -OSB_E_UNSUPPORTED);
    osb_stream_close(stream);
}

static void regular_files_and_bad_descriptors_are_refused(void **state)
{
    struct osb_stream *stream;
    struct osb_err err = {0};
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    (void)state;
    assert_int_equal(osb_stream_from_fd(the_loop, fd, &stream, &err), -OSB_E_UNSUPPORTED);
    assert_int_equal(fcntl(fd, F_GETFD), -1); /* taken all the same */
    assert_int_equal(osb_stream_from_fd(the_loop, -1, &stream, &err), -EBADF);
}

static void sendfile_works_on_sockets_and_says_where_it_cannot(void **state)
{
    char head[4];
    off_t offset = 1;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    (void)state;
    if (osb_stream_fd(a) < 0) {
        assert_int_equal(osb_stream_sendfile(a, fd, &offset, 3), -OSB_E_UNSUPPORTED);
    } else {
        assert_int_equal(osb_stream_sendfile(a, fd, &offset, 3), 3);
        assert_int_equal(offset, 4);
        assert_int_equal(osb_stream_read(b, head, sizeof(head)), 3);
        assert_memory_equal(head, "ELF", 3);
    }
    close(fd);
}

#define ON_BOTH(fn)                                                                                \
    {"socket: " #fn, fn, make_socket_pair, close_pair, NULL},                                      \
    {                                                                                              \
        "memory: " #fn, fn, make_memory_pair, close_pair, NULL                                     \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(what_one_end_writes_the_other_reads),
        ON_BOTH(a_reader_is_told_for_as_long_as_there_is_something),
        ON_BOTH(a_full_stream_pushes_back_until_it_is_read),
        ON_BOTH(a_shutdown_is_the_end_of_file_of_the_other_end_only),
        ON_BOTH(writing_to_a_closed_end_is_epipe),
        ON_BOTH(a_stream_may_be_closed_inside_its_own_callback),
        ON_BOTH(sendfile_works_on_sockets_and_says_where_it_cannot),
        LOOP_TEST(pipes_have_one_side_and_give_epipe_without_a_signal),
        LOOP_TEST(a_terminal_whose_other_side_is_closed_is_at_its_end),
        LOOP_TEST(regular_files_and_bad_descriptors_are_refused),
    };
    return RUN_ON_EACH_BACKEND(tests);
}
