// SPDX-License-Identifier: Apache-2.0
/* The indexed store: sorted arrays of objects. */
#include <osb/alloc.h>
#include <osb/arena.h>
#include <osb/kube_store.h>
#include <osb/map.h>

#include <stdlib.h>
#include <string.h>

/* Objects in key order. */
struct sorted {
    struct osb_kube_object **items;
    size_t len;
    size_t cap;
};

struct subscriber {
    osb_kube_change_fn *fn;
    void *arg;
};

struct osb_kube_store {
    const struct osb_kube_projection *projection;
    struct sorted all;
    struct osb_map indexes[OSB_STORE_MAX_INDEXES]; /* value to struct sorted */
    struct subscriber *subscribers;
    size_t subscriber_count;
    size_t subscriber_cap;
    uint64_t generation; /* of the newest list */
    uint64_t skipped;
    bool is_listing;
    bool is_notifying;
};

static int compare(const struct osb_kube_object *object, const char *namespace_, const char *name)
{
    int order = strcmp(object->namespace_, namespace_);
    return order ? order : strcmp(object->name, name);
}

/* The position of the first object that is not below the key. */
static size_t lower_bound(const struct sorted *sorted, const char *namespace_, const char *name)
{
    size_t low = 0;
    size_t high = sorted->len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(sorted->items[middle], namespace_, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* True when the object at POSITION has the key. */
static bool is_at(const struct sorted *sorted, size_t position, const char *namespace_,
                  const char *name)
{
    return position < sorted->len && compare(sorted->items[position], namespace_, name) == 0;
}

/* Puts OBJECT at its place; one that has its key already makes room for it. */
static void sorted_put(struct sorted *sorted, struct osb_kube_object *object)
{
    size_t at = lower_bound(sorted, object->namespace_, object->name);
    if (is_at(sorted, at, object->namespace_, object->name)) {
        sorted->items[at] = object;
        return;
    }
    if (sorted->cap == 0) { /* most values of an index have one object */
        sorted->cap = 1;
        sorted->items = osb_calloc(1, sizeof(*sorted->items));
    }
    osb_grow(sorted->items, sorted->len, sorted->cap);
    memmove(&sorted->items[at + 1], &sorted->items[at],
            (sorted->len - at) * sizeof(*sorted->items));
    sorted->items[at] = object;
    sorted->len++;
}

static void sorted_remove(struct sorted *sorted, const char *namespace_, const char *name)
{
    size_t at = lower_bound(sorted, namespace_, name);
    if (!is_at(sorted, at, namespace_, name))
        return;
    sorted->len--;
    memmove(&sorted->items[at], &sorted->items[at + 1],
            (sorted->len - at) * sizeof(*sorted->items));
}

static void sorted_free(void *value)
{
    struct sorted *sorted = value;
    free(sorted->items);
    free(sorted);
}

static void object_free(const struct osb_kube_store *store, struct osb_kube_object *object)
{
    if (!object)
        return;
    if (store->projection->clear)
        store->projection->clear(object);
    free(object->namespace_); /* and what head_copy() put behind it */
    free(object);
}

struct osb_kube_store *osb_kube_store_new(const struct osb_kube_projection *projection)
{
    osb_assert(projection->size >= sizeof(struct osb_kube_object));
    osb_assert(projection->index_count <= OSB_STORE_MAX_INDEXES);
    struct osb_kube_store *store = osb_new(struct osb_kube_store);
    store->projection = projection;
    return store;
}

void osb_kube_store_free(struct osb_kube_store *store)
{
    if (!store)
        return;
    for (size_t i = 0; i < store->all.len; i++)
        object_free(store, store->all.items[i]);
    for (int i = 0; i < OSB_STORE_MAX_INDEXES; i++)
        osb_map_done(&store->indexes[i], sorted_free);
    free(store->all.items);
    free(store->subscribers);
    free(store);
}

void osb_kube_store_subscribe(struct osb_kube_store *store, osb_kube_change_fn *fn, void *arg)
{
    osb_grow(store->subscribers, store->subscriber_count, store->subscriber_cap);
    store->subscribers[store->subscriber_count++] = (struct subscriber){fn, arg};
}

static void notify(struct osb_kube_store *store, enum osb_kube_change change,
                   const struct osb_kube_object *old, const struct osb_kube_object *current)
{
    osb_assert(!store->is_notifying);
    store->is_notifying = true;
    for (size_t i = 0; i < store->subscriber_count; i++)
        store->subscribers[i].fn(change, old, current, store->subscribers[i].arg);
    store->is_notifying = false;
}

/* ---- indexes ---- */

struct index_step {
    struct osb_map *index;
    struct osb_kube_object *object;
};

static void index_add(const char *value, void *arg)
{
    struct index_step *step = arg;
    struct sorted *sorted = osb_map_get(step->index, osb_slice_str(value));
    if (!sorted) {
        sorted = osb_new(struct sorted);
        osb_map_set(step->index, osb_slice_str(value), sorted);
    }
    sorted_put(sorted, step->object);
}

static void index_drop(const char *value, void *arg)
{
    struct index_step *step = arg;
    struct sorted *sorted = osb_map_get(step->index, osb_slice_str(value));
    if (!sorted)
        return;
    sorted_remove(sorted, step->object->namespace_, step->object->name);
    if (sorted->len == 0)
        sorted_free(osb_map_remove(step->index, osb_slice_str(value)));
}

static void reindex(struct osb_kube_store *store, struct osb_kube_object *object,
                    void (*emit)(const char *value, void *arg))
{
    for (int i = 0; i < store->projection->index_count; i++) {
        struct index_step step = {&store->indexes[i], object};
        store->projection->index(object, i, emit, &step);
    }
}

/* ---- reading ---- */

const struct osb_kube_object *osb_kube_store_get(const struct osb_kube_store *store,
                                                 const char *namespace_, const char *name)
{
    size_t at = lower_bound(&store->all, namespace_, name);
    return is_at(&store->all, at, namespace_, name) ? store->all.items[at] : NULL;
}

size_t osb_kube_store_count(const struct osb_kube_store *store)
{
    return store->all.len;
}

uint64_t osb_kube_store_skipped(const struct osb_kube_store *store)
{
    return store->skipped;
}

static const struct osb_kube_object *sorted_next(const struct sorted *sorted,
                                                 const struct osb_kube_object *object)
{
    size_t at = 0;
    if (object) {
        at = lower_bound(sorted, object->namespace_, object->name);
        if (is_at(sorted, at, object->namespace_, object->name))
            at++;
    }
    return at < sorted->len ? sorted->items[at] : NULL;
}

const struct osb_kube_object *osb_kube_store_next(const struct osb_kube_store *store,
                                                  const struct osb_kube_object *object)
{
    return sorted_next(&store->all, object);
}

const struct osb_kube_object *osb_kube_store_next_indexed(const struct osb_kube_store *store, int i,
                                                          const char *value,
                                                          const struct osb_kube_object *object)
{
    osb_assert(i >= 0 && i < store->projection->index_count);
    const struct sorted *sorted = osb_map_get(&store->indexes[i], osb_slice_str(value));
    return sorted ? sorted_next(sorted, object) : NULL;
}

/* ---- changing ---- */

static void read_metadata(struct osb_json_reader *r, struct osb_arena *arena,
                          struct osb_kube_object *head)
{
    struct osb_slice key;
    osb_json_enter_object(r);
    while (osb_json_next_key(r, &key)) {
        if (osb_slice_eq_str(key, "name"))
            osb_json_read_cstr(r, arena, &head->name);
        else if (osb_slice_eq_str(key, "namespace"))
            osb_json_read_cstr(r, arena, &head->namespace_);
        else if (osb_slice_eq_str(key, "uid"))
            osb_json_read_cstr(r, arena, &head->uid);
        else if (osb_slice_eq_str(key, "resourceVersion"))
            osb_json_read_cstr(r, arena, &head->resource_version);
        else
            osb_json_skip(r);
    }
}

/* The head fields of an object's text; strings live in ARENA. */
static int read_head(struct osb_slice raw, struct osb_arena *arena, struct osb_kube_object *head,
                     struct osb_err *err)
{
    struct osb_json_reader r;
    struct osb_slice key;
    osb_json_reader_init(&r, raw);
    osb_json_enter_object(&r);
    while (osb_json_next_key(&r, &key)) {
        if (osb_slice_eq_str(key, "metadata"))
            read_metadata(&r, arena, head);
        else
            osb_json_skip(&r);
    }
    int r2 = osb_json_reader_finish(&r, err);
    if (r2 < 0)
        return osb_wrap(err, r2, "object");
    if (!head->name || !head->name[0])
        return osb_fail(err, -OSB_E_INVALID, "object without a name");
    if (!head->namespace_)
        head->namespace_ = osb_arena_strdup(arena, "");
    if (!head->uid)
        head->uid = osb_arena_strdup(arena, "");
    if (!head->resource_version)
        head->resource_version = osb_arena_strdup(arena, "");
    char *end;
    errno = 0;
    head->version = strtoull(head->resource_version, &end, 10);
    if (*end || errno)
        head->version = 0;
    return 0;
}

static char *put(char **at, const char *text)
{
    char *copy = *at;
    *at = stpcpy(copy, text) + 1;
    return copy;
}

/* The strings of a head are one allocation: there are many objects, and each has all of them. */
static void head_copy(struct osb_kube_object *to, const struct osb_kube_object *from)
{
    size_t size = strlen(from->namespace_) + strlen(from->name) + strlen(from->uid) +
                  strlen(from->resource_version) + 4;
    char *at = osb_calloc(1, size);
    to->namespace_ = put(&at, from->namespace_);
    to->name = put(&at, from->name);
    to->uid = put(&at, from->uid);
    to->resource_version = put(&at, from->resource_version);
    to->version = from->version;
}

static int decode(struct osb_kube_store *store, struct osb_slice raw,
                  const struct osb_kube_object *head, struct osb_kube_object **ret,
                  struct osb_err *err)
{
    struct osb_kube_object *object = osb_calloc(1, store->projection->size);
    head_copy(object, head);
    object->generation = store->generation;
    int r = store->projection->decode ? store->projection->decode(raw, object, err) : 0;
    if (r < 0) {
        object_free(store, object);
        return osb_wrap(err, r, "%s/%s", head->namespace_, head->name);
    }
    *ret = object;
    return 0;
}

static bool is_news(const struct osb_kube_store *store, const struct osb_kube_object *old,
                    const struct osb_kube_object *head)
{
    if (!old)
        return true;
    if (head->resource_version[0] && strcmp(old->resource_version, head->resource_version) == 0)
        return false;
    bool is_older = head->version && old->version && head->version < old->version;
    return !is_older || store->is_listing;
}

int osb_kube_store_apply(struct osb_kube_store *store, struct osb_slice raw, struct osb_err *err)
{
    osb_assert(!store->is_notifying);
    _cleanup_arena_ struct osb_arena arena = {0};
    struct osb_kube_object head = {0};
    int r = read_head(raw, &arena, &head, err);
    if (r < 0) {
        store->skipped++;
        return r;
    }
    struct osb_kube_object *old =
        (struct osb_kube_object *)osb_kube_store_get(store, head.namespace_, head.name);
    if (old)
        old->generation = store->generation; /* it exists, whatever comes of this version */
    if (!is_news(store, old, &head))
        return 0;
    struct osb_kube_object *object = NULL;
    r = decode(store, raw, &head, &object, err);
    if (r < 0) {
        store->skipped++;
        return r;
    }
    if (old)
        reindex(store, old, index_drop);
    sorted_put(&store->all, object);
    reindex(store, object, index_add);
    notify(store, old ? OSB_KUBE_MODIFIED : OSB_KUBE_ADDED, old, object);
    object_free(store, old);
    return 0;
}

static void drop(struct osb_kube_store *store, struct osb_kube_object *object)
{
    reindex(store, object, index_drop);
    sorted_remove(&store->all, object->namespace_, object->name);
    notify(store, OSB_KUBE_DELETED, object, NULL);
    object_free(store, object);
}

void osb_kube_store_remove(struct osb_kube_store *store, const char *namespace_, const char *name)
{
    osb_assert(!store->is_notifying);
    struct osb_kube_object *object =
        (struct osb_kube_object *)osb_kube_store_get(store, namespace_, name);
    if (object)
        drop(store, object);
}

void osb_kube_store_mark(struct osb_kube_store *store)
{
    store->generation++;
    store->is_listing = true;
}

void osb_kube_store_sweep(struct osb_kube_store *store)
{
    store->is_listing = false;
    for (size_t i = 0; i < store->all.len;) {
        if (store->all.items[i]->generation == store->generation)
            i++;
        else
            drop(store, store->all.items[i]);
    }
}
