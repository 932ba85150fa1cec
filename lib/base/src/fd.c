// SPDX-License-Identifier: Apache-2.0
#include <osb/fd.h>

#include <fcntl.h>
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_CHUNK = 16 * 1024 };

static int fail_errno(struct osb_err *err, const char *what, const char *path)
{
    int code = errno;
    return osb_fail(err, -code, "%s %s: %s", what, path, strerror(code));
}

/* One read(2) of at most N bytes onto the end of OUT; the bytes read, 0 at the end. */
static ssize_t read_some(int fd, size_t n, struct osb_buf *out)
{
    char *room = osb_buf_reserve(out, n);
    if (!room)
        return out->err;
    ssize_t got;
    do
        got = read(fd, room, n);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return -errno;
    osb_buf_commit(out, (size_t)got);
    return got;
}

/* Asks for one byte more than MAX, which is how a file that is too long shows. */
static int read_to_end(int fd, size_t max, struct osb_buf *out)
{
    size_t before = out->len;
    for (;;) {
        size_t left = max - (out->len - before);
        size_t wanted = left < READ_CHUNK ? left + 1 : READ_CHUNK;
        if (out->limit && out->limit - out->len < wanted && out->limit > out->len)
            wanted = out->limit - out->len; /* let a file that just fits fit */
        char probe;
        bool is_full = out->limit && out->len >= out->limit;
        ssize_t n = is_full ? read(fd, &probe, 1) : read_some(fd, wanted, out);
        if (n == 0)
            return 0;
        if (n < 0)
            return is_full ? -errno : (int)n;
        if (is_full || (size_t)n > left)
            return -OSB_E_TOO_LARGE;
    }
}

int osb_read_file(const char *path, size_t max, struct osb_buf *out, struct osb_err *err)
{
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(err, "open", path);
    size_t before = out->len;
    int r = read_to_end(fd, max, out);
    if (r >= 0)
        return 0;
    osb_buf_truncate(out, before);
    if (r == -OSB_E_TOO_LARGE)
        return osb_fail(err, r, "read %s: more than %zu bytes", path, max);
    return osb_fail(err, r, "read %s: %s", path, strerror(-r));
}

int osb_write_all(int fd, const void *data, size_t len)
{
    for (const char *at = data; len;) {
        ssize_t n = write(fd, at, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

/* Length of PATH's folder with its last slash; 0 when PATH is a plain name. */
static size_t folder_len(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

static int fill_file(int fd, struct osb_slice content, mode_t mode)
{
    if (fchmod(fd, mode) < 0)
        return -errno;
    int r = osb_write_all(fd, content.data, content.len);
    if (r < 0)
        return r;
    return fsync(fd) < 0 ? -errno : 0;
}

/* A rename survives a crash once its folder is on disk. */
static int sync_folder(const char *path)
{
    size_t len = folder_len(path);
    _cleanup_free_ char *folder = len ? osb_strndup(path, len) : osb_strdup(".");
    _cleanup_close_ int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    /* Some file systems cannot sync a folder and say EINVAL; there is nothing better to do. */
    return fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
}

int osb_write_file(const char *path, struct osb_slice content, mode_t mode, struct osb_err *err)
{
    /* The name starts with a dot, so that readers of *.conf folders never pick it up. */
    size_t len = folder_len(path);
    _cleanup_free_ char *temporary = osb_asprintf("%.*s.%s.XXXXXX", (int)len, path, path + len);
    _cleanup_close_ int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return fail_errno(err, "create a file beside", path);

    int r = fill_file(fd, content, mode);
    if (r == 0 && rename(temporary, path) < 0)
        r = -errno;
    if (r < 0) {
        unlink(temporary);
        return osb_fail(err, r, "write %s: %s", path, strerror(-r));
    }
    r = sync_folder(path);
    if (r < 0)
        return osb_fail(err, r, "sync the folder of %s: %s", path, strerror(-r));
    return 0;
}

static int make_folder(const char *path, mode_t mode)
{
    if (mkdir(path, mode) == 0)
        return 0;
    int code = errno;
    struct stat st;
    /* The folder may be there, or be of a parent that we may not write to. */
    if (stat(path, &st) < 0)
        return -code;
    return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int osb_mkdir_p(const char *path, mode_t mode, struct osb_err *err)
{
    _cleanup_free_ char *prefix = osb_strdup(path);
    for (char *at = prefix; *at;) {
        at += strspn(at, "/");
        at += strcspn(at, "/");
        char saved = *at;
        *at = '\0';
        int r = make_folder(prefix, mode);
        if (r < 0)
            return osb_fail(err, r, "make folder %s: %s", prefix, strerror(-r));
        *at = saved;
    }
    return 0;
}

static int set_flag(int fd, int get, int set, int flag, bool is_set)
{
    int flags = fcntl(fd, get);
    if (flags < 0)
        return -errno;
    int wanted = is_set ? flags | flag : flags & ~flag;
    if (wanted != flags && fcntl(fd, set, wanted) < 0)
        return -errno;
    return 0;
}

int osb_set_nonblocking(int fd, bool is_nonblocking)
{
    return set_flag(fd, F_GETFL, F_SETFL, O_NONBLOCK, is_nonblocking);
}

int osb_set_cloexec(int fd, bool is_cloexec)
{
    return set_flag(fd, F_GETFD, F_SETFD, FD_CLOEXEC, is_cloexec);
}

char *osb_path_join(const char *a, const char *b)
{
    size_t len = strlen(a);
    while (len > 1 && a[len - 1] == '/')
        len--;
    b += strspn(b, "/");
    bool has_slash = len && a[len - 1] == '/';
    return osb_asprintf("%.*s%s%s", (int)len, a, len && !has_slash ? "/" : "", b);
}
