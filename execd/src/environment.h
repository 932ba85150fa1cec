// SPDX-License-Identifier: Apache-2.0
/*
 * What a command finds in its environment (execd contract 5.3, 16.6): execd's own environment less
 * the variables that configure execd, then the file that EXECD_ENVS names (read again for every
 * command), then the request's.
 */
#ifndef EXECD_ENVIRONMENT_H
#define EXECD_ENVIRONMENT_H

#include <osb/arena.h>
#include <osb/map.h>
#include <osb/slice.h>

struct environment {
    struct osb_map vars; /* name → "NAME=value" in the arena */
    struct osb_arena arena;
};

/* The first two layers. Nothing here fails: an unreadable file is as good as none. */
void environment_load(struct environment *env);
void environment_done(struct environment *env);
/* NAME and VALUE hold no NUL, NAME no '='. */
void environment_set(struct environment *env, struct osb_slice name, struct osb_slice value);
/* Borrowed; NULL when there is none. */
const char *environment_get(const struct environment *env, struct osb_slice name);
/* NULL-terminated, borrowed. */
const char *const *environment_list(struct environment *env);

/* expand_lookup_fn; ARG is a struct environment. */
const char *environment_lookup(struct osb_slice name, void *arg);
/* expand_lookup_fn over execd's own environment; ARG is not used. */
const char *environment_lookup_own(struct osb_slice name, void *arg);

#define _cleanup_environment_ __attribute__((cleanup(environment_done)))

#endif
