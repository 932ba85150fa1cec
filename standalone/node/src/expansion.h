// SPDX-License-Identifier: Apache-2.0
/* $(NAME) in commands, arguments and values of the environment, as Kubernetes expands it. */
#ifndef NODE_EXPANSION_H
#define NODE_EXPANSION_H

#include "cri_build.h"

/*
 * TEXT, in ARENA, with each $(NAME) replaced by the last value that ENV gives it. "$$" stands for
 * "$", so that "$$(NAME)" comes out as "$(NAME)"; a name that ENV does not know, and a "$(" without
 * its ")", stay as they are. Values are not expanded again.
 */
const char *expand_variables(struct osb_arena *arena, const char *text,
                             const struct resolved_env *env, size_t env_count);

#endif
