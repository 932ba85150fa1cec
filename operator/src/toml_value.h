// SPDX-License-Identifier: Apache-2.0
/* Values of TOML, and keys with dots. Private to toml.c. */
#ifndef OPERATOR_TOML_VALUE_H
#define OPERATOR_TOML_VALUE_H

#include <osb/json_tree.h>

#include "toml_text.h"

/* A value of any type; *RET is the caller's. */
int toml_read_value(struct toml_reader *r, struct osb_json **ret);
/* `a.b.c = value` into TABLE. */
int toml_read_pair(struct toml_reader *r, struct osb_json *table);
/*
 * Reads "a.b.c": *RET_TABLE is the table (borrowed, made when absent) that the last part, appended
 * to KEY, belongs to. Arrays of tables are entered at their last one.
 */
int toml_read_key(struct toml_reader *r, struct osb_json *table, struct osb_json **ret_table,
                  struct osb_buf *key);

#endif
