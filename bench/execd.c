// SPDX-License-Identifier: Apache-2.0
// bench-deps: base
/*
 * execd as its clients see it (performance.md, rows 7 to 11): start, a command's first byte and
 * whole stream beside a bare spawn of the same command, output and file throughput, memory.
 *
 *   execd PROGRAM [FOLDER]   PROGRAM is the execd to measure, FOLDER takes the transferred file
 */
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/clock.h>
#include <osb/err.h>
#include <osb/fd.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    STARTS = 50,
    WARM_UP = 200,
    COMMANDS = 2000,
    MANY_COMMANDS = 10000,
    LINE_BYTES = 1000,
    PIECE = 1 << 20,
};

static const uint64_t output_bytes = 1000000000;
static const uint64_t file_bytes = 1ULL << 30;
static const char boundary[] = "bench-0123456789";
static char block[PIECE];

/* ---- figures ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One line a figure; a target of 0 is none. */
static void say(const char *name, double value, const char *unit, double target, bool is_at_least,
                const char *more)
{
    bool is_met = is_at_least ? value >= target : value <= target;
    printf("execd_%s value=%.3f unit=%s", name, value, unit);
    if (target > 0)
        printf(" target=%g %s", target, is_met ? "met" : "missed");
    printf("%s%s\n", *more ? " " : "", more);
    fflush(stdout);
}

static void say_times(const char *name, double *ms, int count, double p50_target, double p99_target)
{
    char more[128];
    qsort(ms, (size_t)count, sizeof(*ms), compare);
    double p99 = ms[count * 99 / 100];
    snprintf(more, sizeof(more), "min=%.3f p95=%.3f p99=%.3f%s max=%.3f rounds=%d", ms[0],
             ms[count * 95 / 100], p99,
             p99_target == 0     ? ""
             : p99 <= p99_target ? " p99_met"
                                 : " p99_missed",
             ms[count - 1], count);
    say(name, ms[count / 2], "ms", p50_target, false, more);
}

static double ms_since(uint64_t start_ns)
{
    return (double)(osb_monotonic_ns() - start_ns) / 1e6;
}

/* ---- the program under test ---- */

static int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    osb_assert(bind(fd, (struct sockaddr *)&address, len) == 0);
    osb_assert(getsockname(fd, (struct sockaddr *)&address, &len) == 0);
    close(fd);
    return ntohs(address.sin_port);
}

static int try_connect(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        close(fd);
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return fd;
}

/* Starts PROGRAM and waits until it accepts. */
static pid_t start(char *program, int port, int *ret_fd)
{
    char number[16];
    char *argv[] = {program, "--port", number, "--log-level", "4", NULL};
    pid_t pid;
    snprintf(number, sizeof(number), "%d", port);
    osb_assert(posix_spawn(&pid, program, NULL, NULL, argv, environ) == 0);
    while ((*ret_fd = try_connect(port)) < 0)
        osb_assert(waitpid(pid, NULL, WNOHANG) == 0);
    return pid;
}

static void stop(pid_t pid)
{
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
}

static double rss_mb(pid_t pid)
{
    _cleanup_buf_ struct osb_buf text = {0};
    _cleanup_free_ char *path = osb_asprintf("/proc/%d/status", (int)pid);
    osb_assert(osb_read_file(path, 1 << 20, &text, NULL) == 0);
    const char *line = strstr(osb_buf_cstr(&text), "VmRSS:");
    return line ? (double)atol(line + 6) / 1000 : 0;
}

/* ---- measurements ---- */

static void measure_start(char *program)
{
    double ms[STARTS];
    for (int i = 0; i < STARTS; i++) {
        int port = free_port();
        int fd;
        uint64_t from = osb_monotonic_ns();
        pid_t pid = start(program, port, &fd);
        ms[i] = ms_since(from);
        close(fd);
        stop(pid);
    }
    say_times("exec_to_listening", ms, STARTS, 1.5, 0);
}

/* The same program that only says its version: what starting any program costs here and now. */
static void measure_exec(char *program)
{
    char *argv[] = {program, "--version", NULL};
    posix_spawn_file_actions_t actions;
    double ms[STARTS];
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    for (int i = 0; i < STARTS; i++) {
        pid_t pid;
        uint64_t from = osb_monotonic_ns();
        osb_assert(posix_spawn(&pid, program, &actions, NULL, argv, environ) == 0);
        waitpid(pid, NULL, 0);
        ms[i] = ms_since(from);
    }
    posix_spawn_file_actions_destroy(&actions);
    say_times("exec_and_exit", ms, STARTS, 0, 0);
}

static void send_json(int fd, const char *body)
{
    _cleanup_free_ char *request = osb_asprintf(
        "POST /command HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s", strlen(body), body);
    osb_assert(osb_write_all(fd, request, strlen(request)) == 0);
}

/* Reads one chunked answer; the time of its first byte. Returns the bytes read. */
static uint64_t read_answer(int fd, uint64_t *ret_first_ns)
{
    static const char last[] = "0\r\n\r\n";
    char tail[sizeof(last)] = "";
    uint64_t total = 0;
    for (;;) {
        ssize_t n = read(fd, block, sizeof(block));
        osb_assert(n > 0);
        if (total == 0)
            *ret_first_ns = osb_monotonic_ns();
        total += (uint64_t)n;
        size_t keep = sizeof(last) - 1;
        if ((size_t)n >= keep) {
            memcpy(tail, block + n - keep, keep);
        } else {
            memmove(tail, tail + n, keep - (size_t)n);
            memcpy(tail + keep - (size_t)n, block, (size_t)n);
        }
        if (memcmp(tail, last, keep) == 0)
            return total;
    }
}

static void measure_commands(int fd)
{
    static double first[COMMANDS];
    static double whole[COMMANDS];
    for (int i = -WARM_UP; i < COMMANDS; i++) {
        uint64_t first_ns = 0;
        uint64_t from = osb_monotonic_ns();
        send_json(fd, "{\"command\":\"echo hi\"}");
        read_answer(fd, &first_ns);
        if (i < 0)
            continue;
        whole[i] = ms_since(from);
        first[i] = (double)(first_ns - from) / 1e6;
    }
    say_times("command_first_byte", first, COMMANDS, 1, 3);
    say_times("command_whole", whole, COMMANDS, 3, 0);
}

/* The same command without execd: what no service can be faster than. */
static void measure_bare(void)
{
    static double ms[COMMANDS];
    char *argv[] = {"bash", "-c", "echo hi", NULL};
    for (int i = -WARM_UP; i < COMMANDS; i++) {
        posix_spawn_file_actions_t actions;
        int fds[2];
        pid_t pid;
        uint64_t from = osb_monotonic_ns();
        osb_assert(pipe(fds) == 0);
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
        posix_spawn_file_actions_addclose(&actions, fds[0]);
        osb_assert(posix_spawnp(&pid, "bash", &actions, NULL, argv, environ) == 0);
        close(fds[1]);
        while (read(fds[0], block, sizeof(block)) > 0)
            ;
        waitpid(pid, NULL, 0);
        close(fds[0]);
        posix_spawn_file_actions_destroy(&actions);
        if (i >= 0)
            ms[i] = ms_since(from);
    }
    say_times("bare_spawn_of_the_same", ms, COMMANDS, 0, 0);
}

static void measure_output(int fd, const char *self)
{
    _cleanup_free_ char *body = osb_asprintf("{\"argv\":[\"%s\",\"--lines\",\"%llu\"]}", self,
                                             (unsigned long long)output_bytes);
    uint64_t first_ns;
    uint64_t from = osb_monotonic_ns();
    send_json(fd, body);
    read_answer(fd, &first_ns);
    say("stdout_lines_of_1000", (double)output_bytes / 1e3 / ms_since(from), "MB/s", 400, true, "");
}

/* Reads a head and LEFT-over body bytes; the status. */
static int read_head(int fd, uint64_t *ret_body)
{
    size_t len = 0;
    char *end = NULL;
    while (!end) {
        ssize_t n = read(fd, block + len, sizeof(block) - 1 - len);
        osb_assert(n > 0);
        len += (size_t)n;
        block[len] = '\0';
        end = strstr(block, "\r\n\r\n");
    }
    *ret_body = len - (size_t)(end + 4 - block);
    return atoi(block + strlen("HTTP/1.1 "));
}

static void upload(int fd, const char *path)
{
    _cleanup_free_ char *head = osb_asprintf(
        "--%s\r\nContent-Disposition: form-data; name=\"metadata\"; filename=\"metadata\"\r\n\r\n"
        "{\"path\":\"%s\"}\r\n--%s\r\nContent-Disposition: form-data; name=\"file\"; "
        "filename=\"f\"\r\n\r\n",
        boundary, path, boundary);
    _cleanup_free_ char *tail = osb_asprintf("\r\n--%s--\r\n", boundary);
    _cleanup_free_ char *request =
        osb_asprintf("POST /files/upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; "
                     "boundary=%s\r\nContent-Length: %llu\r\n\r\n%s",
                     boundary, (unsigned long long)strlen(head) + file_bytes + strlen(tail), head);
    uint64_t rest;
    osb_assert(osb_write_all(fd, request, strlen(request)) == 0);
    for (uint64_t sent = 0; sent < file_bytes; sent += sizeof(block))
        osb_assert(osb_write_all(fd, block, sizeof(block)) == 0);
    osb_assert(osb_write_all(fd, tail, strlen(tail)) == 0);
    osb_assert(read_head(fd, &rest) == 200);
}

static void download(int fd, const char *path)
{
    _cleanup_free_ char *request =
        osb_asprintf("GET /files/download?path=%s HTTP/1.1\r\nHost: x\r\n\r\n", path);
    uint64_t got;
    osb_assert(osb_write_all(fd, request, strlen(request)) == 0);
    osb_assert(read_head(fd, &got) == 200);
    while (got < file_bytes) {
        ssize_t n = read(fd, block, sizeof(block));
        osb_assert(n > 0);
        got += (uint64_t)n;
    }
}

static void measure_files(int fd, pid_t pid, const char *folder)
{
    _cleanup_free_ char *path = osb_asprintf("%s/execd-bench-%d", folder, (int)getpid());
    double before = rss_mb(pid);
    uint64_t from = osb_monotonic_ns();
    upload(fd, path);
    say("upload", (double)file_bytes / 1e6 / ms_since(from), "GB/s", 1, true, "");
    from = osb_monotonic_ns();
    download(fd, path);
    say("download", (double)file_bytes / 1e6 / ms_since(from), "GB/s", 1, true, "");
    say("transfer_memory_growth", rss_mb(pid) - before, "MB", 0.5, false, "");
    unlink(path);
}

static void measure_memory(int fd, pid_t pid)
{
    uint64_t first_ns;
    for (int i = 0; i < MANY_COMMANDS; i++) {
        send_json(fd, "{\"argv\":[\"/bin/echo\",\"hi\"]}");
        read_answer(fd, &first_ns);
    }
    say("rss_after_10000_commands", rss_mb(pid), "MB", 3, false, "");
}

/* The command whose output is measured. */
static int print_lines(uint64_t bytes)
{
    static char lines[64 * LINE_BYTES];
    memset(lines, 'x', sizeof(lines));
    for (size_t i = LINE_BYTES - 1; i < sizeof(lines); i += LINE_BYTES)
        lines[i] = '\n';
    for (uint64_t done = 0; done < bytes;) {
        size_t len = bytes - done < sizeof(lines) ? (size_t)(bytes - done) : sizeof(lines);
        if (osb_write_all(STDOUT_FILENO, lines, len) < 0)
            return EXIT_FAILURE;
        done += len;
    }
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct stat st;
    int fd;
    if (argc == 3 && strcmp(argv[1], "--lines") == 0)
        return print_lines(strtoull(argv[2], NULL, 10));
    if (argc < 2 || stat(argv[1], &st) < 0) {
        fprintf(stderr, "usage: execd PROGRAM [FOLDER]\n");
        return 2;
    }
    _cleanup_free_ char *self = realpath("/proc/self/exe", NULL);
    say("size", (double)st.st_size / 1e6, "MB", 1.2, false, "");
    measure_exec(argv[1]);
    measure_start(argv[1]);
    pid_t pid = start(argv[1], free_port(), &fd);
    say("idle_rss", rss_mb(pid), "MB", 1.5, false, "");
    measure_commands(fd);
    measure_bare();
    measure_memory(fd, pid);
    measure_output(fd, self);
    measure_files(fd, pid, argc > 2 ? argv[2] : "/tmp");
    stop(pid);
    return EXIT_SUCCESS;
}
