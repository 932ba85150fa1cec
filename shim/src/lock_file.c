// SPDX-License-Identifier: Apache-2.0
#include "lock_file.h"

#include <fcntl.h>
#include <osb/cleanup.h>
#include <osb/log.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { PID_TEXT_MAX = 32 };

static void note_holder(int fd)
{
    char text[PID_TEXT_MAX];
    int len = snprintf(text, sizeof(text), "%d\n", (int)getpid());

    /* For people; the lock is what counts. */
    if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)len, 0) != len)
        osb_log(OSB_LOG_DEBUG, "the lock file does not name its holder");
}

static int held_by_another(const char *path, int fd, struct osb_err *err)
{
    char text[PID_TEXT_MAX] = "";
    ssize_t len = pread(fd, text, sizeof(text) - 1, 0);

    text[len > 0 ? strcspn(text, "\n") : 0] = '\0';
    return osb_fail(err, -EADDRINUSE, "%s is held by another shim, process %s", path,
                    text[0] ? text : "unknown");
}

int lock_file_take(const char *path, int *ret_fd, struct osb_err *err)
{
    _cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        return osb_fail(err, -errno, "lock file %s: %s", path, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK ? held_by_another(path, fd, err)
                                    : osb_fail(err, -errno, "lock %s: %s", path, strerror(errno));
    note_holder(fd);
    *ret_fd = osb_take_fd(&fd);
    return 0;
}
