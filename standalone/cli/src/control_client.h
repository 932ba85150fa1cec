// SPDX-License-Identifier: Apache-2.0
/* Asks a supervisor over its control socket, and waits for the answer. */
#ifndef CLI_CONTROL_CLIENT_H
#define CLI_CONTROL_CLIENT_H

#include "instance.h"

#include <osb/err.h>
#include <osb/json_tree.h>

/*
 * One call; *RET is the answer's tree. -OSB_E_UNAVAILABLE when no supervisor listens. RET may be
 * NULL.
 */
int control_call(const struct instance *instance, const char *method, const char *path,
                 struct osb_json **ret, struct osb_err *err);

#endif
