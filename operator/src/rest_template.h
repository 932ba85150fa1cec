// SPDX-License-Identifier: Apache-2.0
/*
 * The operator's own additions to every sandbox that REST makes: a BatchSandbox in YAML whose
 * fields lie beneath those that a request gives (contract of the public server: tolerations, node
 * affinity, priority, pull secrets, volumes with their mounts, a security context).
 */
#ifndef OPERATOR_REST_TEMPLATE_H
#define OPERATOR_REST_TEMPLATE_H

#include <osb/json_tree.h>

enum { REST_MAX_TEMPLATE = 1024 * 1024 }; /* bytes of the file */

/* Reads PATH, where "~/" is $HOME; *RET is the caller's. Blocks (a small local file). */
int rest_template_load(const char *path, struct osb_json **ret, struct osb_err *err);
/* Lays TEMPLATE (NULL: none) beneath OBJECT. */
void rest_template_apply(const struct osb_json *template_, struct osb_json *object);

#endif
