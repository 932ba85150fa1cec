// SPDX-License-Identifier: Apache-2.0
#include "install.h"

#include <errno.h>
#include <fcntl.h>
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPY_CHUNK = 64 * 1024 };

static int copy(int from, int to)
{
    char chunk[COPY_CHUNK];
    ssize_t n;

    while ((n = read(from, chunk, sizeof(chunk))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        int r = n < 0 ? -errno : osb_write_all(to, chunk, (size_t)n);
        if (r < 0)
            return r;
    }
    return 0;
}

static int open_source(const char *path, int *ret_fd, struct osb_err *err)
{
    struct stat st;
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st) < 0)
        return osb_fail(err, -errno, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode) || st.st_size == 0)
        return osb_fail(err, -OSB_E_INVALID, "%s is no program", path);
    *ret_fd = osb_take_fd(&fd);
    return 0;
}

/* What an installer that was killed left at PATH is in the way of nobody else. */
static int open_new(const char *path, struct osb_err *err)
{
    if (unlink(path) < 0 && errno != ENOENT)
        return osb_fail(err, -errno, "%s: %s", path, strerror(errno));
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0700);
    return fd < 0 ? osb_fail(err, -errno, "%s: %s", path, strerror(errno)) : fd;
}

static int install_file(const char *source, const char *folder, const char *name,
                        struct osb_err *err)
{
    _cleanup_free_ char *target = osb_asprintf("%s/%s", folder, name);
    _cleanup_free_ char *temporary = osb_asprintf("%s/.%s.new", folder, name);
    _cleanup_close_ int from = -1;
    _cleanup_close_ int to = -1;

    int r = open_source(source, &from, err);
    if (r < 0)
        return r;
    to = open_new(temporary, err);
    if (to < 0)
        return to;
    r = copy(from, to);
    if (r == 0 && (fchmod(to, 0755) < 0 || rename(temporary, target) < 0))
        r = -errno;
    if (r == 0)
        return 0;
    unlink(temporary);
    return osb_fail(err, r, "%s: %s", target, strerror(-r));
}

int install_files(const char *self, const char *execd, const char *folder, struct osb_err *err)
{
    int r = osb_mkdir_p(folder, 0755, err);

    if (r >= 0)
        r = install_file(execd, folder, "execd", err);
    /* The launcher last: where it is, everything is. */
    if (r >= 0)
        r = install_file(self, folder, "bootstrap.sh", err);
    return r;
}
