// SPDX-License-Identifier: Apache-2.0
/*
 * Limits and requests of a sandbox. The published clients ask for 1 CPU and 2 GiB by default; taken
 * as requests too, two of them would fill a small node. So what a pod requests is a configured
 * fraction of its limits, unless the caller says what it needs.
 */
#ifndef OPERATOR_REST_RESOURCES_H
#define OPERATOR_REST_RESOURCES_H

#include <osb/json_tree.h>

#include "rest_errors.h"

/* Names and quantities of both maps (NULL: none), requests within limits; 0 or an error. */
int rest_resources_check(const struct osb_json *limits, const struct osb_json *requests,
                         struct rest_error *error);
/* A container's `resources` from checked maps; NULL when there are none. */
struct osb_json *rest_resources_build(const struct osb_json *limits,
                                      const struct osb_json *requests, double fraction);

#endif
