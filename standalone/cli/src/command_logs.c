// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "instance.h"
#include "parts.h"

#include <errno.h>
#include <fcntl.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LOGS = PART_COUNT + 1, COPY_BYTES = 64 * 1024 };

struct log_file {
    const char *name;
    char *path;
    int fd; /* -1 while the file does not exist */
};

static int add_log(const char *state, const char *name, struct log_file *ret)
{
    char file[64];
    snprintf(file, sizeof(file), "logs/%s.log", name);
    ret->name = name;
    ret->path = osb_path_join(state, file);
    ret->fd = open(ret->path, O_RDONLY | O_CLOEXEC);
    return ret->fd;
}

/* Copies what is there beyond the current offset; true when there was something. */
static bool copy_new(struct log_file *log, bool has_head)
{
    char buffer[COPY_BYTES];
    bool has_copied = false;
    struct stat st, named;
    if (log->fd < 0)
        log->fd = open(log->path, O_RDONLY | O_CLOEXEC);
    if (log->fd < 0)
        return false;
    for (ssize_t n; (n = read(log->fd, buffer, sizeof(buffer))) > 0;) {
        if (has_head && !has_copied)
            printf("==> %s <==\n", log->name);
        has_copied = true;
        fwrite(buffer, 1, (size_t)n, stdout);
    }
    /*
     * Set aside at a restart: the name leads to a new file, whose first lines follow at once. Or
     * removed: an open file would keep the folder's inode, and with it the watch.
     */
    bool has_name = stat(log->path, &named) == 0;
    if (fstat(log->fd, &st) == 0 && (!st.st_nlink || (has_name && st.st_ino != named.st_ino))) {
        close(log->fd);
        log->fd = -1;
        has_copied |= copy_new(log, has_head && !has_copied);
    }
    return has_copied;
}

/* Waits for news; false when the folder is gone, or whoever reads our output. */
static bool wait_for_news(int notify)
{
    union { /* aligned for the first event */
        struct inotify_event event;
        char bytes[4096];
    } events;
    struct pollfd fds[] = {{.fd = notify, .events = POLLIN}, {.fd = STDOUT_FILENO}};
    if (poll(fds, 2, -1) < 0)
        return errno == EINTR;
    if (fds[1].revents & (POLLERR | POLLNVAL))
        return false;
    ssize_t n = read(notify, &events, sizeof(events));
    for (ssize_t at = 0; at < n;) {
        const struct inotify_event *event =
            (const struct inotify_event *)(const void *)(events.bytes + at);
        if (event->mask & IN_IGNORED)
            return false;
        at += (ssize_t)(sizeof(*event) + event->len);
    }
    return n > 0 || errno == EINTR;
}

static void follow(const char *state, struct log_file *logs, int count)
{
    _cleanup_free_ char *folder = osb_path_join(state, "logs");
    _cleanup_close_ int notify = inotify_init1(IN_CLOEXEC);
    if (notify < 0 ||
        inotify_add_watch(notify, folder, IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE) < 0) {
        fprintf(stderr, "opensandbox logs: %s cannot be watched: %s\n", folder, strerror(errno));
        return;
    }
    for (;;) {
        for (int i = 0; i < count; i++)
            (void)copy_new(&logs[i], count > 1);
        if (fflush(stdout) != 0 || !wait_for_news(notify))
            return;
    }
}

int command_logs(const char *state, const char *part, bool is_follow)
{
    struct log_file logs[MAX_LOGS] = {0};
    int count = 0, found = 0;
    if (part && strcmp(part, "supervisor") != 0 && !part_by_name(part)) {
        fprintf(stderr, "opensandbox logs: no part \"%s\"; there are supervisor", part);
        for (int i = 0; i < PART_COUNT; i++)
            fprintf(stderr, ", %s", parts[i].name);
        fprintf(stderr, "\n");
        return 2;
    }
    if (part) {
        found += add_log(state, part, &logs[count++]) >= 0;
    } else {
        found += add_log(state, "supervisor", &logs[count++]) >= 0;
        for (int i = 0; i < PART_COUNT; i++)
            found += add_log(state, parts[i].name, &logs[count++]) >= 0;
    }
    if (found) {
        for (int i = 0; i < count; i++)
            (void)copy_new(&logs[i], count > 1);
        fflush(stdout);
        if (is_follow)
            follow(state, logs, count);
    } else {
        fprintf(stderr, "opensandbox logs: nothing in %s/logs yet\n", state);
    }
    for (int i = 0; i < count; i++) {
        free(logs[i].path);
        if (logs[i].fd >= 0)
            close(logs[i].fd);
    }
    return found ? 0 : 1;
}
