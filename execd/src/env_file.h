// SPDX-License-Identifier: Apache-2.0
/*
 * The file that EXECD_ENVS names (execd contract 5.3, 16.6): one KEY=VALUE a line. Blank lines,
 * lines that start with '#' and lines without '=' are passed over. An unquoted value is trimmed and
 * expanded; '…' is literal; "…" knows \n \r \t \\ \" and is expanded afterwards; both may span
 * lines. Text behind a closing quote, or a quote that never closes, voids the entry.
 */
#ifndef EXECD_ENV_FILE_H
#define EXECD_ENV_FILE_H

#include "expand.h"

#include <osb/slice.h>

enum { ENV_FILE_MAX = 1024 * 1024 }; /* bytes of the file */

/* VALUE is expanded; both are valid during the call. */
typedef void env_file_fn(struct osb_slice name, struct osb_slice value, void *arg);

/* Calls FN for each entry in order. Returns the number of lines that were not understood. */
size_t env_file_parse(struct osb_slice text, expand_lookup_fn *lookup, void *lookup_arg,
                      env_file_fn *fn, void *arg);

#endif
