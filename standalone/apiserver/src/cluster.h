// SPDX-License-Identifier: Apache-2.0
/*
 * The state of one instance: registry, store, cache and history, the writer that changes them, and
 * the collectors that follow up on changes. Whoever serves clients reads from here and submits
 * writes; whoever watches is told of commits.
 */
#ifndef CLUSTER_H
#define CLUSTER_H

#include "writer.h"

struct collector;

struct cluster {
    struct osb_loop *loop;
    struct registry registry;
    struct store *store;
    struct osb_workers *workers;
    struct cache cache;
    struct history history;
    struct writer *writer;
    struct collector *collector;
    const char *node_name;
    void (*on_committed)(void *arg); /* after each commit, once everything is applied */
    void *arg;
};

/* Opens DATABASE, loads it, and starts what must be there in every instance. CRDS is a folder. */
int cluster_open(struct cluster *cluster, struct osb_loop *loop, const char *database,
                 const char *crds, const char *node_name, struct osb_err *err);
/* Ends what is in flight and closes the store. */
void cluster_close(struct cluster *cluster);

#endif
