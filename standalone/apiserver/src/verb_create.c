// SPDX-License-Identifier: Apache-2.0
#include "verbs.h"

#include <osb/api_meta.h>

void outcome_done(struct outcome *outcome)
{
    object_unref(outcome->object);
    *outcome = (struct outcome){0};
}

void add_warning(struct verb_context *c, const char *text)
{
    if (c->warning_count < WARNINGS_MAX)
        c->warnings[c->warning_count++] = osb_arena_strdup(c->arena, text);
}

static void set_outcome(struct outcome *ret, struct object *object, bool is_deleted)
{
    object_unref(ret->object);
    ret->object = object;
    ret->is_deleted = is_deleted;
}

void store_object(struct verb_context *c, struct osb_json *tree, struct outcome *ret)
{
    const struct resource *resource = c->request->resource;
    if (c->request->is_dry_run)
        set_outcome(ret, object_new(resource, tree, c->txn->revision), false);
    else
        set_outcome(ret, object_ref(txn_put(c->txn, resource, tree)), false);
}

void remove_object(struct verb_context *c, struct osb_json *tree, struct outcome *ret)
{
    const struct resource *resource = c->request->resource;
    if (c->request->is_dry_run)
        set_outcome(ret, object_new(resource, tree, c->txn->revision), true);
    else
        set_outcome(ret, object_ref(txn_remove(c->txn, resource, tree)), true);
}

/* Objects live only in namespaces that exist and are not being emptied. */
static int check_namespace(struct verb_context *c, const char *name)
{
    const struct request *q = c->request;
    if (!q->resource->kind.is_namespaced)
        return 0;
    const struct resource *namespaces = registry_by_storage(c->registry, "namespaces");
    struct object *found = txn_get(c->txn, namespaces, q->namespace_);
    if (!found)
        return refuse_not_found(c->refusal, &namespaces->kind, q->namespace_);
    if (!found->is_deleting)
        return 0;
    field_error(c->refusal, "NamespaceTerminating", "metadata.namespace",
                "namespace %s is being terminated", q->namespace_);
    return refuse_forbidden(c->refusal, &q->resource->kind, name,
                            "unable to create new content in namespace %s because it is being "
                            "terminated",
                            q->namespace_);
}

int verb_create(struct verb_context *c, const struct osb_json *body, struct outcome *ret)
{
    const struct resource *resource = c->request->resource;
    _cleanup_json_ struct osb_json *tree = osb_json_copy(body);
    int r = check_identity(c, tree);
    if (r < 0)
        return r;
    struct osb_json *metadata = osb_json_ensure_object(tree, "metadata");
    if (osb_json_str(osb_json_get(metadata, "resourceVersion")).len)
        return refuse_bad_request(c->refusal,
                                  "resourceVersion should not be set on objects to be created");
    r = decode_object(c, tree);
    if (r >= 0)
        r = generate_name(c, metadata);
    if (r >= 0)
        r = check_namespace(c, osb_api_name(tree));
    if (r < 0)
        return r;
    metadata_for_create(c, tree);
    if (resource->has_status)
        osb_json_del(tree, OSB_SLICE("status"));
    r = admit(c, tree, NULL);
    if (r < 0)
        return r;
    char *key = object_key(c->arena, osb_api_namespace(tree), osb_api_name(tree));
    if (txn_get(c->txn, resource, key))
        return refuse_exists(c->refusal, &resource->kind, osb_api_name(tree));
    store_object(c, tree, ret);
    return 0;
}
