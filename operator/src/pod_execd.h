// SPDX-License-Identifier: Apache-2.0
/*
 * What a pod with the mark `opensandbox.io/inject: execd` needs: the files of execd (pod_inject.h),
 * the launcher in front of its command, and execd's token from the Secret.
 */
#ifndef OPERATOR_POD_EXECD_H
#define OPERATOR_POD_EXECD_H

#include <osb/json_tree.h>

#include "config.h"

/*
 * Nothing without the mark. The main container is the one that the template names by
 * `opensandbox.io/inject-container`, else `sandbox`, else the first. -OSB_E_INVALID when it names
 * no command, and what pod_inject() fails with.
 */
int pod_add_execd(struct osb_json *pod, const char *secret, const struct config *config,
                  struct osb_err *err);

#endif
