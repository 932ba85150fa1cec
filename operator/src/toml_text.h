// SPDX-License-Identifier: Apache-2.0
/* The characters of TOML: blanks, comments, keys, strings. Private to toml.c and toml_value.c. */
#ifndef OPERATOR_TOML_TEXT_H
#define OPERATOR_TOML_TEXT_H

#include <osb/buf.h>
#include <osb/err.h>
#include <stdbool.h>

struct toml_reader {
    const char *p;
    const char *end;
    int line; /* from 1 */
    int depth;
    struct osb_err *err;
};

/* Raises WHAT at the current line. */
int toml_fail(struct toml_reader *r, const char *what);
/* The next byte; 0 at the end of the text. */
static inline char toml_peek(const struct toml_reader *r)
{
    return r->p < r->end ? *r->p : '\0';
}
/* Takes C when it comes next. */
bool toml_take(struct toml_reader *r, char c);
/* Blanks and tabs. */
void toml_skip_blanks(struct toml_reader *r);
/* Blanks, line ends and comments. */
int toml_skip_lines(struct toml_reader *r);
/* Nothing but a comment may follow on this line. */
int toml_end_line(struct toml_reader *r);
/* A quoted string of either kind; appends its content. */
int toml_read_string(struct toml_reader *r, struct osb_buf *out);
/* A bare or quoted part of a key. */
int toml_read_key_part(struct toml_reader *r, struct osb_buf *out);

#endif
