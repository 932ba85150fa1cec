// SPDX-License-Identifier: Apache-2.0
/*
 * One nft table of an instance: `ip NAME` with a postrouting chain that masquerades what leaves the
 * instance's subnet by another link than its bridge. Nothing outside the table is touched.
 */
#ifndef NET_NAT_TABLE_H
#define NET_NAT_TABLE_H

#include <osb/err.h>
#include <stdbool.h>
#include <stdint.h>

/* NETWORK in host byte order. Replaces the table as a whole, in one transaction. */
int nat_table_make(const char *table, const char *bridge, uint32_t network, int prefix_len,
                   struct osb_err *err);
/* A missing table is success. */
int nat_table_remove(const char *table, struct osb_err *err);
/* 1 when the table is there, 0 when not, or an error. */
int nat_table_exists(const char *table, struct osb_err *err);

#endif
