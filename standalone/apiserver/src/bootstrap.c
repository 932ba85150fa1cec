// SPDX-License-Identifier: Apache-2.0
#include "bootstrap.h"
#include "verbs.h"

#include <osb/alloc.h>
#include <osb/clock.h>
#include <stdio.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifndef OSB_VERSION
#define OSB_VERSION "0"
#endif

/* Creates BODY (taken) as the server itself, unless its name is there already. */
static int ensure(struct cluster *cluster, struct txn *txn, const char *storage_name,
                  struct osb_json *body, struct osb_err *err)
{
    _cleanup_json_ struct osb_json *owned = body;
    const struct resource *resource = registry_by_storage(&cluster->registry, storage_name);
    struct request request = {.verb = VERB_CREATE, .resource = resource, .sub_name = ""};
    _cleanup_arena_ struct osb_arena arena = {0};
    _cleanup_refusal_ struct refusal refusal = {0};
    struct verb_context context = {.txn = txn,
                                   .registry = &cluster->registry,
                                   .request = &request,
                                   .arena = &arena,
                                   .refusal = &refusal};
    _cleanup_outcome_ struct outcome outcome = {0};
    int r = verb_create(&context, owned, &outcome);
    if (r >= 0 || r == -OSB_E_EXISTS || refusal.status.code == 409)
        return 0;
    return osb_fail(err, r, "cannot make the first objects: %s", refusal.status.message);
}

static struct osb_json *new_object(const char *kind, const char *name)
{
    struct osb_json *object = osb_json_new_object();
    osb_json_set(object, "kind", osb_json_new_str(kind));
    osb_json_set(object, "apiVersion", osb_json_new_str("v1"));
    osb_json_set(osb_json_ensure_object(object, "metadata"), "name", osb_json_new_str(name));
    return object;
}

static void set_number(struct osb_json *object, const char *key, unsigned long long value,
                       const char *suffix)
{
    char text[32];
    snprintf(text, sizeof(text), "%llu%s", value, suffix);
    osb_json_set(object, key, osb_json_new_str(text));
}

static void describe_machine(struct osb_json *status)
{
    enum { PODS_MAX = 1000 };
    struct utsname machine = {0};
    struct sysinfo memory = {0};
    uname(&machine);
    sysinfo(&memory);
    const char *arch = !strcmp(machine.machine, "aarch64") ? "arm64" : "amd64";
    struct osb_json *info = osb_json_ensure_object(status, "nodeInfo");
    osb_json_set(info, "kubeletVersion", osb_json_new_str("opensandbox-" OSB_VERSION));
    osb_json_set(info, "kernelVersion", osb_json_new_str(machine.release));
    osb_json_set(info, "operatingSystem", osb_json_new_str("linux"));
    osb_json_set(info, "architecture", osb_json_new_str(arch));
    static const char *const amounts[] = {"capacity", "allocatable"};
    for (int i = 0; i < 2; i++) {
        struct osb_json *amount = osb_json_ensure_object(status, amounts[i]);
        set_number(amount, "cpu", (unsigned long long)sysconf(_SC_NPROCESSORS_ONLN), "");
        set_number(amount, "memory", (unsigned long long)memory.totalram * memory.mem_unit / 1024,
                   "Ki");
        set_number(amount, "pods", PODS_MAX, "");
    }
}

/* There is no heartbeat: the node lives and dies with this instance, so it is Ready. */
static struct osb_json *ready_condition(int64_t now_ns)
{
    char now[OSB_RFC3339_MAX];
    osb_rfc3339_format(now, now_ns, 0);
    struct osb_json *condition = osb_json_new_object();
    osb_json_set(condition, "type", osb_json_new_str("Ready"));
    osb_json_set(condition, "status", osb_json_new_str("True"));
    osb_json_set(condition, "reason", osb_json_new_str("EmbeddedNode"));
    osb_json_set(condition, "message", osb_json_new_str("the node runs with this instance"));
    osb_json_set(condition, "lastHeartbeatTime", osb_json_new_str(now));
    osb_json_set(condition, "lastTransitionTime", osb_json_new_str(now));
    return condition;
}

static void set_node_status(struct cluster *cluster, struct txn *txn)
{
    const struct resource *nodes = registry_by_storage(&cluster->registry, "nodes");
    struct object *node = txn_get(txn, nodes, cluster->node_name);
    _cleanup_json_ struct osb_json *tree = object_tree(node);
    _cleanup_json_ struct osb_json *before = osb_json_copy(tree);
    struct osb_json *status = osb_json_ensure_object(tree, "status");
    describe_machine(status);
    if (!osb_json_count(osb_json_get(status, "conditions"))) {
        struct osb_json *conditions = osb_json_new_array();
        osb_json_append(conditions, ready_condition(txn->now_ns));
        osb_json_set(status, "conditions", conditions);
    }
    if (!osb_json_equal(tree, before))
        txn_put(txn, nodes, tree);
}

static int commit(struct cluster *cluster, struct txn *txn, struct osb_err *err)
{
    if (!txn->count)
        return 0;
    _cleanup_free_ struct store_change *changes = osb_calloc(txn->count, sizeof(*changes));
    for (size_t i = 0; i < txn->count; i++) {
        const struct event *event = &txn->events[i];
        changes[i] =
            (struct store_change){event->type,
                                  event->revision,
                                  event->object->resource->storage_name,
                                  event->object->key,
                                  event->object->text,
                                  event->previous ? event->previous->text : OSB_SLICE_NULL};
    }
    int r = store_commit(cluster->store, changes, (int)txn->count, err);
    if (r >= 0)
        txn_apply(txn, &cluster->cache, &cluster->history);
    return r;
}

int bootstrap_objects(struct cluster *cluster, struct osb_err *err)
{
    struct txn txn;
    txn_init(&txn, &cluster->cache, cluster->cache.revision, osb_realtime_ns());
    int r = ensure(cluster, &txn, "namespaces", new_object("Namespace", "default"), err);
    if (r >= 0)
        r = ensure(cluster, &txn, "namespaces", new_object("Namespace", "kube-system"), err);
    if (r >= 0)
        r = ensure(cluster, &txn, "nodes", new_object("Node", cluster->node_name), err);
    if (r >= 0) {
        set_node_status(cluster, &txn);
        r = commit(cluster, &txn, err);
    }
    txn_done(&txn);
    return r;
}
