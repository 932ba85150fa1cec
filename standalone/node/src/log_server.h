// SPDX-License-Identifier: Apache-2.0
/* The node runner's socket: container logs for the API server (docs/interfaces.md). */
#ifndef NODE_LOG_SERVER_H
#define NODE_LOG_SERVER_H

#include "node.h"

struct log_server;

int log_server_new(struct node *node, struct log_server **ret, struct osb_err *err);
void log_server_free(struct log_server *server);

#endif
