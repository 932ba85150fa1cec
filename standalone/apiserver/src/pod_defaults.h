// SPDX-License-Identifier: Apache-2.0
/* The defaults of core/v1 Pod, as published in its API reference. */
#ifndef POD_DEFAULTS_H
#define POD_DEFAULTS_H

#include <osb/json_tree.h>

void pod_default_spec(struct osb_json *spec);
/* "Guaranteed", "Burstable" or "BestEffort". */
const char *pod_qos_class(const struct osb_json *spec);

#endif
