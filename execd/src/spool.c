// SPDX-License-Identifier: Apache-2.0
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void spool_init(struct spool *spool, uint64_t limit)
{
    *spool = (struct spool){.fd = -1, .limit = limit};
}

void spool_done(struct spool *spool)
{
    osb_buf_done(&spool->memory);
    if (spool->fd >= 0)
        close(spool->fd);
    spool->fd = -1;
}

void spool_forget(struct spool *spool)
{
    spool_done(spool);
    spool->begin = spool->end;
}

uint64_t spool_file_bytes(const struct spool *spool)
{
    return spool->fd >= 0 ? spool->end - spool->begin : 0;
}

/* A file without a name. Images without a usable temporary folder get one in memory. */
static int open_ring(void)
{
    const char *dir = getenv("TMPDIR");

    if (!dir || !*dir)
        dir = "/tmp";
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    _cleanup_free_ char *path = osb_path_join(dir, "execd-spool-XXXXXX");
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) {
        unlink(path);
        return fd;
    }
    return memfd_create("execd-spool", MFD_CLOEXEC);
}

static int write_at(int fd, const char *data, size_t len, off_t at)
{
    while (len > 0) {
        ssize_t n = pwrite(fd, data, len, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        data += n;
        len -= (size_t)n;
        at += n;
    }
    return 0;
}

/* Writes at most one limit's length of bytes that stand at OFFSET of the output. */
static int write_ring(struct spool *spool, struct osb_slice data, uint64_t offset)
{
    size_t at = (size_t)(offset % spool->limit);
    struct osb_slice head = osb_slice_first(data, (size_t)spool->limit - at);
    struct osb_slice tail = osb_slice_from(data, head.len);
    int r = write_at(spool->fd, head.data, head.len, (off_t)at);

    if (r == 0 && tail.len > 0)
        r = write_at(spool->fd, tail.data, tail.len, 0);
    return r;
}

static int move_to_file(struct spool *spool)
{
    int fd = open_ring();

    if (fd < 0)
        return -errno;
    spool->fd = fd;
    int r = write_ring(spool, osb_buf_slice(&spool->memory), spool->begin);
    osb_buf_done(&spool->memory);
    return r;
}

void spool_append(struct spool *spool, struct osb_slice data)
{
    if (spool->fd < 0 && spool->memory.len + data.len <= SPOOL_MEMORY_MAX) {
        osb_buf_append_slice(&spool->memory, data);
        spool->end += data.len;
        return;
    }
    int r = spool->fd < 0 ? move_to_file(spool) : 0;
    spool->end += data.len;
    if (data.len > spool->limit)
        data = osb_slice_from(data, data.len - (size_t)spool->limit);
    if (r == 0)
        r = write_ring(spool, data, spool->end - data.len);
    if (r < 0)
        spool_forget(spool);
    else if (spool->end - spool->begin > spool->limit)
        spool->begin = spool->end - spool->limit;
}

ssize_t spool_read(const struct spool *spool, uint64_t offset, char *buffer, size_t len)
{
    if (offset >= spool->end)
        return 0;
    if (len > spool->end - offset)
        len = (size_t)(spool->end - offset);
    if (spool->fd < 0) {
        memcpy(buffer, osb_buf_slice(&spool->memory).data + (offset - spool->begin), len);
        return (ssize_t)len;
    }
    uint64_t at = offset % spool->limit;
    if (len > spool->limit - at)
        len = (size_t)(spool->limit - at);
    ssize_t n = pread(spool->fd, buffer, len, (off_t)at);
    return n < 0 ? -errno : n;
}
