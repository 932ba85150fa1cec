// SPDX-License-Identifier: Apache-2.0
/*
 * The file patterns of searches (execd contract 9.4): `*`, `?`, `[a-z]`, `[!a]`, `{a,b}` (nested),
 * `\` escapes; a leading "**" path part matches any folders. There is no `!(x)`.
 */
#ifndef EXECD_GLOB_H
#define EXECD_GLOB_H

#include <stdbool.h>

enum {
    GLOB_MAX_PATTERN = 4096,
    GLOB_MAX_ALTERNATIVES = 256, /* patterns that the braces of one may stand for */
};

/* True when NAME (without '/') matches PATTERN; too many alternatives match nothing. */
bool glob_match(const char *pattern, const char *name);

#endif
