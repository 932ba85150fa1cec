// SPDX-License-Identifier: Apache-2.0
// bench-deps: rpc loop
// bench-sources: lib/rpc/tests/grpc_peer.c lib/rpc/tests/grpc_stopwatch.c
/*
 * What the raw-frame proxy adds to an echo of 200 bytes over UNIX sockets, on each route, and the
 * memory that it takes. Client, proxy and backend are a process each; calls go direct and through
 * the proxy by turns, so that a busy machine slows both.
 *
 *     build/release/bench/rpc_proxy [calls]
 */
#include <grpc_peer.h>
#include <grpc_stopwatch.h>
#include <osb/alloc.h>
#include <osb/clock.h>
#include <osb/fd.h>
#include <osb/rpc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    REQUEST_BYTES = 200,
    DEFAULT_CALLS = 5000, /* in a row, on each way */
    MAX_CALLS = 100000,
    BLOCK = 100, /* calls on one way before it is the other's turn */
    WARM_UP = 500,
    LARGE_CALLS = 4,
    OPEN_STREAMS = 1000,
    QUIET_MS = 1000, /* longer than memory is kept for a next burst */
};

/* The targets of the shim: latency that a CRI call gains, and resident memory. */
static const double target_p50_us = 120, target_p99_us = 300, target_rss_mb = 12;

enum way { DIRECT, PUMPS, UNARY, REWRITE, WAYS };

static const char *const way_names[WAYS] = {"direct", "pumps", "unary", "rewrite"};
static const char *const methods[WAYS] = {"/d.S/Echo", "/p.S/Echo", "/u.S/Echo", "/r.S/Echo"};
static double samples_us[WAYS][MAX_CALLS];

/* ---- the backend's process ---- */

static void echo(const struct grpc_peer_request *request, struct grpc_peer_answer *answer,
                 void *arg)
{
    (void)arg;
    if (osb_slice_ends(request->method, OSB_SLICE("/Open"))) {
        answer->stays_open = true;
        return;
    }
    osb_buf_append_slice(&answer->message, request->message);
    answer->count = 1;
}

/* Says its target on OUT and serves until the other end of STOP is closed. */
static int be_backend(int stop, int out)
{
    struct grpc_peer *peer = grpc_peer_new(echo, NULL);
    char byte;

    dprintf(out, "%s", grpc_peer_target(peer));
    close(out);
    while (read(stop, &byte, 1) > 0)
        continue;
    grpc_peer_free(peer);
    return 0;
}

/* ---- the proxy's process ---- */

static enum osb_rpc_route route(struct osb_slice method, void *arg)
{
    (void)arg;
    return method.data[1] == 'p'   ? OSB_RPC_FORWARD
           : method.data[1] == 'u' ? OSB_RPC_FORWARD_UNARY
                                   : OSB_RPC_REWRITE;
}

static int rewrite(struct osb_slice method, struct osb_slice request, struct osb_buf *out,
                   struct osb_err *err, void *arg)
{
    (void)method;
    (void)err;
    (void)arg;
    osb_buf_append_slice(out, request);
    return 0;
}

static void on_accept(struct osb_watch *watch, int events)
{
    int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC);

    (void)events;
    if (fd >= 0)
        osb_rpc_server_serve_fd(watch->arg, fd, NULL);
}

static void on_stop(struct osb_watch *watch, int events)
{
    (void)events;
    osb_loop_stop(watch->loop);
}

static int be_proxy(int stop, int listener, const char *backend)
{
    struct osb_rpc_server_options options = {.route = route, .rewrite = rewrite};
    struct osb_rpc_server *server;
    struct osb_watch accept_watch, stop_watch;
    struct osb_loop *loop;

    osb_assert(osb_loop_new_epoll(&loop, NULL) == 0);
    osb_assert(osb_rpc_channel_new(loop, backend, &options.backend, NULL) == 0);
    osb_assert(osb_rpc_server_new(loop, &options, &server, NULL) == 0);
    osb_watch_init(&accept_watch, loop, listener, on_accept, server);
    osb_watch_init(&stop_watch, loop, stop, on_stop, NULL);
    osb_assert(osb_watch_set(&accept_watch, OSB_READABLE) == 0);
    osb_assert(osb_watch_set(&stop_watch, OSB_READABLE) == 0);
    osb_loop_run(loop);
    osb_watch_stop(&accept_watch);
    osb_watch_stop(&stop_watch);
    osb_rpc_server_free(server);
    osb_rpc_channel_free(options.backend);
    osb_loop_free(loop);
    return 0;
}

/* ---- the client ---- */

static void measure(struct grpc_stopwatch *const clients[WAYS], int calls)
{
    for (int way = 0; way < WAYS; way++)
        for (int i = 0; i < WARM_UP; i++)
            grpc_stopwatch_echo(clients[way], methods[way], REQUEST_BYTES);
    for (int done = 0; done < calls; done += BLOCK)
        for (int way = 0; way < WAYS; way++)
            for (int i = 0; i < BLOCK; i++)
                samples_us[way][done + i] =
                    grpc_stopwatch_echo(clients[way], methods[way], REQUEST_BYTES);
}

/* ---- figures ---- */

static double rss_mb(pid_t pid)
{
    char path[64], line[256];
    double kb = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "VmRSS: %lf kB", &kb) == 1)
            break;
    if (file)
        fclose(file);
    return kb / 1024;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double percentile(const double *sorted, int count, int percent)
{
    int rank = (count * percent + 99) / 100;

    return sorted[rank > 0 ? rank - 1 : 0];
}

static const char *met(double value, double target)
{
    return value <= target ? "met" : "missed";
}

static void say_latency(enum way way, int calls)
{
    double p50 = percentile(samples_us[way], calls, 50),
           p99 = percentile(samples_us[way], calls, 99);
    double d50 = percentile(samples_us[DIRECT], calls, 50);
    double d99 = percentile(samples_us[DIRECT], calls, 99);

    printf("rpc_proxy.%s.added_p50 value=%.1f unit=us target=%.0f %s peer=direct peer_value=%.1f "
           "through=%.1f ratio=%.2f n=%d\n",
           way_names[way], p50 - d50, target_p50_us, met(p50 - d50, target_p50_us), d50, p50,
           p50 / d50, calls);
    printf("rpc_proxy.%s.added_p99 value=%.1f unit=us target=%.0f %s peer=direct peer_value=%.1f "
           "through=%.1f ratio=%.2f n=%d\n",
           way_names[way], p99 - d99, target_p99_us, met(p99 - d99, target_p99_us), d99, p99,
           p99 / d99, calls);
}

static void say_rss(const char *when, pid_t proxy)
{
    double mb = rss_mb(proxy);

    printf("rpc_proxy.rss_%s value=%.1f unit=MB target=%.0f %s\n", when, mb, target_rss_mb,
           met(mb, target_rss_mb));
}

static void quiet(void)
{
    usleep(QUIET_MS * 1000);
}

static void run(const char *direct, const char *through, pid_t proxy, int calls)
{
    struct grpc_stopwatch *near = grpc_stopwatch_new(direct), *far = grpc_stopwatch_new(through);
    struct grpc_stopwatch *const clients[WAYS] = {near, far, far, far};
    grpc_call **streams;

    grpc_stopwatch_echo(far, methods[PUMPS], REQUEST_BYTES);
    say_rss("first_call", proxy);
    measure(clients, calls);
    for (int way = 0; way < WAYS; way++)
        qsort(samples_us[way], (size_t)calls, sizeof(double), compare);
    for (int way = PUMPS; way < WAYS; way++)
        say_latency(way, calls);
    say_rss("after_calls", proxy);
    streams = grpc_stopwatch_open(far, "/p.S/Open", OPEN_STREAMS, REQUEST_BYTES);
    grpc_stopwatch_echo(far, methods[PUMPS], REQUEST_BYTES);
    printf("rpc_proxy.rss_%d_streams value=%.1f unit=MB\n", OPEN_STREAMS, rss_mb(proxy));
    grpc_stopwatch_close(streams, OPEN_STREAMS);
    for (int i = 0; i < LARGE_CALLS; i++)
        grpc_stopwatch_echo(far, methods[PUMPS], OSB_RPC_MAX_MESSAGE);
    printf("rpc_proxy.rss_16mb_messages value=%.1f unit=MB\n", rss_mb(proxy));
    quiet();
    say_rss("quiet_again", proxy);
    grpc_stopwatch_free(near);
    grpc_stopwatch_free(far);
}

/* ---- processes ---- */

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    osb_assert(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    osb_assert(listen(fd, SOMAXCONN) == 0);
    return fd;
}

static void wait_for(pid_t pid)
{
    int status;

    osb_assert(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(int argc, char **argv)
{
    int calls = argc > 1 ? atoi(argv[1]) : DEFAULT_CALLS;
    char folder[] = "/tmp/osb-bench-rpc-XXXXXX", backend[128] = "", path[128], target[160];
    int stop[2], told[2], listener;
    pid_t backend_pid, proxy_pid;

    if (calls < BLOCK || calls > MAX_CALLS || calls % BLOCK) {
        fprintf(stderr, "usage: %s [calls], %d to %d, a multiple of %d\n", argv[0], BLOCK,
                MAX_CALLS, BLOCK);
        return 2;
    }
    osb_assert(mkdtemp(folder) && pipe(stop) == 0 && pipe(told) == 0);
    snprintf(path, sizeof(path), "%s/s", folder);
    snprintf(target, sizeof(target), "unix://%s", path);
    listener = listen_at(path);
    /* The library starts threads: every process is made before the first use of it. */
    backend_pid = fork();
    if (backend_pid == 0) {
        close(stop[1]);
        return be_backend(stop[0], told[1]);
    }
    close(told[1]);
    osb_assert(read(told[0], backend, sizeof(backend) - 1) > 0);
    proxy_pid = fork();
    if (proxy_pid == 0) {
        close(stop[1]);
        return be_proxy(stop[0], listener, backend);
    }
    close(listener);
    close(stop[0]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    run(backend, target, proxy_pid, calls);
    close(stop[1]);
    wait_for(proxy_pid);
    wait_for(backend_pid);
    return osb_remove_tree(folder, NULL) < 0;
}
