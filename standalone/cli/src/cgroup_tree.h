// SPDX-License-Identifier: Apache-2.0
/* Removes an instance's cgroup from every hierarchy that is mounted, version 1 and 2. */
#ifndef CLI_CGROUP_TREE_H
#define CLI_CGROUP_TREE_H

#include <osb/err.h>

/* CGROUP is "/opensandbox-<id>". Groups with processes in them stay; the first one is named. */
int cgroup_tree_remove(const char *cgroup, struct osb_err *err);

#endif
