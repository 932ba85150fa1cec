// SPDX-License-Identifier: Apache-2.0
/*
 * Expansion of paths and of values in the variables file (execd contract 2.2, 5.3): $NAME and
 * ${NAME} where NAME is an identifier, nothing else of a shell; "a$5b" stays as it is.
 */
#ifndef EXECD_EXPAND_H
#define EXECD_EXPAND_H

#include <osb/buf.h>
#include <osb/err.h>
#include <osb/slice.h>

/* The value of a variable, or NULL when there is none. */
typedef const char *expand_lookup_fn(struct osb_slice name, void *arg);

/* Appends TEXT with its variables replaced; an undefined one becomes nothing. */
void expand_variables(struct osb_buf *out, struct osb_slice text, expand_lookup_fn *lookup,
                      void *arg);
/*
 * Appends PATH with its variables and a leading "~" or "~/" replaced. An undefined variable, "~"
 * without HOME, and a NUL byte are -OSB_E_INVALID; an empty path stays empty.
 */
int expand_path(struct osb_buf *out, struct osb_slice path, expand_lookup_fn *lookup, void *arg,
                struct osb_err *err);

/* True for [A-Za-z_][A-Za-z0-9_]*. */
bool expand_is_identifier(struct osb_slice name);

#endif
