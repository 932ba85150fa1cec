// SPDX-License-Identifier: Apache-2.0
/* The rules of core/v1 Pod that matter to whoever runs it. */
#ifndef POD_VALIDATE_H
#define POD_VALIDATE_H

#include "refusal.h"

#include <osb/json_tree.h>

void pod_validate_spec(const struct osb_json *spec, struct refusal *r);
/* Only image, deadline, grace and added tolerations may change in a pod's life. */
void pod_validate_spec_update(const struct osb_json *spec, const struct osb_json *old,
                              struct refusal *r);

#endif
