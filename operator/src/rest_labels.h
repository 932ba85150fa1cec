// SPDX-License-Identifier: Apache-2.0
/* The caller's metadata: labels of the object, so Kubernetes' rules hold. Free of I/O. */
#ifndef OPERATOR_REST_LABELS_H
#define OPERATOR_REST_LABELS_H

#include <osb/json_tree.h>

/* True for keys that belong to the platform. */
bool rest_label_is_reserved(struct osb_slice key);
/* What is wrong with a key and its value, as static text; NULL when nothing is. */
const char *rest_label_problem(struct osb_slice key, struct osb_slice value);

#endif
