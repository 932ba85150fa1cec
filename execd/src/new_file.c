// SPDX-License-Identifier: Apache-2.0
#include "new_file.h"

#include "parents.h"

#include <fcntl.h>
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NEW_FILE_MODE = 0644 }; /* where the client names none and no umask takes more */

static void forget(struct new_file *file)
{
    free(file->path);
    free(file->temp);
    *file = (struct new_file){.fd = -1};
}

static mode_t creation_mode(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return NEW_FILE_MODE & ~mask;
}

/* Gives the temporary file what the target has: owner as far as we may, and the mode. */
static void copy_attributes(int fd, const struct stat *st)
{
    if (fchown(fd, st->st_uid, st->st_gid) < 0)
        (void)!fchown(fd, (uid_t)-1, st->st_gid);
    (void)fchmod(fd, st->st_mode & 07777);
}

static int open_in_place(struct new_file *file, struct osb_err *err)
{
    file->fd = open(file->path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
    return file->fd < 0 ? osb_fail(err, -errno, "%s: %s", file->path, strerror(errno)) : 0;
}

/* The folder takes no other file, but the target itself may be writable. */
static bool may_write_in_place(const struct new_file *file, int error)
{
    return file->exists && (error == EACCES || error == EROFS || error == EPERM);
}

static int open_temp(struct new_file *file, const struct stat *st, struct osb_err *err)
{
    const char *slash = strrchr(file->path, '/');
    int folder = (int)(slash - file->path);

    file->temp = osb_asprintf("%.*s/.execd-upload-XXXXXX", folder, file->path);
    file->fd = mkostemp(file->temp, O_CLOEXEC);
    if (file->fd >= 0) {
        if (file->exists)
            copy_attributes(file->fd, st);
        else
            (void)fchmod(file->fd, creation_mode());
        return 0;
    }
    int error = errno;
    free(osb_take_ptr(file->temp));
    if (may_write_in_place(file, error))
        return open_in_place(file, err);
    return osb_fail(err, -error, "%s: %s", file->path, strerror(error));
}

int new_file_open(struct new_file *file, const char *path, const struct permission *permission,
                  struct osb_err *err)
{
    struct stat st;

    *file = (struct new_file){.fd = -1};
    int r = parents_make(path, 0777, permission, err);
    if (r < 0)
        return r;
    file->path = realpath(path, NULL);
    file->exists = file->path != NULL;
    if (!file->path)
        file->path = osb_strdup(path);
    if (file->exists && stat(file->path, &st) == 0 && !S_ISREG(st.st_mode))
        r = osb_fail(err, S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL, "%s is not a regular file",
                     path);
    else
        r = open_temp(file, &st, err);
    if (r < 0)
        forget(file);
    return r;
}

int new_file_write(struct new_file *file, struct osb_slice data, struct osb_err *err)
{
    int r = osb_write_all(file->fd, data.data, data.len);

    return r < 0 ? osb_fail(err, r, "%s: %s", file->path, strerror(-r)) : 0;
}

/* The target is a mount of its own and cannot be replaced: its content can. */
static int copy_over(struct new_file *file, struct osb_err *err)
{
    _cleanup_close_ int from = open(file->temp, O_RDONLY | O_CLOEXEC);
    _cleanup_close_ int to = open(file->path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
    ssize_t n = -1;

    if (from >= 0 && to >= 0)
        while ((n = sendfile(to, from, NULL, 1 << 20)) > 0)
            ;
    return n < 0 ? osb_fail(err, -errno, "%s: %s", file->path, strerror(errno)) : 0;
}

static int put_in_place(struct new_file *file, struct osb_err *err)
{
    if (!file->temp)
        return 0;
    if (rename(file->temp, file->path) == 0) {
        free(osb_take_ptr(file->temp));
        return 0;
    }
    if (errno == EBUSY)
        return copy_over(file, err);
    return osb_fail(err, -errno, "%s: %s", file->path, strerror(errno));
}

int new_file_commit(struct new_file *file, const struct permission *permission, struct osb_err *err)
{
    int r = permission_apply(permission, file->fd, NULL, err);

    /* A full disk or quota shows here at the latest. */
    int fd = osb_take_fd(&file->fd);
    if (close(fd) < 0 && r == 0 && errno != EINTR)
        r = osb_fail(err, -errno, "%s: %s", file->path, strerror(errno));
    if (r == 0)
        r = put_in_place(file, err);
    new_file_discard(file);
    return r;
}

void new_file_discard(struct new_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    if (file->temp)
        unlink(file->temp);
    forget(file);
}
