// SPDX-License-Identifier: Apache-2.0
/* JSON merge patch (RFC 7386) and JSON patch (RFC 6902) over trees. */
#ifndef OSB_JSON_PATCH_H
#define OSB_JSON_PATCH_H

#include <osb/err.h>
#include <osb/json_tree.h>

enum {
    OSB_JSON_PATCH_MAX_OPERATIONS = 10000,
    /* Values that "copy" may make in one patch: copies of copies double each time. */
    OSB_JSON_PATCH_MAX_COPIED = 100000,
};

/* Applies PATCH to *TARGET, which may be replaced as a whole. PATCH stays the caller's. */
void osb_json_merge_patch(struct osb_json **target, const struct osb_json *patch);
/*
 * The smallest merge patch that turns FROM into TO: an empty object when they are equal objects,
 * TO itself when one of the two is no object. A merge patch cannot set null: members of TO that are
 * null come out absent.
 */
struct osb_json *osb_json_merge_diff(const struct osb_json *from, const struct osb_json *to);
/*
 * Applies the operations in order; on failure *TARGET is unchanged and the error names the
 * operation. A failed "test" is -OSB_E_CONFLICT, a missing path -OSB_E_NOT_FOUND, a malformed
 * operation -OSB_E_INVALID, a limit -OSB_E_TOO_LARGE or -OSB_E_TOO_DEEP.
 */
int osb_json_patch(struct osb_json **target, const struct osb_json *operations,
                   struct osb_err *err);

#endif
