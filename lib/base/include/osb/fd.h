// SPDX-License-Identifier: Apache-2.0
/* Descriptors, whole files and paths. All calls block; loops use them for small local files only.
 */
#ifndef OSB_FD_H
#define OSB_FD_H

#include <osb/buf.h>
#include <osb/err.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Reads at most MAX bytes of a file; more is -OSB_E_TOO_LARGE. Appends to OUT. */
int osb_read_file(const char *path, size_t max, struct osb_buf *out, struct osb_err *err);
/*
 * Replaces PATH as a whole: a temporary file beside it, fsync, rename. MODE is exact (no umask).
 */
int osb_write_file(const char *path, struct osb_slice content, mode_t mode, struct osb_err *err);
/* Writes all bytes, repeating after EINTR and short writes; 0 or -errno. */
int osb_write_all(int fd, const void *data, size_t len);
/* Makes PATH and its missing parents with MODE less the umask. */
int osb_mkdir_p(const char *path, mode_t mode, struct osb_err *err);
/*
 * Removes a tree without following links or crossing mounts; a missing PATH is success. Stops with
 * -EBUSY at a mount, bind mounts included.
 */
int osb_remove_tree(const char *path, struct osb_err *err);
int osb_set_nonblocking(int fd, bool is_nonblocking);
int osb_set_cloexec(int fd, bool is_cloexec);
/* "A/B" as a new string; owned by the caller. */
char *osb_path_join(const char *a, const char *b);

#endif
