// SPDX-License-Identifier: Apache-2.0
/* IPv4 subnets as they are written: "10.1.2.0/24". */
#ifndef NET_CIDR_H
#define NET_CIDR_H

#include <osb/err.h>
#include <stdint.h>

/* The address in host byte order as it is written, its host part included. -OSB_E_INVALID. */
int cidr_parse(const char *text, uint32_t *ret_address, int *ret_prefix_len);

#endif
