// SPDX-License-Identifier: Apache-2.0
/*
 * TOML as JSON trees: what configuration files need of TOML 1.0, which is all but multi-line
 * strings, infinities and NaN; those are refused, not misread. Dates become strings.
 */
#ifndef OPERATOR_TOML_H
#define OPERATOR_TOML_H

#include <osb/json_tree.h>

enum {
    TOML_MAX_DEPTH = 32,     /* of nested arrays and inline tables */
    TOML_MAX_KEY_PARTS = 16, /* a.b.c has three */
};

/* An object in *RET. -OSB_E_INVALID with the line. */
int toml_parse(struct osb_slice text, struct osb_json **ret, struct osb_err *err);

#endif
