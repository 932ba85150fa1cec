// SPDX-License-Identifier: Apache-2.0
/* What is there in every instance: the namespaces `default` and `kube-system`, and the node. */
#ifndef BOOTSTRAP_H
#define BOOTSTRAP_H

#include "cluster.h"

/* Blocks; called before anything is served. */
int bootstrap_objects(struct cluster *cluster, struct osb_err *err);

#endif
