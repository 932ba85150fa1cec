// SPDX-License-Identifier: Apache-2.0
/*
 * All pods of this node: fed by the API server's watch and by containerd's events, and at start by
 * what CRI still has of an earlier life of this process.
 */
#ifndef NODE_POD_TABLE_H
#define NODE_POD_TABLE_H

#include "node.h"

struct pod;
struct pod_table;

/*
 * Lists what CRI has, then starts the watch; READY runs when both have been taken in once.
 */
int pod_table_new(struct node *node, void (*ready)(void *arg), void *arg, struct pod_table **ret,
                  struct osb_err *err);
/* Forgets all pods; their sandboxes live on. NULL is allowed. */
void pod_table_free(struct pod_table *table);
/* Forgets and frees POD, of which nothing is left. */
void pod_table_forget(struct pod_table *table, struct pod *pod);
/* The pod of that name; NULL when there is none. */
struct pod *pod_table_find(struct pod_table *table, const char *namespace_, const char *name);

#endif
