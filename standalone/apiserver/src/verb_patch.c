// SPDX-License-Identifier: Apache-2.0
#include "verbs.h"

#include <osb/api_strategic.h>
#include <osb/json_patch.h>

/* A patch that cannot be applied, with the status that real servers give for it. */
static int patch_failed(struct verb_context *c, int r, const struct osb_err *err)
{
    if (r == -OSB_E_NOT_FOUND || r == -OSB_E_CONFLICT || r == -OSB_E_INVALID)
        return refuse(c->refusal, 422, "Invalid",
                      "the server rejected our request due to an error in our request: %s",
                      err->message);
    return refuse_bad_request(c->refusal, "%s", err->message);
}

static int apply_patch(struct verb_context *c, enum patch_type type, const struct osb_json *patch,
                       struct osb_json **tree)
{
    struct osb_err err = {0};
    int r = 0;
    if (type != PATCH_JSON && osb_json_type(patch) != OSB_JSON_OBJECT)
        return refuse_bad_request(c->refusal, "the patch must be an object");
    if (type == PATCH_JSON)
        r = osb_json_patch(tree, patch, &err);
    else if (type == PATCH_STRATEGIC && c->request->sub != SUB_SCALE)
        r = osb_strategic_merge(tree, patch, c->request->resource->kind.kind, &err);
    else
        osb_json_merge_patch(tree, patch);
    return r < 0 ? patch_failed(c, r, &err) : 0;
}

int verb_patch(struct verb_context *c, enum patch_type type, const struct osb_json *patch,
               struct outcome *ret)
{
    struct object *old;
    int r = find_object(c, &old);
    if (r < 0)
        return r;
    _cleanup_json_ struct osb_json *old_tree = object_tree(old);
    _cleanup_json_ struct osb_json *wanted = NULL;
    if (c->request->sub == SUB_SCALE) {
        _cleanup_json_ struct osb_json *scale = scale_of(c->request->resource, old_tree);
        r = apply_patch(c, type, patch, &scale);
        wanted = osb_json_copy(old_tree);
        if (r >= 0)
            r = scale_apply(c, wanted, scale);
    } else {
        wanted = osb_json_copy(old_tree);
        r = apply_patch(c, type, patch, &wanted);
        if (r >= 0)
            r = check_identity(c, wanted);
    }
    return r < 0 ? r : apply_update(c, old, old_tree, wanted, ret);
}
