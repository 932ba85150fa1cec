// SPDX-License-Identifier: Apache-2.0
/* Paths of requests, made usable (execd contract 2.2). */
#ifndef EXECD_PATH_H
#define EXECD_PATH_H

#include "expand.h"

#include <osb/arena.h>
#include <osb/err.h>
#include <osb/slice.h>

/* PATH expanded with execd's own environment and made absolute; in ARENA. */
int path_resolve(struct osb_arena *arena, struct osb_slice path, char **ret, struct osb_err *err);
/* Like it, with another environment; it must be a directory. */
int path_directory(struct osb_arena *arena, struct osb_slice path, expand_lookup_fn *lookup,
                   void *arg, char **ret, struct osb_err *err);
/* The part behind the last '/'; borrowed. */
const char *path_base(const char *path);

#endif
