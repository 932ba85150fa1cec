// SPDX-License-Identifier: Apache-2.0
#include "cluster.h"
#include "bootstrap.h"
#include "collector.h"

#include <osb/alloc.h>
#include <osb/json_tree.h>
#include <osb/log.h>

enum { WORKER_THREADS = 1, WORKER_QUEUE = 16 };

/* ---- loading ---- */

struct loading {
    struct cluster *cluster;
    struct osb_map newest; /* "resource key": the last object made for it, borrowed by the map */
    uint64_t skipped;      /* rows of kinds that are not served any more */
};

static int load_object(const char *resource_name, uint64_t revision, struct osb_slice text,
                       void *arg)
{
    struct loading *loading = arg;
    const struct resource *resource =
        registry_by_storage(&loading->cluster->registry, resource_name);
    _cleanup_json_ struct osb_json *tree = NULL;
    if (!resource) { /* kept in the file, not served */
        loading->skipped++;
        return 0;
    }
    if (osb_json_parse(text, &tree, NULL) < 0)
        return -OSB_E_SYNTAX;
    _cleanup_object_ struct object *object = object_new(resource, tree, revision);
    cache_put(&loading->cluster->cache, object);
    return 0;
}

static struct object *make_object(const struct resource *resource, struct osb_slice text,
                                  uint64_t revision)
{
    _cleanup_json_ struct osb_json *tree = NULL;
    if (osb_json_parse(text, &tree, NULL) < 0)
        return NULL;
    const char *version = osb_json_cstr(osb_json_get_path(tree, "metadata.resourceVersion"));
    uint64_t own = revision;
    if (version)
        osb_slice_to_u64(osb_slice_str(version), &own);
    return object_new(resource, tree, own);
}

static void free_object(void *object)
{
    object_unref(object);
}

static int load_event(const struct store_change *row, void *arg)
{
    struct loading *loading = arg;
    struct cluster *cluster = loading->cluster;
    const struct resource *resource = registry_by_storage(&cluster->registry, row->resource);
    if (!resource)
        return 0;
    struct event event = {.type = row->type, .revision = row->revision};
    event.object = make_object(resource, row->object, row->revision);
    if (!event.object)
        return -OSB_E_SYNTAX;
    _cleanup_free_ char *key = osb_asprintf("%s %s", row->resource, row->key);
    /* The state before is mostly that of the event before: one copy serves both. */
    struct object *before = osb_map_get(&loading->newest, osb_slice_str(key));
    if (row->previous.len && before)
        event.previous = object_ref(before);
    else if (row->previous.len)
        event.previous = make_object(resource, row->previous, row->revision);
    object_unref(osb_map_set(&loading->newest, osb_slice_str(key), object_ref(event.object)));
    history_push(&cluster->history, event);
    return 0;
}

static int load(struct cluster *cluster, struct osb_err *err)
{
    struct loading loading = {.cluster = cluster};
    uint64_t floor = 0;
    history_init(&cluster->history, 0, 0, 0);
    int r = store_load(cluster->store, load_object, load_event, &loading, &cluster->cache.revision,
                       &floor, err);
    if (cluster->history.floor < floor)
        cluster->history.floor = floor;
    osb_map_done(&loading.newest, free_object);
    if (loading.skipped)
        osb_log(OSB_LOG_WARN, "the store holds objects of kinds that are not served",
                OSB_KV_INT("count", loading.skipped));
    return r;
}

/* ---- life ---- */

static void committed(uint64_t sequence, void *arg)
{
    struct cluster *cluster = arg;
    collector_look(cluster->collector, sequence);
    if (cluster->on_committed)
        cluster->on_committed(cluster->arg);
}

static int open_store(struct cluster *cluster, const char *database, const char *crds,
                      struct osb_err *err)
{
    int r = registry_load_crds(&cluster->registry, crds, err);
    if (r >= 0)
        r = store_open(database, &cluster->store, err);
    if (r >= 0)
        r = load(cluster, err);
    if (r >= 0)
        r = bootstrap_objects(cluster, err);
    return r;
}

int cluster_open(struct cluster *cluster, struct osb_loop *loop, const char *database,
                 const char *crds, const char *node_name, struct osb_err *err)
{
    *cluster = (struct cluster){.loop = loop, .node_name = node_name};
    registry_init(&cluster->registry);
    int r = open_store(cluster, database, crds, err);
    if (r >= 0)
        r = osb_workers_new(loop, WORKER_THREADS, WORKER_QUEUE, &cluster->workers, err);
    if (r < 0) {
        cluster_close(cluster);
        return r;
    }
    struct writer_options options = {.loop = loop,
                                     .workers = cluster->workers,
                                     .store = cluster->store,
                                     .cache = &cluster->cache,
                                     .history = &cluster->history,
                                     .on_committed = committed,
                                     .arg = cluster};
    cluster->writer = writer_new(&options);
    cluster->collector = collector_new(cluster);
    collector_look_at_all(cluster->collector);
    return 0;
}

void cluster_close(struct cluster *cluster)
{
    osb_workers_free(cluster->workers); /* the commit in flight ends first */
    writer_free(cluster->writer);
    collector_free(cluster->collector);
    store_close(cluster->store);
    history_done(&cluster->history);
    cache_done(&cluster->cache);
    registry_done(&cluster->registry);
    *cluster = (struct cluster){0};
}
