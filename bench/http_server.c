// SPDX-License-Identifier: Apache-2.0
// bench-deps: http
/*
 * The HTTP server by itself, on one epoll loop.
 *
 *   http_server PORT           serves until SIGINT: /hello (11 bytes), /stream?mb=N[&piece=BYTES]
 *                              (chunked), PUT /sink (dropped); for wrk, curl and nginx beside it
 *   http_server --stream MB    streams MB over loopback to a reading child, prints MB/s
 *   http_server --idle N       holds N idle connections, prints the memory of each
 */
#include <osb/alloc.h>
#include <osb/clock.h>
#include <osb/http_server.h>

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIECE_MAX = 1 << 20, WATER_MARK = 256 * 1024 };

struct feed {
    struct osb_http_exchange *x;
    uint64_t left;
    size_t piece;
};

static char block[PIECE_MAX];

static uint64_t query_number(struct osb_http_exchange *x, const char *name, uint64_t fallback)
{
    struct osb_slice text;
    uint64_t n = fallback;
    if (osb_http_query(x, name, &text))
        (void)osb_slice_to_u64(text, &n);
    return n;
}

static void feed_more(struct osb_http_exchange *x, void *arg)
{
    struct feed *feed = arg;
    size_t queued = 0;
    while (feed->left > 0 && queued < WATER_MARK) {
        size_t n = feed->left < feed->piece ? (size_t)feed->left : feed->piece;
        feed->left -= n;
        queued = osb_http_reply_write(x, osb_slice(block, n));
    }
    if (feed->left == 0)
        osb_http_reply_end(x);
}

static void stream(struct osb_http_exchange *x)
{
    struct feed *feed = osb_arena_new(osb_http_arena(x), struct feed);
    feed->left = query_number(x, "mb", 100) << 20;
    feed->piece = (size_t)query_number(x, "piece", 64 * 1024);
    if (feed->piece == 0 || feed->piece > PIECE_MAX)
        feed->piece = PIECE_MAX;
    osb_http_reply_start(x, 200, "application/octet-stream", -1);
    osb_http_on_drain(x, feed_more, feed);
}

static void sink(struct osb_http_exchange *x, struct osb_slice data, bool is_end, void *arg)
{
    (void)data;
    (void)arg;
    if (is_end)
        osb_http_reply(x, 200, NULL, OSB_SLICE_NULL);
}

static void handle(struct osb_http_exchange *x, void *arg)
{
    (void)arg;
    struct osb_slice path = osb_http_raw_path(x);
    if (osb_slice_eq_str(path, "/stream"))
        stream(x);
    else if (osb_slice_eq_str(path, "/sink"))
        osb_http_on_body(x, sink, NULL);
    else
        osb_http_reply(x, 200, "text/plain", OSB_SLICE("hello world"));
}

static void stop(int signo, void *arg)
{
    (void)signo;
    osb_loop_stop(arg);
}

static long resident_kb(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int dial(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
        perror("connect");
        _exit(1);
    }
    return fd;
}

/* In a child: asks once and reads to the end. */
static void read_stream(int port, unsigned long mb, size_t piece)
{
    char request[200];
    int fd = dial(port);
    int len = snprintf(request, sizeof(request),
                       "GET /stream?mb=%lu&piece=%zu HTTP/1.1\r\nHost: h\r\nConnection: "
                       "close\r\n\r\n",
                       mb, piece);
    uint64_t start = osb_monotonic_ns();
    uint64_t total = 0;
    if (write(fd, request, (size_t)len) != len)
        _exit(1);
    for (ssize_t n; (n = read(fd, block, sizeof(block))) > 0;)
        total += (uint64_t)n;
    double seconds = (double)(osb_monotonic_ns() - start) / 1e9;
    printf("pieces of %zu bytes: %.0f MB/s\n", piece, (double)total / 1e6 / seconds);
    fflush(stdout);
    _exit(0);
}

static void run_child(struct osb_loop *loop, void (*work)(int port, unsigned long n, size_t piece),
                      int port, unsigned long n, size_t piece)
{
    pid_t pid = fork();
    if (pid == 0)
        work(port, n, piece);
    while (waitpid(pid, NULL, WNOHANG) == 0)
        osb_loop_turn(loop, 10);
}

/* In a child: opens N connections, asks once on each, holds them for the parent to look. */
static void hold_idle(int port, unsigned long n, size_t piece)
{
    static const char request[] = "GET /hello HTTP/1.1\r\nHost: h\r\n\r\n";
    (void)piece;
    for (unsigned long i = 0; i < n; i++) {
        int fd = dial(port);
        if (write(fd, request, sizeof(request) - 1) < 0 || read(fd, block, sizeof(block)) < 0)
            _exit(1);
    }
    sleep(1);
    _exit(0);
}

static int measure_idle(struct osb_loop *loop, struct osb_http_server *server, int port,
                        unsigned long n)
{
    long before = resident_kb();
    long most = before;
    pid_t pid = fork();
    if (pid == 0)
        hold_idle(port, n, 0);
    while (waitpid(pid, NULL, WNOHANG) == 0) {
        osb_loop_turn(loop, 10);
        if (osb_http_server_connections(server) == n)
            most = resident_kb();
    }
    printf("%lu idle connections: %.0f bytes each\n", n,
           (double)(most - before) * 1024 / (double)n);
    return 0;
}

int main(int argc, char **argv)
{
    _cleanup_loop_ struct osb_loop *loop = NULL;
    struct osb_http_server *server;
    struct osb_listener *listener;
    struct osb_err err = {0};
    bool is_own = argc > 2 && argv[1][0] == '-';
    int port = argc > 1 && !is_own ? atoi(argv[1]) : 0;
    struct osb_http_server_options options = {.max_connections = 1 << 20};
    if (osb_loop_new_epoll(&loop, &err) < 0 ||
        osb_http_server_new(loop, &options, handle, NULL, &server, &err) < 0 ||
        osb_listener_new_tcp(loop, "127.0.0.1", port, osb_http_server_accept, server, &listener,
                             &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    port = osb_listener_port(listener);
    unsigned long n = is_own ? strtoul(argv[2], NULL, 10) : 0;
    if (is_own && strcmp(argv[1], "--idle") == 0) {
        measure_idle(loop, server, port, n);
    } else if (is_own) {
        static const size_t pieces[] = {64, 512, 4096, 16 * 1024, 64 * 1024};
        for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
            run_child(loop, read_stream, port, n, pieces[i]);
    } else {
        osb_loop_on_signal(loop, SIGINT, stop, loop, NULL);
        printf("http://127.0.0.1:%d\n", port);
        fflush(stdout);
        osb_loop_run(loop);
    }
    osb_listener_free(listener);
    osb_http_server_free(server);
    return 0;
}
