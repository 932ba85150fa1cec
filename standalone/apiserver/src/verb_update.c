// SPDX-License-Identifier: Apache-2.0
#include "verbs.h"

#include <osb/api_meta.h>

int find_object(struct verb_context *c, struct object **ret)
{
    const struct request *q = c->request;
    char *key = object_key(c->arena, q->namespace_, q->name);
    *ret = txn_get(c->txn, q->resource, key);
    return *ret ? 0 : refuse_not_found(c->refusal, &q->resource->kind, q->name);
}

static int check_preconditions(struct verb_context *c, const struct object *old,
                               const struct osb_json *wanted)
{
    const struct osb_api_kind *kind = &c->request->resource->kind;
    const char *uid = osb_api_uid(wanted), *version = osb_api_resource_version(wanted);
    if (uid && uid[0] && strcmp(uid, old->uid) != 0) {
        char *why = osb_arena_printf(c->arena,
                                     "Precondition failed: UID in precondition: %s, UID in object "
                                     "meta: %s",
                                     uid, old->uid);
        return refuse_conflict(c->refusal, kind, old->name, why);
    }
    if (!version || !version[0]) {
        if (c->request->verb != VERB_UPDATE || !c->request->resource->is_conditional)
            return 0;
        field_error(c->refusal, "FieldValueInvalid", "metadata.resourceVersion",
                    "Invalid value: 0x0: must be specified for an update");
        return refuse_invalid(c->refusal, kind, old->name);
    }
    uint64_t number;
    if (osb_slice_to_u64(osb_slice_str(version), &number) < 0) {
        field_error(c->refusal, "FieldValueInvalid", "metadata.resourceVersion",
                    "Invalid value: \"%s\": must be a version of this server", version);
        return refuse_invalid(c->refusal, kind, old->name);
    }
    if (number == old->revision)
        return 0;
    return refuse_conflict(c->refusal, kind, old->name,
                           "the object has been modified; please apply your changes to the latest "
                           "version and try again");
}

static void copy_member(struct osb_json *to, const struct osb_json *from, const char *key)
{
    const struct osb_json *value = osb_json_get(from, key);
    if (value)
        osb_json_set(to, key, osb_json_copy(value));
    else
        osb_json_del(to, osb_slice_str(key));
}

/* A status write changes only status, all others never do. */
static void keep_other_half(struct verb_context *c, struct osb_json *wanted,
                            const struct osb_json *old_tree)
{
    if (c->request->sub != SUB_STATUS) {
        if (c->request->resource->has_status)
            copy_member(wanted, old_tree, "status");
        return;
    }
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    _cleanup_json_ struct osb_json *whole = osb_json_copy(old_tree);
    copy_member(whole, wanted, "status");
    while (cursor = NULL, osb_json_next_member(wanted, &cursor, &key, &value)) {
        _cleanup_free_ char *name = osb_slice_dup(key);
        osb_json_del(wanted, osb_slice_str(name));
    }
    cursor = NULL;
    while (osb_json_next_member(whole, &cursor, &key, &value))
        osb_json_set_slice(wanted, key, osb_json_copy(value));
}

/* Something but metadata and status differs. */
static bool has_new_spec(const struct osb_json *a, const struct osb_json *b)
{
    _cleanup_json_ struct osb_json *x = osb_json_copy(a), *y = osb_json_copy(b);
    osb_json_del(x, OSB_SLICE("metadata"));
    osb_json_del(y, OSB_SLICE("metadata"));
    osb_json_del(x, OSB_SLICE("status"));
    osb_json_del(y, OSB_SLICE("status"));
    return !osb_json_equal(x, y);
}

static void raise_generation(struct osb_json *tree)
{
    osb_json_set(osb_json_ensure_object(tree, "metadata"), "generation",
                 osb_json_new_i64(osb_api_generation(tree) + 1));
}

/* Nothing holds the object any more: no finalizer, no grace. */
static bool is_deletion_complete(const struct osb_json *tree)
{
    int64_t grace =
        osb_json_i64_or(osb_json_get_path(tree, "metadata.deletionGracePeriodSeconds"), 0);
    return osb_api_is_deleting(tree) && grace == 0 &&
           !osb_json_count(osb_json_get_path(tree, "metadata.finalizers")) &&
           !osb_json_count(osb_json_get_path(tree, "spec.finalizers"));
}

int apply_update(struct verb_context *c, struct object *old, const struct osb_json *old_tree,
                 struct osb_json *wanted, struct outcome *ret)
{
    int r = check_preconditions(c, old, wanted);
    if (r >= 0)
        r = decode_object(c, wanted);
    if (r < 0)
        return r;
    metadata_keep(wanted, old_tree);
    keep_other_half(c, wanted, old_tree);
    r = admit(c, wanted, old_tree);
    if (r < 0)
        return r;
    if (osb_json_equal(wanted, old_tree)) { /* no change, no revision */
        ret->object = object_ref(old);
        return 0;
    }
    if (c->request->resource->has_generation && has_new_spec(wanted, old_tree))
        raise_generation(wanted);
    if (is_deletion_complete(wanted)) {
        remove_object(c, wanted, ret);
        ret->is_deleted = false; /* the update is answered with the object */
    } else {
        store_object(c, wanted, ret);
    }
    return 0;
}

int verb_update(struct verb_context *c, const struct osb_json *body, struct outcome *ret)
{
    struct object *old;
    _cleanup_json_ struct osb_json *wanted = osb_json_copy(body);
    int r = find_object(c, &old);
    if (r < 0)
        return r;
    _cleanup_json_ struct osb_json *old_tree = object_tree(old);
    if (c->request->sub == SUB_SCALE) {
        osb_json_free(osb_take_ptr(wanted));
        wanted = osb_json_copy(old_tree);
        r = scale_apply(c, wanted, body);
    } else {
        r = check_identity(c, wanted);
    }
    return r < 0 ? r : apply_update(c, old, old_tree, wanted, ret);
}
