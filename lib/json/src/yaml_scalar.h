// SPDX-License-Identifier: Apache-2.0
/* What a plain YAML scalar means. */
#ifndef OSB_YAML_SCALAR_H
#define OSB_YAML_SCALAR_H

#include <osb/json_tree.h>

/*
 * The value of a plain scalar by the core schema of YAML 1.2, with one rule of Kubernetes' readers
 * beside it: a leading zero makes an octal integer (defaultMode: 0644), and digits that are none
 * stay a string. "yes", "no", "on" and "off" are strings. NULL for .inf and .nan, which JSON
 * cannot say.
 */
struct osb_json *yaml_plain_scalar(struct osb_slice text);

#endif
