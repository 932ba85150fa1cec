// SPDX-License-Identifier: Apache-2.0
/*
 * Which pod was last seen in each slot, kept in annotations of the object: tells a pod that was
 * made again from the first one, also after a crash of the operator.
 */
#ifndef OPERATOR_SANDBOX_RECORDS_H
#define OPERATOR_SANDBOX_RECORDS_H

#include "sandbox_view.h"

#define ANNOTATION_POD_UIDS "opensandbox.io/pod-uids"      /* JSON array, one a slot; "" for none */
#define ANNOTATION_REPLACED "opensandbox.io/replaced-pods" /* pods lost and made again */

/* Fills `uids` and `replaced` of VIEW. A pod is recorded once it has an address. */
void sandbox_records_update(const struct batchsandbox *bs, struct osb_arena *arena,
                            struct sandbox_view *view);

#endif
