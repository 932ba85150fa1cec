// SPDX-License-Identifier: Apache-2.0
/* Builds the operator's parts from the bottom up, runs them, and takes them down again. */
#ifndef OPERATOR_DAEMON_H
#define OPERATOR_DAEMON_H

#include "config.h"
#include "options.h"

/* Serves until SIGTERM or SIGINT; 0 or an error. */
int daemon_run(const struct options *options, struct config *config, struct osb_err *err);

#endif
