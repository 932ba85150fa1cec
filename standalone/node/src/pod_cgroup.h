// SPDX-License-Identifier: Apache-2.0
/*
 * The cgroup of a pod, which holds those of its sandbox and containers. The runtime makes it with
 * the first of them and removes only the leaves, so that it is ours to take away.
 */
#ifndef NODE_POD_CGROUP_H
#define NODE_POD_CGROUP_H

/*
 * Removes the folders `PARENT/pod<UID>` in the hierarchies below ROOT (version 1: each
 * controller's; version 2: the one of ROOT itself). One that is not there or still in use is left.
 */
void pod_cgroup_remove(const char *root, const char *parent, const char *uid);

#endif
