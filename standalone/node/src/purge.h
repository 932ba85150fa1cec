// SPDX-License-Identifier: Apache-2.0
/* `opensandbox-node purge`: removes every pod sandbox of a containerd, then ends. */
#ifndef NODE_PURGE_H
#define NODE_PURGE_H

#include "node.h"

/* Runs until all are gone; the exit code. */
int purge(const char *cri);

#endif
