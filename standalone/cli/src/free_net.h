// SPDX-License-Identifier: Apache-2.0
/* Finds TCP ports and IPv4 subnets that nobody on this machine uses. */
#ifndef CLI_FREE_NET_H
#define CLI_FREE_NET_H

#include <osb/err.h>
#include <stdbool.h>
#include <stdint.h>

/* PREFERRED on 127.0.0.1 when it is free, else any free port; 0 has no preference. */
int free_net_port(int preferred, int *ret_port, struct osb_err *err);
/* A random 10.x.y.0/24 that overlaps no address and no route of this machine. */
int free_net_subnet(char **ret_cidr, struct osb_err *err);
/*
 * True when NETWORK/24 (host byte order) meets a route of TABLE, the text of /proc/net/route. The
 * default route does not count.
 */
bool free_net_overlaps(uint32_t network, const char *table);

#endif
