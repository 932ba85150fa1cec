// SPDX-License-Identifier: Apache-2.0
/*
 * A walk through a folder in lexical order, parents before children, links listed but not followed,
 * a limited number of entries at a time, so that a large tree does not hold up the loop. Entries
 * that vanish on the way and folders that cannot be read are passed over.
 */
#ifndef EXECD_WALK_H
#define EXECD_WALK_H

#include <osb/err.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct walk;

/* PATH is absolute and valid during the call, as is ST (lstat). */
typedef void walk_fn(const char *path, const struct stat *st, void *arg);

/* DEPTH 1: the entries of ROOT alone. Not a folder is -ENOTDIR. */
int walk_new(const char *root, uint64_t depth, walk_fn *fn, void *arg, struct walk **ret,
             struct osb_err *err);
/* Visits at most COUNT entries; false when the walk is over. */
bool walk_step(struct walk *walk, int count);
void walk_free(struct walk *walk);

#endif
