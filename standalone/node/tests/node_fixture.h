// SPDX-License-Identifier: Apache-2.0
/* A node runner's surroundings for tests: a folder of its own as root, and secrets from a table. */
#ifndef NODE_NODE_FIXTURE_H
#define NODE_NODE_FIXTURE_H

#include "volumes.h"

#include <osb/fd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fixture_node {
    struct node node;
    char root[64];
};

static inline void fixture_node_init(struct fixture_node *fixture)
{
    memset(fixture, 0, sizeof(*fixture));
    snprintf(fixture->root, sizeof(fixture->root), "/tmp/osb-node-test.XXXXXX");
    if (!mkdtemp(fixture->root))
        abort();
    fixture->node.options.root = fixture->root;
    fixture->node.options.node_name = "here";
    fixture->node.options.execd = "/lib/execd";
    fixture->node.options.bootstrap = "/lib/bootstrap.sh";
    fixture->node.options.cgroup_parent = "/parent";
    fixture->node.host_ip = (char *)(uintptr_t) "192.0.2.1";
}

static inline void fixture_node_done(struct fixture_node *fixture)
{
    if (osb_remove_tree(fixture->root, NULL) < 0)
        abort();
}

/* One secret, named "s": user=ada, pass=x1. */
static inline bool fixture_secret_get(const char *secret, const char *key, struct osb_slice *ret,
                                      void *arg)
{
    (void)arg;
    if (strcmp(secret, "s") != 0 || (strcmp(key, "user") != 0 && strcmp(key, "pass") != 0))
        return false;
    *ret = osb_slice_str(!strcmp(key, "user") ? "ada" : "x1");
    return true;
}

static inline bool fixture_secret_each(const char *secret,
                                       void (*fn)(const char *key, struct osb_slice value,
                                                  void *fn_arg),
                                       void *fn_arg, void *arg)
{
    (void)arg;
    if (strcmp(secret, "s") != 0)
        return false;
    fn("user", OSB_SLICE("ada"), fn_arg);
    fn("pass", OSB_SLICE("x1"), fn_arg);
    return true;
}

static const struct secret_source fixture_secrets = {fixture_secret_get, fixture_secret_each, NULL};

#endif
