// SPDX-License-Identifier: Apache-2.0
/* The steps of a pod's worker: each carries out one action of pod_core.h over CRI or the API. */
#ifndef NODE_POD_STEPS_H
#define NODE_POD_STEPS_H

#include "pod.h"

/* Starts pod->action; when it has ended, the worker is kicked again. */
void pod_step_start(struct pod *pod);
/* Cuts a step short that deletion makes pointless (a pull) or too slow (a long grace period). */
void pod_step_interrupt(struct pod *pod);

#endif
