// SPDX-License-Identifier: Apache-2.0
/* The parts of the shim put together, from the first descriptor to the last call. */
#ifndef SHIM_DAEMON_H
#define SHIM_DAEMON_H

#include "options.h"

/* Calls that run on SIGTERM have as long; a second signal does not wait. */
enum { DAEMON_GRACE_MS = 5000 };

/* Serves until a signal; a failure is one of the start. */
int daemon_run(const struct options *options, struct osb_err *err);

#endif
