// SPDX-License-Identifier: Apache-2.0
/*
 * What a pod with the mark `opensandbox.io/inject: execd` needs beside the files, which the node
 * puts in: the launcher in front of its command, and execd's token from the Secret.
 */
#ifndef OPERATOR_POD_EXECD_H
#define OPERATOR_POD_EXECD_H

#include <osb/json_tree.h>

/* Nothing without the mark. -OSB_E_INVALID when the main container names no command. */
int pod_add_execd(struct osb_json *pod, const char *secret, struct osb_err *err);

#endif
