// SPDX-License-Identifier: Apache-2.0
#include "log_stream.h"

#include "log_rotation.h"
#include "pod.h"
#include "pod_table.h"

#include <errno.h>
#include <fcntl.h>
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/cri_log.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    READ_BYTES = 64 * 1024,
    LINE_MAX_BYTES = 1024 * 1024,  /* of a line in a log file; containerd writes 16 KiB parts */
    HIGH_WATER_BYTES = 256 * 1024, /* queued for the reader before reading stops */
    FOLLOW_POLL_MS = 1000,         /* beside inotify: the end of the container */
};

struct log_stream {
    struct node *node;
    struct osb_http_exchange *x;
    char *path;
    char *namespace_;
    char *pod;
    int index;
    struct log_query query;
    int fd;       /* current file; -1 before and between files */
    bool has_old; /* the older file was read */
    int64_t skip; /* lines left out at the start, for tail_lines */
    bool is_part; /* the last line written was a part */
    struct osb_buf input;
    int64_t left; /* of limit_bytes */
    int notify;   /* inotify on the folder: files are written, and come and go by rotation */
    struct osb_watch watch;
    struct osb_timer poll;
};

/* ---- counting, for tail_lines ---- */

static int64_t count_lines(const char *path, int64_t since_ns)
{
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
    _cleanup_buf_ struct osb_buf input = {0};
    int64_t count = 0;
    for (;;) {
        char *room = fd < 0 ? NULL : osb_buf_reserve(&input, READ_BYTES);
        ssize_t n = room ? read(fd, room, READ_BYTES) : 0;
        if (n <= 0)
            return count;
        osb_buf_commit(&input, (size_t)n);
        ptrdiff_t end;
        while ((end = osb_slice_find(osb_buf_slice(&input), '\n')) >= 0) {
            struct osb_cri_log_line line;
            if (osb_cri_log_parse(osb_slice_first(osb_buf_slice(&input), (size_t)end), &line) >= 0)
                count += !line.is_partial && line.realtime_ns >= since_ns;
            osb_buf_consume(&input, (size_t)end + 1);
        }
        if (input.len > LINE_MAX_BYTES)
            osb_buf_clear(&input);
    }
}

/* ---- writing ---- */

/* Writes at most what limit_bytes leaves; the bytes queued. */
static size_t write_text(struct log_stream *stream, struct osb_slice text)
{
    if (stream->query.limit_bytes >= 0) {
        if (text.len > (size_t)stream->left)
            text.len = (size_t)stream->left;
        stream->left -= (int64_t)text.len;
    }
    return text.len ? osb_http_reply_write(stream->x, text) : 0;
}

static size_t write_line(struct log_stream *stream, struct osb_slice raw)
{
    struct osb_cri_log_line line;
    if (osb_cri_log_parse(raw, &line) < 0 || line.realtime_ns < stream->query.since_ns)
        return 0;
    if (stream->skip > 0) {
        stream->skip -= !line.is_partial;
        return 0;
    }
    if (stream->query.has_timestamps && !stream->is_part) {
        (void)write_text(stream, line.timestamp);
        (void)write_text(stream, OSB_SLICE(" "));
    }
    size_t queued = write_text(stream, line.text);
    if (!line.is_partial)
        queued = write_text(stream, OSB_SLICE("\n"));
    stream->is_part = line.is_partial;
    return queued;
}

/* Writes the whole lines of the input; true when the reader cannot take more now. */
static bool write_input(struct log_stream *stream)
{
    ptrdiff_t end;
    size_t queued = 0;
    while (queued < HIGH_WATER_BYTES &&
           (end = osb_slice_find(osb_buf_slice(&stream->input), '\n')) >= 0) {
        queued = write_line(stream, osb_slice_first(osb_buf_slice(&stream->input), (size_t)end));
        osb_buf_consume(&stream->input, (size_t)end + 1);
    }
    if (stream->input.len > LINE_MAX_BYTES)
        osb_buf_clear(&stream->input);
    return queued >= HIGH_WATER_BYTES;
}

/* ---- reading ---- */

static bool is_limit_reached(const struct log_stream *stream)
{
    return stream->query.limit_bytes >= 0 && stream->left == 0;
}

static bool is_container_running(const struct log_stream *stream)
{
    const struct pod *pod = pod_table_find(stream->node->pods, stream->namespace_, stream->pod);
    return pod && pod->state.containers[stream->index].phase == CONTAINER_PHASE_RUNNING;
}

static bool open_next(struct log_stream *stream)
{
    if (!stream->has_old) {
        _cleanup_free_ char *old = osb_asprintf("%s" LOG_ROTATED_SUFFIX, stream->path);
        stream->has_old = true;
        stream->fd = open(old, O_RDONLY | O_CLOEXEC);
        if (stream->fd >= 0)
            return true;
    }
    stream->fd = open(stream->path, O_RDONLY | O_CLOEXEC);
    return stream->fd >= 0;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/*
 * Whether the runtime writes to another file by now. It opens the new one first and lets go of the
 * old one then, so that only the first bytes of the new one say that the old one is complete.
 */
static bool is_replaced(const struct log_stream *stream)
{
    struct stat open_file, named;
    return fstat(stream->fd, &open_file) == 0 && stat(stream->path, &named) == 0 &&
           named.st_size > 0 && !is_same_file(&open_file, &named);
}

/* Leaves the file for the one that was written after it: a slow reader may be two behind. */
static void leave_file(struct log_stream *stream)
{
    _cleanup_free_ char *old = osb_asprintf("%s" LOG_ROTATED_SUFFIX, stream->path);
    struct stat open_file, older;
    stream->has_old = fstat(stream->fd, &open_file) < 0 || stat(old, &older) < 0 ||
                      is_same_file(&open_file, &older);
    close(stream->fd);
    stream->fd = -1;
}

/* Reads on in the open file; the bytes read, 0 at its end. */
static ssize_t read_more(struct log_stream *stream)
{
    char *room = osb_buf_reserve(&stream->input, READ_BYTES);
    ssize_t n = room ? read(stream->fd, room, READ_BYTES) : -1;
    if (n > 0)
        osb_buf_commit(&stream->input, (size_t)n);
    return n;
}

static void pump(struct log_stream *stream)
{
    /* Asked before reading: what was written before the end is then read below. */
    bool is_running = is_container_running(stream);
    for (;;) {
        if (write_input(stream))
            return; /* goes on when the reader has taken it */
        if (is_limit_reached(stream))
            break;
        if (stream->fd < 0 && !open_next(stream))
            break;
        ssize_t n = read_more(stream);
        if (n == 0 && is_replaced(stream)) {
            n = read_more(stream); /* what came between the two looks */
            if (n == 0) {
                leave_file(stream);
                continue;
            }
        }
        if (n == 0 && stream->query.is_follow && is_running)
            return; /* inotify or the timer comes back */
        if (n <= 0)
            break;
    }
    osb_http_reply_end(stream->x);
}

static void on_notify(struct osb_watch *watch, int events)
{
    char buffer[4096];
    (void)events;
    (void)!read(watch->fd, buffer, sizeof(buffer));
    pump(watch->arg);
}

static void on_poll(struct osb_timer *timer)
{
    struct log_stream *stream = timer->arg;
    osb_timer_set(timer, FOLLOW_POLL_MS);
    pump(stream);
}

static void on_drain(struct osb_http_exchange *x, void *arg)
{
    (void)x;
    pump(arg);
}

static void on_close(struct osb_http_exchange *x, bool is_complete, void *arg)
{
    struct log_stream *stream = arg;
    (void)x;
    (void)is_complete;
    osb_watch_stop(&stream->watch);
    osb_timer_stop(&stream->poll);
    if (stream->notify >= 0)
        close(stream->notify);
    if (stream->fd >= 0)
        close(stream->fd);
    osb_buf_done(&stream->input);
    free(stream->path);
    free(stream->namespace_);
    free(stream->pod);
    free(stream);
}

static void follow(struct log_stream *stream)
{
    osb_timer_init(&stream->poll, stream->node->loop, on_poll, stream);
    osb_timer_set(&stream->poll, FOLLOW_POLL_MS);
    stream->notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    _cleanup_free_ char *folder = osb_strdup(stream->path);
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    if (stream->notify < 0 ||
        inotify_add_watch(stream->notify, slash ? folder : ".", IN_MODIFY | IN_CREATE) < 0)
        return; /* the timer alone will do */
    osb_watch_init(&stream->watch, stream->node->loop, stream->notify, on_notify, stream);
    (void)osb_watch_set(&stream->watch, OSB_READABLE);
}

static void set_tail(struct log_stream *stream)
{
    if (stream->query.tail_lines < 0)
        return;
    _cleanup_free_ char *old = osb_asprintf("%s" LOG_ROTATED_SUFFIX, stream->path);
    int64_t total = count_lines(old, stream->query.since_ns) +
                    count_lines(stream->path, stream->query.since_ns);
    stream->skip = total - stream->query.tail_lines;
}

void log_stream_start(struct node *node, struct osb_http_exchange *x, const char *path,
                      const char *namespace_, const char *pod, int index,
                      const struct log_query *query)
{
    struct log_stream *stream = osb_new(struct log_stream);
    stream->node = node;
    stream->x = x;
    stream->path = osb_strdup(path);
    stream->namespace_ = osb_strdup(namespace_);
    stream->pod = osb_strdup(pod);
    stream->index = index;
    stream->query = *query;
    stream->left = query->limit_bytes;
    stream->fd = -1;
    stream->notify = -1;
    osb_http_on_close(x, on_close, stream);
    osb_http_on_drain(x, on_drain, stream);
    osb_http_reply_start(x, 200, "text/plain", -1);
    set_tail(stream);
    if (query->is_follow)
        follow(stream);
    pump(stream);
}
