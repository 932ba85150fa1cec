// SPDX-License-Identifier: Apache-2.0
/* Taking over a pod that an earlier life of the node runner has worked on. */
#ifndef NODE_POD_ADOPT_H
#define NODE_POD_ADOPT_H

#include "cri_inventory.h"
#include "pod.h"

/*
 * Takes from the pod's own status what only it knows (ends of containers, restart counts), then
 * from INVENTORY what still exists. What had been started and exists no more counts as lost. The
 * details of what exists are asked of CRI beside.
 */
void pod_adopt(struct pod *pod, struct cri_inventory *inventory);

#endif
