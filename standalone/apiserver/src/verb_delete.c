// SPDX-License-Identifier: Apache-2.0
#include "verbs.h"

#include <osb/api_meta.h>

#define FINALIZER_FOREGROUND "foregroundDeletion"
#define FINALIZER_ORPHAN     "orphan"

static int check_preconditions(struct verb_context *c, const struct object *object,
                               const struct delete_options *options)
{
    const struct osb_api_kind *kind = &object->resource->kind;
    if (options->uid && strcmp(options->uid, object->uid) != 0) {
        char *why = osb_arena_printf(c->arena,
                                     "Precondition failed: UID in precondition: %s, UID in object "
                                     "meta: %s",
                                     options->uid, object->uid);
        return refuse_conflict(c->refusal, kind, object->name, why);
    }
    uint64_t number;
    if (!options->resource_version)
        return 0;
    if (osb_slice_to_u64(osb_slice_str(options->resource_version), &number) >= 0 &&
        number == object->revision)
        return 0;
    char *why = osb_arena_printf(c->arena,
                                 "Precondition failed: ResourceVersion in precondition: %s, "
                                 "ResourceVersion in object meta: %llu",
                                 options->resource_version, (unsigned long long)object->revision);
    return refuse_conflict(c->refusal, kind, object->name, why);
}

/* Names of metadata.finalizers as the propagation policy leaves them; true when they changed. */
static bool set_gc_finalizers(struct osb_json *tree, enum propagation propagation)
{
    if (propagation == PROPAGATE_UNSET) /* what is there stands; without any it is background */
        return false;
    struct osb_json *metadata = osb_json_ensure_object(tree, "metadata");
    const struct osb_json *old = osb_json_get(metadata, "finalizers");
    struct osb_json *list = osb_json_new_array();
    for (size_t i = 0; i < osb_json_count(old); i++) {
        struct osb_slice name = osb_json_str(osb_json_at(old, i));
        if (!osb_slice_eq_str(name, FINALIZER_FOREGROUND) &&
            !osb_slice_eq_str(name, FINALIZER_ORPHAN))
            osb_json_append(list, osb_json_new_string(name));
    }
    if (propagation == PROPAGATE_FOREGROUND)
        osb_json_append(list, osb_json_new_str(FINALIZER_FOREGROUND));
    if (propagation == PROPAGATE_ORPHAN)
        osb_json_append(list, osb_json_new_str(FINALIZER_ORPHAN));
    bool has_changed = old ? !osb_json_equal(old, list) : osb_json_count(list) > 0;
    if (osb_json_count(list)) {
        osb_json_set(metadata, "finalizers", list);
    } else {
        osb_json_free(list);
        osb_json_del(metadata, OSB_SLICE("finalizers"));
    }
    return has_changed;
}

/* A hundred years: what is longer would not fit into a time. */
#define GRACE_MAX_S 3153600000LL

/* Seconds that whoever runs the object has; 0 where nobody does or it has ended already. */
static int64_t grace_of(const struct object *object, const struct osb_json *tree,
                        const struct delete_options *options)
{
    if (!object->resource->has_grace)
        return 0;
    struct osb_slice phase = osb_json_str(osb_json_get_path(tree, "status.phase"));
    if (osb_slice_eq_str(phase, "Failed") || osb_slice_eq_str(phase, "Succeeded") ||
        !osb_json_str(osb_json_get_path(tree, "spec.nodeName")).len)
        return 0;
    int64_t grace =
        options->has_grace
            ? options->grace_s
            : osb_json_i64_or(osb_json_get_path(tree, "spec.terminationGracePeriodSeconds"), 30);
    if (grace > GRACE_MAX_S)
        return GRACE_MAX_S;
    return grace < 0 ? 1 : grace;
}

/* Sets the deletion's time and grace; true when the object changed by it. */
static bool mark_deleting(struct verb_context *c, struct osb_json *tree, int64_t grace_s)
{
    struct osb_json *metadata = osb_json_ensure_object(tree, "metadata");
    if (osb_api_is_deleting(tree)) {
        int64_t old = osb_json_i64_or(osb_json_get(metadata, "deletionGracePeriodSeconds"), 0);
        if (grace_s >= old) /* the grace is only ever shortened */
            return false;
    } else if (osb_api_generation(tree) > 0) {
        osb_json_set(metadata, "generation", osb_json_new_i64(osb_api_generation(tree) + 1));
    }
    metadata_write_time(metadata, "deletionTimestamp", c->txn->now_ns + grace_s * 1000000000LL);
    osb_json_set(metadata, "deletionGracePeriodSeconds", osb_json_new_i64(grace_s));
    return true;
}

/* A namespace is emptied first; its own finalizer is in its spec. */
static bool mark_terminating(struct osb_json *tree)
{
    struct osb_json *status = osb_json_ensure_object(tree, "status");
    if (!osb_json_count(osb_json_get_path(tree, "spec.finalizers")) ||
        osb_slice_eq_str(osb_json_str(osb_json_get(status, "phase")), "Terminating"))
        return false;
    osb_json_set(status, "phase", osb_json_new_str("Terminating"));
    return true;
}

static bool is_held(const struct osb_json *tree)
{
    return osb_json_count(osb_json_get_path(tree, "metadata.finalizers")) ||
           osb_json_count(osb_json_get_path(tree, "spec.finalizers"));
}

int delete_object(struct verb_context *c, struct object *object,
                  const struct delete_options *options, struct outcome *ret)
{
    int r = check_preconditions(c, object, options);
    if (r < 0)
        return r;
    _cleanup_json_ struct osb_json *tree = object_tree(object);
    bool has_changed = set_gc_finalizers(tree, options->propagation);
    int64_t grace_s = grace_of(object, tree, options);
    if (grace_s == 0 && !is_held(tree)) {
        remove_object(c, tree, ret);
        return 0;
    }
    has_changed |= mark_deleting(c, tree, grace_s);
    if (!strcmp(object->resource->storage_name, "namespaces"))
        has_changed |= mark_terminating(tree);
    if (has_changed)
        store_object(c, tree, ret);
    else
        ret->object = object_ref(object);
    return 0;
}

/* Namespaces that the server itself needs. */
static int check_protected(struct verb_context *c, const struct object *object)
{
    if (strcmp(object->resource->storage_name, "namespaces") != 0 ||
        (strcmp(object->name, "default") != 0 && strcmp(object->name, "kube-system") != 0))
        return 0;
    return refuse_forbidden(c->refusal, &object->resource->kind, object->name,
                            "this namespace may not be deleted");
}

int verb_delete(struct verb_context *c, const struct delete_options *options, struct outcome *ret)
{
    struct object *object;
    int r = find_object(c, &object);
    if (r >= 0)
        r = check_protected(c, object);
    return r >= 0 ? delete_object(c, object, options, ret) : r;
}

int verb_delete_collection(struct verb_context *c, const struct delete_options *options,
                           int *ret_count)
{
    const struct request *q = c->request;
    const struct filter filter = {q->namespace_, NULL, q->labels, q->fields};
    const struct collection *all = cache_list(c->txn->cache, q->resource);
    *ret_count = 0;
    for (size_t i = 0; i < all->count; i++) {
        struct object *object = txn_get(c->txn, q->resource, all->items[i]->key);
        if (!object || !object_matches(object, &filter) || check_protected(c, object) < 0)
            continue;
        struct delete_options one = *options; /* preconditions are about one object */
        one.uid = one.resource_version = NULL;
        _cleanup_outcome_ struct outcome outcome = {0};
        delete_object(c, object, &one, &outcome);
        ++*ret_count;
    }
    return 0;
}
