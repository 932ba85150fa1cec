// SPDX-License-Identifier: Apache-2.0
/*
 * Strategic merge patch for core/v1 kinds: which lists merge by which key is one table (containers
 * by name, env by name, ports by containerPort, volumes by name, volumeMounts by mountPath,
 * tolerations atomic, finalizers as a set, ownerReferences by uid, …), with the directives $patch
 * (replace, delete, merge), $retainKeys, $setElementOrder/… and $deleteFromPrimitiveList/….
 */
#ifndef OSB_API_STRATEGIC_H
#define OSB_API_STRATEGIC_H

#include <osb/err.h>
#include <osb/json_tree.h>

enum { OSB_STRATEGIC_MAX_ITEMS = 2048 }; /* of a list that merges by key */

/*
 * Applies PATCH to *TARGET, both objects. On failure *TARGET is unchanged: -OSB_E_INVALID for a
 * patch that breaks the rules (an item without its merge key, an unknown directive), or
 * -OSB_E_TOO_LARGE. The merge schema of a value: KIND is "Pod", "PodTemplateSpec", "Secret",
 * "TaskTemplateSpec", …; unknown kinds merge maps and replace lists.
 */
int osb_strategic_merge(struct osb_json **target, const struct osb_json *patch, const char *kind,
                        struct osb_err *err);

#endif
