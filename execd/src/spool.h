// SPDX-License-Identifier: Apache-2.0
/*
 * The output of one command, kept for GET /command/{id}/logs within a limit: the oldest bytes go
 * first. Little output stays in memory; more moves to an unlinked file used as a ring, so that it
 * costs no memory and nothing is left behind when the process ends. Offsets count from the first
 * byte that the command wrote.
 */
#ifndef EXECD_SPOOL_H
#define EXECD_SPOOL_H

#include <osb/buf.h>
#include <osb/slice.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    SPOOL_MEMORY_MAX = 4 * 1024,  /* bytes kept in memory before a file is made */
    SPOOL_MAX = 64 * 1024 * 1024, /* bytes kept of one command */
};

struct spool {
    struct osb_buf memory;
    int fd;         /* the ring; -1 while in memory */
    uint64_t begin; /* offset of the oldest byte that is kept */
    uint64_t end;   /* offset behind the newest */
    uint64_t limit; /* bytes kept */
};

void spool_init(struct spool *spool, uint64_t limit);
void spool_done(struct spool *spool);
/* Never fails: when no file can be had or written, what does not fit in memory is forgotten. */
void spool_append(struct spool *spool, struct osb_slice data);
/* Copies at most LEN bytes from OFFSET (begin or later); 0 at the end. Negative: -errno. */
ssize_t spool_read(const struct spool *spool, uint64_t offset, char *buffer, size_t len);
/* Forgets everything that is kept (offsets go on). */
void spool_forget(struct spool *spool);
/* Bytes kept in a file; 0 while in memory. */
uint64_t spool_file_bytes(const struct spool *spool);

#endif
