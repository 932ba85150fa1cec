// SPDX-License-Identifier: Apache-2.0
#include "gc.h"
#include "refusal.h"
#include "verbs.h"

#include <osb/api_meta.h>

#define FINALIZER_FOREGROUND "foregroundDeletion"
#define FINALIZER_ORPHAN     "orphan"

/* How a step acts: as requests of the server itself. */
struct step {
    struct verb_context context;
    struct request request;
    struct refusal refusal;
    struct osb_arena arena;
};

static void step_init(struct step *s, struct txn *txn, const struct registry *registry,
                      const struct object *object)
{
    *s = (struct step){.request = {.resource = object->resource,
                                   .namespace_ = object->namespace_,
                                   .name = object->name,
                                   .sub_name = ""}};
    s->context = (struct verb_context){.txn = txn,
                                       .registry = registry,
                                       .request = &s->request,
                                       .arena = &s->arena,
                                       .refusal = &s->refusal};
}

static void step_done(struct step *s)
{
    refusal_done(&s->refusal);
    osb_arena_done(&s->arena);
}

static void remove_it(struct txn *txn, const struct registry *registry, struct object *object,
                      enum propagation propagation)
{
    struct step s;
    step_init(&s, txn, registry, object);
    struct delete_options options = {.propagation = propagation, .uid = object->uid};
    _cleanup_outcome_ struct outcome outcome = {0};
    delete_object(&s.context, object, &options, &outcome);
    step_done(&s);
}

/* Writes TREE, or ends the object when it was held only by what TREE no longer has. */
static void write_it(struct txn *txn, const struct object *object, struct osb_json *tree)
{
    int64_t grace =
        osb_json_i64_or(osb_json_get_path(tree, "metadata.deletionGracePeriodSeconds"), 0);
    bool is_held = osb_json_count(osb_json_get_path(tree, "metadata.finalizers")) ||
                   osb_json_count(osb_json_get_path(tree, "spec.finalizers"));
    if (osb_api_is_deleting(tree) && grace == 0 && !is_held)
        txn_remove(txn, object->resource, tree);
    else
        txn_put(txn, object->resource, tree);
}

/* The current object with this UID, as the transaction sees it. */
static struct object *current(struct txn *txn, const char *uid)
{
    const struct object *cached = cache_by_uid(txn->cache, uid);
    struct object *now = cached ? txn_get(txn, cached->resource, cached->key) : NULL;
    return now && !strcmp(now->uid, uid) ? now : NULL;
}

static bool has_finalizer(const struct object *object, const char *name)
{
    _cleanup_json_ struct osb_json *tree = object_tree(object);
    return osb_api_has_finalizer(tree, name);
}

static void drop_finalizer(struct osb_json *tree, const char *name)
{
    struct osb_json *metadata = osb_json_ensure_object(tree, "metadata");
    struct osb_json *list = osb_json_get(metadata, "finalizers");
    for (size_t i = osb_json_count(list); i > 0; i--)
        if (osb_slice_eq_str(osb_json_str(osb_json_at(list, i - 1)), name))
            osb_json_remove_at(list, i - 1);
    if (!osb_json_count(list))
        osb_json_del(metadata, OSB_SLICE("finalizers"));
}

/* ---- an object and its owners ---- */

enum owner_state {
    OWNER_THERE,   /* it keeps the object alive */
    OWNER_WAITING, /* it is deleted in the foreground and waits for the object */
    OWNER_GONE,
};

static enum owner_state look_up_owner(struct txn *txn, const struct registry *registry,
                                      const struct object *object, const struct osb_json *ref)
{
    const char *uid = osb_json_cstr(osb_json_get(ref, "uid"));
    const char *version = osb_json_cstr(osb_json_get(ref, "apiVersion"));
    const char *kind = osb_json_cstr(osb_json_get(ref, "kind"));
    if (!uid || !version || !kind || !registry_by_kind(registry, version, kind))
        return OWNER_THERE; /* a kind that is not served here cannot be said to be gone */
    const struct object *owner = current(txn, uid);
    bool is_reachable =
        owner && (!owner->namespace_[0] || !strcmp(owner->namespace_, object->namespace_));
    if (!is_reachable)
        return OWNER_GONE;
    if (owner->is_deleting && has_finalizer(owner, FINALIZER_FOREGROUND))
        return OWNER_WAITING;
    return OWNER_THERE;
}

struct owners {
    int there, waiting, gone;
};

/* Counts owners; KEPT (may be NULL) gets the references to those that are there. */
static struct owners look_up_owners(struct txn *txn, const struct registry *registry,
                                    const struct object *object, const struct osb_json *refs,
                                    struct osb_json *kept)
{
    struct owners n = {0};
    for (size_t i = 0; i < osb_json_count(refs); i++) {
        const struct osb_json *ref = osb_json_at(refs, i);
        switch (look_up_owner(txn, registry, object, ref)) {
        case OWNER_THERE:
            n.there++;
            if (kept)
                osb_json_append(kept, osb_json_copy(ref));
            break;
        case OWNER_WAITING:
            n.waiting++;
            break;
        case OWNER_GONE:
            n.gone++;
            break;
        }
    }
    return n;
}

/* True when the object was changed or removed by this. */
static bool step_dependent(struct txn *txn, const struct registry *registry, struct object *object)
{
    if (!object->owners[0])
        return false;
    _cleanup_json_ struct osb_json *tree = object_tree(object);
    struct osb_json *metadata = osb_json_get(tree, "metadata");
    _cleanup_json_ struct osb_json *kept = osb_json_new_array();
    struct owners n =
        look_up_owners(txn, registry, object, osb_json_get(metadata, "ownerReferences"), kept);
    if (!n.gone && !n.waiting)
        return false;
    if (n.there) {
        osb_json_set(metadata, "ownerReferences", osb_take_ptr(kept));
        write_it(txn, object, tree);
        return true;
    }
    if (object->is_deleting)
        return false; /* whoever holds it will let it go */
    bool has_dependents = cache_dependents(txn->cache, object->uid)->count;
    remove_it(txn, registry, object,
              n.waiting && has_dependents ? PROPAGATE_FOREGROUND : PROPAGATE_UNSET);
    return true;
}

/* ---- an object and its dependents ---- */

/* A dependent that holds its owner back: it says blockOwnerDeletion. */
static bool is_blocking(const struct object *dependent, const char *owner_uid)
{
    _cleanup_json_ struct osb_json *tree = object_tree(dependent);
    const struct osb_json *refs = osb_json_get_path(tree, "metadata.ownerReferences");
    for (size_t i = 0; i < osb_json_count(refs); i++) {
        const struct osb_json *ref = osb_json_at(refs, i);
        if (osb_slice_eq_str(osb_json_str(osb_json_get(ref, "uid")), owner_uid))
            return osb_json_bool_or(osb_json_get(ref, "blockOwnerDeletion"), false);
    }
    return false;
}

static void step_foreground(struct txn *txn, struct object *owner)
{
    const struct collection *dependents = cache_dependents(txn->cache, owner->uid);
    for (size_t i = 0; i < dependents->count; i++) {
        const struct object *dependent = current(txn, dependents->items[i]->uid);
        if (dependent && is_blocking(dependent, owner->uid))
            return; /* its end brings us here again */
    }
    _cleanup_json_ struct osb_json *tree = object_tree(owner);
    drop_finalizer(tree, FINALIZER_FOREGROUND);
    write_it(txn, owner, tree);
}

static void forget_owner(struct txn *txn, struct object *dependent, const char *owner_uid)
{
    _cleanup_json_ struct osb_json *tree = object_tree(dependent);
    struct osb_json *metadata = osb_json_get(tree, "metadata");
    struct osb_json *refs = osb_json_get(metadata, "ownerReferences");
    for (size_t i = osb_json_count(refs); i > 0; i--)
        if (osb_slice_eq_str(osb_json_str(osb_json_get(osb_json_at(refs, i - 1), "uid")),
                             owner_uid))
            osb_json_remove_at(refs, i - 1);
    if (!osb_json_count(refs))
        osb_json_del(metadata, OSB_SLICE("ownerReferences"));
    write_it(txn, dependent, tree);
}

static void step_orphan(struct txn *txn, struct object *owner)
{
    const struct collection *dependents = cache_dependents(txn->cache, owner->uid);
    for (size_t i = 0; i < dependents->count; i++) {
        struct object *dependent = current(txn, dependents->items[i]->uid);
        if (dependent)
            forget_owner(txn, dependent, owner->uid);
    }
    _cleanup_json_ struct osb_json *tree = object_tree(owner);
    drop_finalizer(tree, FINALIZER_ORPHAN);
    write_it(txn, owner, tree);
}

/* ---- a namespace and its content ---- */

static void step_namespace(struct txn *txn, const struct registry *registry, struct object *ns)
{
    size_t left = 0;
    for (int i = 0; i < registry->count; i++) {
        const struct resource *resource = registry->items[i];
        const struct collection *all = cache_list(txn->cache, resource);
        for (size_t k = 0; resource->kind.is_namespaced && k < all->count; k++) {
            struct object *object = all->items[k];
            if (strcmp(object->namespace_, ns->name) != 0)
                continue;
            object = txn_get(txn, resource, object->key);
            if (object && !object->is_deleting)
                remove_it(txn, registry, object, PROPAGATE_BACKGROUND);
            left += txn_get(txn, resource, all->items[k]->key) ? 1 : 0;
        }
    }
    if (left)
        return; /* the end of each brings us here again */
    _cleanup_json_ struct osb_json *tree = object_tree(ns);
    osb_json_del(osb_json_get(tree, "spec"), OSB_SLICE("finalizers"));
    write_it(txn, ns, tree);
}

static bool is_namespace(const struct object *object)
{
    return !strcmp(object->resource->storage_name, "namespaces");
}

void gc_step(struct txn *txn, const struct registry *registry, const char *uid)
{
    struct object *object = current(txn, uid);
    if (!object || step_dependent(txn, registry, object))
        return;
    if (!object->is_deleting)
        return;
    if (has_finalizer(object, FINALIZER_ORPHAN))
        step_orphan(txn, object);
    else if (has_finalizer(object, FINALIZER_FOREGROUND))
        step_foreground(txn, object);
    else if (is_namespace(object))
        step_namespace(txn, registry, object);
}

/* ---- which objects an event is about ---- */

static void each_dependent(const struct cache *cache, const char *uid,
                           void (*fn)(const char *uid, void *arg), void *arg)
{
    const struct collection *dependents = cache_dependents(cache, uid);
    for (size_t i = 0; i < dependents->count; i++)
        fn(dependents->items[i]->uid, arg);
}

void gc_affected(const struct event *event, const struct cache *cache,
                 const struct registry *registry, void (*fn)(const char *uid, void *arg), void *arg)
{
    const struct object *object = event->object;
    if (event->type == EVENT_DELETED || object->is_deleting)
        each_dependent(cache, object->uid, fn, arg);
    if (event->type != EVENT_DELETED && (object->is_deleting || object->owners[0]))
        fn(object->uid, arg);
    /* Owners wait in the foreground for an end, or for a reference that is gone. */
    const struct object *before = event->previous;
    for (char **owner = before ? before->owners : object->owners; *owner; owner++) {
        const struct object *o = cache_by_uid(cache, *owner);
        if (o && o->is_deleting)
            fn(o->uid, arg);
    }
    if (event->type == EVENT_DELETED && object->namespace_[0]) {
        const struct resource *namespaces = registry_by_storage(registry, "namespaces");
        const struct object *ns = cache_get(cache, namespaces, object->namespace_);
        if (ns && ns->is_deleting)
            fn(ns->uid, arg);
    }
}
