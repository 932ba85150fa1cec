// SPDX-License-Identifier: Apache-2.0
#include "pod.h"

#include <osb/alloc.h>
#include <osb/api_kinds.h>

#include <stdlib.h>
#include <string.h>

#include "lenient.h"

/* ---- metadata ---- */

struct owner {
    char *api_version;
    char *kind;
    char *name;
    char *uid;
    bool is_controller;
};

static void owner_clear(struct owner *owner)
{
    free(owner->api_version);
    free(owner->kind);
    free(owner->name);
    free(owner->uid);
}

static void read_owner(struct osb_json_reader *r, struct pod *pod)
{
    struct owner owner = {0};
    struct osb_slice key;
    if (!lenient_enter_object(r))
        return;
    while (osb_json_next_key(r, &key)) {
        if (osb_slice_eq_str(key, "apiVersion"))
            lenient_string(r, &owner.api_version);
        else if (osb_slice_eq_str(key, "kind"))
            lenient_string(r, &owner.kind);
        else if (osb_slice_eq_str(key, "name"))
            lenient_string(r, &owner.name);
        else if (osb_slice_eq_str(key, "uid"))
            lenient_string(r, &owner.uid);
        else if (osb_slice_eq_str(key, "controller"))
            lenient_bool(r, &owner.is_controller);
        else
            osb_json_skip(r);
    }
    bool is_ours =
        owner.is_controller && owner.kind && owner.name && owner.uid && owner.api_version &&
        strcmp(owner.kind, "BatchSandbox") == 0 &&
        osb_slice_starts(osb_slice_str(owner.api_version), OSB_SLICE(OSB_SANDBOX_GROUP "/"));
    if (is_ours && !pod->owner_uid) {
        pod->owner_name = osb_take_ptr(owner.name);
        pod->owner_uid = osb_take_ptr(owner.uid);
    }
    owner_clear(&owner);
}

/* A decimal number from 0 to INT_MAX without sign or blanks; -1 for anything else. */
static int parse_index(const char *text)
{
    long value = 0;
    if (!text || !text[0] || strlen(text) > 9)
        return -1;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return -1;
        value = value * 10 + (*text - '0');
    }
    return (int)value;
}

/*
 * The name that we give decides, "<owner>-<index>"; the label, which anybody can change, only for
 * pods that somebody else named.
 */
static int index_of(const struct pod *pod, const struct pairs *labels)
{
    size_t len = pod->owner_name ? strlen(pod->owner_name) : 0;
    const char *name = pod->object.name;
    if (len > 0 && strncmp(name, pod->owner_name, len) == 0 && name[len] == '-') {
        int index = parse_index(name + len + 1);
        if (index >= 0)
            return index;
    }
    return parse_index(pairs_get(labels, LABEL_POD_INDEX));
}

static void read_owners(struct osb_json_reader *r, struct pod *pod)
{
    if (!lenient_enter_array(r))
        return;
    while (osb_json_next_item(r))
        read_owner(r, pod);
}

static void read_metadata(struct osb_json_reader *r, struct pod *pod)
{
    struct pairs labels = {0};
    struct pairs annotations = {0};
    struct osb_slice key;
    if (!lenient_enter_object(r))
        return;
    while (osb_json_next_key(r, &key)) {
        if (osb_slice_eq_str(key, "creationTimestamp"))
            lenient_time(r, &pod->created_ns);
        else if (osb_slice_eq_str(key, "deletionTimestamp"))
            pod->is_deleting = osb_json_peek(r) == OSB_JSON_STRING, osb_json_skip(r);
        else if (osb_slice_eq_str(key, "labels"))
            pairs_read(r, &labels);
        else if (osb_slice_eq_str(key, "annotations"))
            pairs_read(r, &annotations);
        else if (osb_slice_eq_str(key, "ownerReferences"))
            read_owners(r, pod);
        else
            osb_json_skip(r);
    }
    pod->index = index_of(pod, &labels);
    const char *mark = pairs_get(&annotations, "opensandbox.io/inject");
    pod->has_execd = mark && strcmp(mark, "execd") == 0;
    pod->is_injected_by_node =
        pod->has_execd && pairs_get(&annotations, "opensandbox.io/inject-version");
    const char *named = pairs_get(&annotations, "opensandbox.io/inject-container");
    if (named && strcmp(named, MAIN_CONTAINER) != 0)
        pod->main_name = osb_strdup(named);
    pairs_clear(&labels);
    pairs_clear(&annotations);
}

/* ---- spec ---- */

static void read_node_selector(struct osb_json_reader *r, struct pod *pod)
{
    struct osb_slice key;
    size_t platform = 0, other = 0;
    if (!lenient_enter_object(r))
        return;
    while (osb_json_next_key(r, &key)) {
        bool is_platform = osb_slice_eq_str(key, "kubernetes.io/os") ||
                           osb_slice_eq_str(key, "kubernetes.io/arch");
        platform += is_platform;
        other += !is_platform;
        osb_json_skip(r);
    }
    pod->is_platform_bound = platform > 0 && other == 0;
}

static void read_spec(struct osb_json_reader *r, struct pod *pod)
{
    _cleanup_free_ char *policy = NULL;
    struct osb_slice key;
    if (!lenient_enter_object(r))
        return;
    while (osb_json_next_key(r, &key)) {
        if (osb_slice_eq_str(key, "nodeName"))
            lenient_string(r, &pod->node_name);
        else if (osb_slice_eq_str(key, "restartPolicy"))
            lenient_string(r, &policy);
        else if (osb_slice_eq_str(key, "nodeSelector"))
            read_node_selector(r, pod);
        else
            osb_json_skip(r);
    }
    if (policy && strcmp(policy, "Never") == 0)
        pod->restart_policy = RESTART_NEVER;
    else if (policy && strcmp(policy, "OnFailure") == 0)
        pod->restart_policy = RESTART_ON_FAILURE;
}

/* ---- status ---- */

static void read_state_detail(struct osb_json_reader *r, struct container *container)
{
    struct osb_slice key;
    if (!lenient_enter_object(r))
        return;
    while (osb_json_next_key(r, &key)) {
        if (osb_slice_eq_str(key, "reason"))
            lenient_string(r, &container->reason);
        else if (osb_slice_eq_str(key, "message"))
            lenient_string(r, &container->message);
        else if (osb_slice_eq_str(key, "exitCode"))
            lenient_i64(r, &container->exit_code);
        else
            osb_json_skip(r);
    }
}

static void read_state(struct osb_json_reader *r, struct container *container)
{
    struct osb_slice key;
    if (!lenient_enter_object(r))
        return;
    while (osb_json_next_key(r, &key)) {
        if (osb_json_read_null(r))
            continue;
        if (osb_slice_eq_str(key, "waiting"))
            container->state = CONTAINER_WAITING;
        else if (osb_slice_eq_str(key, "running"))
            container->state = CONTAINER_RUNNING;
        else if (osb_slice_eq_str(key, "terminated"))
            container->state = CONTAINER_TERMINATED;
        read_state_detail(r, container);
    }
}

static void read_last_end(struct osb_json_reader *r, struct container *container)
{
    struct osb_slice key;
    if (!lenient_enter_object(r))
        return;
    container->has_ended_before = true;
    while (osb_json_next_key(r, &key)) {
        if (osb_slice_eq_str(key, "reason"))
            lenient_string(r, &container->last_reason);
        else if (osb_slice_eq_str(key, "message"))
            lenient_string(r, &container->last_message);
        else if (osb_slice_eq_str(key, "exitCode"))
            lenient_i64(r, &container->last_exit_code);
        else
            osb_json_skip(r);
    }
}

static void read_last_state(struct osb_json_reader *r, struct container *container)
{
    struct osb_slice key;
    if (!lenient_enter_object(r))
        return;
    while (osb_json_next_key(r, &key)) {
        if (osb_slice_eq_str(key, "terminated"))
            read_last_end(r, container);
        else
            osb_json_skip(r);
    }
}

static void container_clear(struct container *container)
{
    free(container->name);
    free(container->reason);
    free(container->message);
    free(container->last_reason);
    free(container->last_message);
}

static void read_container(struct osb_json_reader *r, struct pod *pod, bool is_init)
{
    struct container container = {.is_init = is_init};
    struct osb_slice key;
    if (!lenient_enter_object(r))
        return;
    while (osb_json_next_key(r, &key)) {
        if (osb_slice_eq_str(key, "name"))
            lenient_string(r, &container.name);
        else if (osb_slice_eq_str(key, "state"))
            read_state(r, &container);
        else if (osb_slice_eq_str(key, "lastState"))
            read_last_state(r, &container);
        else if (osb_slice_eq_str(key, "restartCount"))
            lenient_i64(r, &container.restart_count);
        else
            osb_json_skip(r);
    }
    if (!container.name || pod->container_count == POD_MAX_CONTAINERS) {
        container_clear(&container);
        return;
    }
    osb_grow(pod->containers, pod->container_count, pod->container_cap);
    pod->containers[pod->container_count++] = container;
}

static void read_containers(struct osb_json_reader *r, struct pod *pod, bool is_init)
{
    if (!lenient_enter_array(r))
        return;
    while (osb_json_next_item(r))
        read_container(r, pod, is_init);
    osb_shrink(pod->containers, pod->container_count, pod->container_cap);
}

static void read_condition(struct osb_json_reader *r, struct pod *pod)
{
    _cleanup_free_ char *type = NULL;
    _cleanup_free_ char *truth = NULL;
    _cleanup_free_ char *message = NULL;
    struct osb_slice key;
    if (!lenient_enter_object(r))
        return;
    while (osb_json_next_key(r, &key)) {
        if (osb_slice_eq_str(key, "type"))
            lenient_string(r, &type);
        else if (osb_slice_eq_str(key, "status"))
            lenient_string(r, &truth);
        else if (osb_slice_eq_str(key, "message"))
            lenient_string(r, &message);
        else
            osb_json_skip(r);
    }
    if (!type || !truth)
        return;
    if (strcmp(type, "Ready") == 0)
        pod->is_ready = strcmp(truth, "True") == 0;
    if (strcmp(type, "PodScheduled") == 0 && strcmp(truth, "False") == 0) {
        free(pod->unschedulable);
        pod->unschedulable = message ? osb_take_ptr(message) : osb_strdup("not scheduled");
    }
}

static void read_conditions(struct osb_json_reader *r, struct pod *pod)
{
    if (!lenient_enter_array(r))
        return;
    while (osb_json_next_item(r))
        read_condition(r, pod);
}

static void read_phase(struct osb_json_reader *r, struct pod *pod)
{
    static const struct {
        const char *name;
        enum pod_phase phase;
    } phases[] = {{"Pending", POD_PENDING},
                  {"Running", POD_RUNNING},
                  {"Succeeded", POD_SUCCEEDED},
                  {"Failed", POD_FAILED},
                  {"Unknown", POD_UNKNOWN}};
    _cleanup_free_ char *name = NULL;
    if (!lenient_string(r, &name))
        return;
    for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++)
        if (strcmp(name, phases[i].name) == 0)
            pod->phase = phases[i].phase;
}

static void read_status(struct osb_json_reader *r, struct pod *pod)
{
    struct osb_slice key;
    if (!lenient_enter_object(r))
        return;
    while (osb_json_next_key(r, &key)) {
        if (osb_slice_eq_str(key, "phase"))
            read_phase(r, pod);
        else if (osb_slice_eq_str(key, "podIP"))
            lenient_string(r, &pod->address);
        else if (osb_slice_eq_str(key, "reason"))
            lenient_string(r, &pod->reason);
        else if (osb_slice_eq_str(key, "message"))
            lenient_string(r, &pod->message);
        else if (osb_slice_eq_str(key, "conditions"))
            read_conditions(r, pod);
        else if (osb_slice_eq_str(key, "initContainerStatuses"))
            read_containers(r, pod, true);
        else if (osb_slice_eq_str(key, "containerStatuses"))
            read_containers(r, pod, false);
        else
            osb_json_skip(r);
    }
    if (pod->address && !pod->address[0]) {
        free(pod->address);
        pod->address = NULL;
    }
}

/* ---- the projection ---- */

static int decode(struct osb_slice raw, struct osb_kube_object *object, struct osb_err *err)
{
    struct pod *pod = (struct pod *)object;
    struct osb_json_reader r;
    struct osb_slice key;
    pod->index = -1;
    osb_json_reader_init(&r, raw);
    osb_json_enter_object(&r);
    while (osb_json_next_key(&r, &key)) {
        if (osb_slice_eq_str(key, "metadata"))
            read_metadata(&r, pod);
        else if (osb_slice_eq_str(key, "spec"))
            read_spec(&r, pod);
        else if (osb_slice_eq_str(key, "status"))
            read_status(&r, pod);
        else
            osb_json_skip(&r);
    }
    return osb_json_reader_finish(&r, err);
}

static void clear(struct osb_kube_object *object)
{
    struct pod *pod = (struct pod *)object;
    free(pod->main_name);
    free(pod->owner_name);
    free(pod->owner_uid);
    free(pod->node_name);
    free(pod->address);
    free(pod->reason);
    free(pod->message);
    free(pod->unschedulable);
    for (size_t i = 0; i < pod->container_count; i++)
        container_clear(&pod->containers[i]);
    free(pod->containers);
}

static void index_pod(const struct osb_kube_object *object, int i,
                      void (*emit)(const char *value, void *arg), void *arg)
{
    const struct pod *pod = pod_of(object);
    osb_assert(i == POD_BY_OWNER);
    if (!pod->owner_name)
        return;
    _cleanup_free_ char *owner = osb_asprintf("%s/%s", object->namespace_, pod->owner_name);
    emit(owner, arg);
}

const struct osb_kube_projection pod_projection = {
    .size = sizeof(struct pod),
    .decode = decode,
    .clear = clear,
    .index_count = 1,
    .index = index_pod,
};

bool pod_keep_address(struct pod *pod, const struct pod *before)
{
    if (pod->address || !before->address || pod->phase != POD_PENDING || pod->is_deleting ||
        !pod->is_injected_by_node || strcmp(pod->object.uid, before->object.uid) != 0)
        return false;
    pod->address = osb_strdup(before->address);
    return true;
}

const struct container *pod_main_container(const struct pod *pod)
{
    const char *name = pod->main_name ? pod->main_name : MAIN_CONTAINER;
    const struct container *first = NULL;
    for (size_t i = 0; i < pod->container_count; i++) {
        const struct container *container = &pod->containers[i];
        if (container->is_init)
            continue;
        if (strcmp(container->name, name) == 0)
            return container;
        if (!first)
            first = container;
    }
    return first;
}

const struct pod *pod_next_of(const struct osb_kube_store *pods, const char *owner,
                              const struct pod *pod)
{
    return pod_of(
        osb_kube_store_next_indexed(pods, POD_BY_OWNER, owner, pod ? &pod->object : NULL));
}
