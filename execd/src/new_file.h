// SPDX-License-Identifier: Apache-2.0
/*
 * A file that is written as a whole: into a temporary one beside its target, which then takes the
 * target's place, so that nobody ever reads half of it and a broken upload leaves the old one.
 * Links are followed; owner and mode of an existing target are kept. Where a folder cannot take
 * another file, or the target is a mount, it is overwritten in place instead. Nothing is synced to
 * disk: a sandbox outlives execd, not its machine.
 */
#ifndef EXECD_NEW_FILE_H
#define EXECD_NEW_FILE_H

#include "permission.h"

#include <osb/err.h>
#include <osb/slice.h>
#include <stdbool.h>

struct new_file {
    int fd;      /* -1: not open */
    char *path;  /* the target, links resolved */
    char *temp;  /* NULL when written in place */
    bool exists; /* there is a target */
};

/* PATH is absolute; its missing folders are made, with the owner of PERMISSION. */
int new_file_open(struct new_file *file, const char *path, const struct permission *permission,
                  struct osb_err *err);
int new_file_write(struct new_file *file, struct osb_slice data, struct osb_err *err);
/* Applies PERMISSION and puts the file in its place; closes. */
int new_file_commit(struct new_file *file, const struct permission *permission,
                    struct osb_err *err);
/* Closes and removes what is not committed. Safe on a closed one. */
void new_file_discard(struct new_file *file);

#endif
