// SPDX-License-Identifier: Apache-2.0
// bench-deps: loop loop_uv
/*
 * Ping-pong of small messages over pairs of UNIX sockets, all in one loop, by each back end: what
 * a stream costs beside the system calls it makes. "bare" does the same with epoll alone. Figures
 * are messages a second of processor time, so that a busy machine does not spoil them.
 *
 *     build/release/bench/loop_echo [messages]
 */
#include <osb/loop.h>
#include <osb/stream.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PAIRS = 64, MESSAGE_BYTES = 64, DEFAULT_MESSAGES = 2000000, ROUNDS = 3 };

static long left;
static struct osb_loop *loop;

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void make_sockets(int fds[2])
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) < 0) {
        perror("socketpair");
        exit(1);
    }
}

static void echo(struct osb_stream *stream, int events, void *arg)
{
    char buffer[MESSAGE_BYTES];
    (void)events;
    (void)arg;
    ssize_t n = osb_stream_read(stream, buffer, sizeof(buffer));
    if (n > 0)
        osb_stream_write(stream, osb_slice(buffer, (size_t)n));
    if (--left == 0)
        osb_loop_stop(loop);
}

static void add_stream(int fd, bool is_first)
{
    static const char message[MESSAGE_BYTES];
    struct osb_stream *stream;
    if (osb_stream_from_fd(loop, fd, &stream, NULL) < 0)
        exit(1);
    osb_stream_set_callback(stream, echo, NULL);
    osb_stream_want(stream, OSB_READABLE);
    if (is_first)
        osb_stream_write(stream, osb_slice(message, sizeof(message)));
}

static double run_loop(int (*make)(struct osb_loop **ret, struct osb_err *err), long messages)
{
    if (make(&loop, NULL) < 0)
        exit(1);
    for (int i = 0; i < PAIRS; i++) {
        int fds[2];
        make_sockets(fds);
        add_stream(fds[0], true);
        add_stream(fds[1], false);
    }
    left = messages;
    double start = cpu_s();
    osb_loop_run(loop);
    double used = cpu_s() - start;
    /* The streams are left to the end of the process, as their loop is. */
    return (double)messages / used;
}

static double run_bare(long messages)
{
    char message[MESSAGE_BYTES] = {0};
    struct epoll_event events[256];
    int set = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < PAIRS; i++) {
        int fds[2];
        make_sockets(fds);
        for (int k = 0; k < 2; k++) {
            struct epoll_event event = {.events = EPOLLIN, .data.fd = fds[k]};
            epoll_ctl(set, EPOLL_CTL_ADD, fds[k], &event);
        }
        if (write(fds[0], message, sizeof(message)) < 0)
            exit(1);
    }
    double start = cpu_s();
    for (left = messages; left > 0;) {
        int count = epoll_wait(set, events, 256, -1);
        for (int i = 0; i < count; i++, left--) {
            ssize_t n = read(events[i].data.fd, message, sizeof(message));
            if (n > 0 && send(events[i].data.fd, message, (size_t)n, MSG_NOSIGNAL) < 0)
                exit(1);
        }
    }
    return (double)messages / (cpu_s() - start);
}

int main(int argc, char **argv)
{
    long messages = argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_MESSAGES;
    if (messages <= 0) {
        fprintf(stderr, "usage: %s [messages]\n", argv[0]);
        return 2;
    }
    for (int i = 0; i < ROUNDS; i++) {
        printf("bare epoll:    %9.0f messages/s\n", run_bare(messages));
        printf("epoll back end: %8.0f messages/s\n", run_loop(osb_loop_new_epoll, messages));
        printf("libuv back end: %8.0f messages/s\n", run_loop(osb_loop_new_uv, messages));
    }
    return 0;
}
