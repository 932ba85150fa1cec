// SPDX-License-Identifier: Apache-2.0
#include "fake_api.h"

#include <osb/alloc.h>
#include <osb/api_meta.h>
#include <osb/clock.h>
#include <osb/json_patch.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_transport {
    struct osb_kube_transport base;
    struct osb_list link;
    struct fake_api *api;
    struct osb_list calls;
};

struct fake_change {
    struct osb_list link;
    uint64_t version;
    char *collection;
    char *line;
};

/* A change on its way to a watch. */
struct fake_event {
    struct osb_list link;
    uint64_t due_ns;
    char *line;
};

struct fake_call {
    struct osb_list link;
    struct fake_transport *transport;
    struct osb_timer timer;
    char *method;
    char *path; /* without the query */
    char *query;
    char *body;
    struct osb_kube_transport_callbacks callbacks;
    void *arg;
    bool is_watch;
    char *collection; /* of a watch */
    struct osb_list events;
};

/* ---- objects ---- */

struct fake_api *fake_api_new(struct osb_loop *loop)
{
    struct fake_api *api = osb_new(struct fake_api);
    api->loop = loop;
    api->answer_ms = 1;
    osb_list_init(&api->objects);
    osb_list_init(&api->transports);
    osb_list_init(&api->history);
    return api;
}

static void object_free(struct fake_object *object)
{
    osb_list_remove(&object->link);
    osb_json_free(object->tree);
    free(object->collection);
    free(object->namespace_);
    free(object->name);
    free(object);
}

void fake_api_free(struct fake_api *api)
{
    struct fake_object *object, *next;
    struct fake_change *change, *next_change;
    osb_assert(osb_list_is_empty(&api->transports));
    osb_list_foreach_safe (change, next_change, &api->history, link) {
        osb_list_remove(&change->link);
        free(change->collection);
        free(change->line);
        free(change);
    }
    osb_list_foreach_safe (object, next, &api->objects, link)
        object_free(object);
    free(api);
}

static struct fake_object *find(const struct fake_api *api, const char *collection,
                                const char *name)
{
    struct fake_object *object;
    osb_list_foreach (object, &api->objects, link)
        if (strcmp(object->collection, collection) == 0 && strcmp(object->name, name) == 0)
            return object;
    return NULL;
}

struct osb_json *fake_api_get(const struct fake_api *api, const char *collection, const char *name)
{
    struct fake_object *object = find(api, collection, name);
    return object ? object->tree : NULL;
}

int fake_api_count(const struct fake_api *api, const char *collection)
{
    int count = 0;
    struct fake_object *object;
    osb_list_foreach (object, &api->objects, link)
        if (strcmp(object->collection, collection) == 0)
            count++;
    return count;
}

static bool is_shown(const struct fake_api *api, const char *collection,
                     const struct osb_json *tree)
{
    return !api->pod_label || strcmp(collection, "pods") != 0 ||
           osb_api_label(tree, api->pod_label);
}

static char *print(const struct osb_json *tree)
{
    struct osb_buf text = {0};
    osb_json_print(tree, &text);
    return osb_buf_take(&text);
}

/* ---- watches ---- */

static void deliver(struct osb_timer *timer)
{
    struct fake_call *call = timer->arg;
    struct fake_event *event;
    while ((event = osb_list_first(&call->events, struct fake_event, link))) {
        if (event->due_ns > osb_loop_now_ns(call->transport->api->loop)) {
            osb_timer_set_at(&call->timer, event->due_ns);
            return;
        }
        osb_list_remove(&event->link);
        _cleanup_free_ char *line = event->line;
        free(event);
        call->callbacks.on_data(osb_slice_str(line), call->arg);
    }
}

static void send_event(struct fake_call *call, const struct fake_change *change)
{
    struct fake_api *api = call->transport->api;
    struct fake_event *event = osb_new(struct fake_event);
    event->due_ns = osb_loop_now_ns(api->loop) + api->watch_lag_ms * OSB_NS_PER_MS;
    event->line = osb_strdup(change->line);
    osb_list_append(&call->events, &event->link);
    if (!osb_timer_is_set(&call->timer))
        osb_timer_set_at(&call->timer, event->due_ns);
}

static void announce(struct fake_api *api, const char *type, const struct fake_object *object)
{
    struct fake_transport *transport;
    struct fake_call *call;
    _cleanup_free_ char *text = print(object->tree);
    struct fake_change *change = osb_new(struct fake_change);
    change->version = api->version;
    change->collection = osb_strdup(object->collection);
    change->line = osb_asprintf("{\"type\":\"%s\",\"object\":%s}\n", type, text);
    osb_list_append(&api->history, &change->link);
    osb_list_foreach (transport, &api->transports, link)
        osb_list_foreach (call, &transport->calls, link)
            if (call->is_watch && strcmp(call->collection, object->collection) == 0)
                send_event(call, change);
}

static void stamp(struct fake_api *api, struct fake_object *object)
{
    char version[24];
    snprintf(version, sizeof(version), "%llu", (unsigned long long)++api->version);
    osb_json_set(osb_json_ensure_object(object->tree, "metadata"), "resourceVersion",
                 osb_json_new_str(version));
}

/* ---- changes ---- */

static void remove_object(struct fake_api *api, struct fake_object *object)
{
    stamp(api, object);
    announce(api, "DELETED", object);
    object_free(object);
}

/* Dependents of an object that is gone, as the garbage collector does it. */
static void collect_garbage(struct fake_api *api, const char *uid)
{
    struct fake_object *object, *next;
    osb_list_foreach_safe (object, next, &api->objects, link) {
        const struct osb_json *owner =
            osb_json_at(osb_json_get_path(object->tree, "metadata.ownerReferences"), 0);
        if (osb_slice_eq_str(osb_json_str(osb_json_get(owner, "uid")), uid))
            remove_object(api, object);
    }
}

static struct fake_object *add_object(struct fake_api *api, const char *collection,
                                      struct osb_json *tree)
{
    char text[OSB_RFC3339_MAX];
    struct osb_json *metadata = osb_json_ensure_object(tree, "metadata");
    struct fake_object *object = osb_new(struct fake_object);
    object->collection = osb_strdup(collection);
    object->name = osb_strdup(osb_json_cstr(osb_json_get(metadata, "name")));
    const char *namespace_ = osb_json_cstr(osb_json_get(metadata, "namespace"));
    object->namespace_ = osb_strdup(namespace_ ? namespace_ : "n");
    object->tree = tree;
    osb_json_set(metadata, "namespace", osb_json_new_str(object->namespace_));
    osb_json_set(metadata, "generation", osb_json_new_i64(1));
    _cleanup_free_ char *uid = osb_asprintf("uid-%llu", (unsigned long long)++api->uid);
    osb_json_set(metadata, "uid", osb_json_new_str(uid));
    osb_json_set(metadata, "creationTimestamp",
                 osb_json_new_str(osb_rfc3339_format(text, osb_loop_realtime_ns(api->loop), 0)));
    if (strcmp(collection, "pods") == 0)
        osb_json_set(osb_json_ensure_object(tree, "spec"), "nodeName", osb_json_new_str("node"));
    osb_list_append(&api->objects, &object->link);
    stamp(api, object);
    if (is_shown(api, collection, tree))
        announce(api, "ADDED", object);
    return object;
}

static void patch_object(struct fake_api *api, struct fake_object *object,
                         const struct osb_json *patch, bool is_status)
{
    _cleanup_json_ struct osb_json *before = osb_json_copy(object->tree);
    osb_json_merge_patch(&object->tree, patch);
    if (osb_json_equal(before, object->tree))
        return;
    const struct osb_json *spec = osb_json_get(object->tree, "spec");
    if (!is_status && spec && !osb_json_equal(osb_json_get(before, "spec"), spec)) {
        struct osb_json *metadata = osb_json_get(object->tree, "metadata");
        int64_t generation = osb_json_i64_or(osb_json_get(metadata, "generation"), 0);
        osb_json_set(metadata, "generation", osb_json_new_i64(generation + 1));
    }
    stamp(api, object);
    bool was_shown = is_shown(api, object->collection, before);
    if (is_shown(api, object->collection, object->tree))
        announce(api, was_shown ? "MODIFIED" : "ADDED", object);
    else if (was_shown)
        announce(api, "DELETED", object);
}

static void delete_object(struct fake_api *api, struct fake_object *object)
{
    char text[OSB_RFC3339_MAX];
    if (strcmp(object->collection, "pods") == 0) { /* its node ends it */
        struct osb_json *metadata = osb_json_get(object->tree, "metadata");
        if (osb_json_get(metadata, "deletionTimestamp"))
            return;
        osb_json_set(
            metadata, "deletionTimestamp",
            osb_json_new_str(osb_rfc3339_format(text, osb_loop_realtime_ns(api->loop), 0)));
        stamp(api, object);
        announce(api, "MODIFIED", object);
        return;
    }
    _cleanup_free_ char *uid =
        osb_strdup(osb_json_cstr(osb_json_get_path(object->tree, "metadata.uid")));
    remove_object(api, object);
    collect_garbage(api, uid);
}

/* ---- requests ---- */

struct target {
    char collection[64];
    char name[256]; /* "" for the collection */
    bool is_status;
};

/* …/namespaces/NS/COLLECTION[/NAME[/SUB]] or …/COLLECTION */
static void parse_path(const char *path, struct target *target)
{
    const char *rest = strstr(path, "/namespaces/");
    char sub[64] = "";
    *target = (struct target){0};
    if (rest)
        sscanf(rest, "/namespaces/%*[^/]/%63[^/]/%255[^/]/%63s", target->collection, target->name,
               sub);
    else
        snprintf(target->collection, sizeof(target->collection), "%s", strrchr(path, '/') + 1);
    target->is_status = strcmp(sub, "status") == 0;
}

static void answer(struct fake_call *call, int status, int retry_after_s, const char *body);

static void answer_status(struct fake_call *call, int status, const char *reason)
{
    char body[256];
    snprintf(body, sizeof(body),
             "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
             "\"reason\":\"%s\",\"message\":\"fake says %s\",\"code\":%d}",
             reason, reason, status);
    answer(call, status, 0, body);
}

static void call_free(struct fake_call *call)
{
    struct fake_event *event, *next;
    osb_timer_stop(&call->timer);
    osb_list_remove(&call->link);
    osb_list_foreach_safe (event, next, &call->events, link) {
        osb_list_remove(&event->link);
        free(event->line);
        free(event);
    }
    free(call->method);
    free(call->path);
    free(call->query);
    free(call->body);
    free(call->collection);
    free(call);
}

static void end(struct fake_call *call, int r)
{
    struct osb_err err = {0};
    struct osb_kube_transport_callbacks callbacks = call->callbacks;
    void *arg = call->arg;
    call_free(call);
    if (r < 0)
        osb_fail(&err, r, "connection lost");
    callbacks.on_end(r, r < 0 ? &err : NULL, arg);
}

static void answer(struct fake_call *call, int status, int retry_after_s, const char *body)
{
    call->callbacks.on_status(status, retry_after_s, call->arg);
    if (body[0])
        call->callbacks.on_data(osb_slice_str(body), call->arg);
    end(call, 0);
}

static void answer_object(struct fake_call *call, int status, const struct osb_json *tree)
{
    _cleanup_free_ char *text = print(tree);
    answer(call, status, 0, text);
}

static void list(struct fake_call *call, const struct target *target)
{
    struct fake_api *api = call->transport->api;
    struct osb_buf text = {0};
    struct fake_object *object;
    bool is_first = true;
    osb_buf_appendf(&text, "{\"metadata\":{\"resourceVersion\":\"%llu\"},\"items\":[",
                    (unsigned long long)api->version);
    osb_list_foreach (object, &api->objects, link) {
        if (strcmp(object->collection, target->collection) != 0 ||
            !is_shown(api, object->collection, object->tree))
            continue;
        osb_buf_append_str(&text, is_first ? "" : ",");
        osb_json_print(object->tree, &text);
        is_first = false;
    }
    osb_buf_append_str(&text, "]}");
    _cleanup_free_ char *body = osb_buf_take(&text);
    answer(call, 200, 0, body);
}

static void watch(struct fake_call *call, const struct target *target)
{
    struct fake_api *api = call->transport->api;
    const char *text = strstr(call->query, "resourceVersion=");
    uint64_t version = strtoull(text + strlen("resourceVersion="), NULL, 10);
    struct fake_change *change;
    if (version < api->forgotten) {
        answer_status(call, 410, "Expired");
        return;
    }
    call->is_watch = true;
    call->collection = osb_strdup(target->collection);
    osb_timer_init(&call->timer, api->loop, deliver, call);
    call->callbacks.on_status(200, 0, call->arg);
    osb_list_foreach (change, &api->history, link)
        if (change->version > version && strcmp(change->collection, target->collection) == 0)
            send_event(call, change);
}

static bool has_precondition_failed(const struct fake_object *object, const char *body)
{
    _cleanup_json_ struct osb_json *options = NULL;
    if (!body[0] || osb_json_parse(osb_slice_str(body), &options, NULL) < 0)
        return false;
    struct osb_slice uid = osb_json_str(osb_json_get_path(options, "preconditions.uid"));
    struct osb_slice version =
        osb_json_str(osb_json_get_path(options, "preconditions.resourceVersion"));
    return (uid.len &&
            !osb_slice_eq(uid, osb_json_str(osb_json_get_path(object->tree, "metadata.uid")))) ||
           (version.len && !osb_slice_eq(version, osb_json_str(osb_json_get_path(
                                                      object->tree, "metadata.resourceVersion"))));
}

static void create(struct fake_call *call, const struct target *target, bool is_lost)
{
    struct fake_api *api = call->transport->api;
    struct osb_json *tree = NULL;
    int r = osb_json_parse(osb_slice_str(call->body), &tree, NULL);
    osb_assert(r == 0);
    bool is_pod = strcmp(target->collection, "pods") == 0;
    const char *name = osb_json_cstr(osb_json_get_path(tree, "metadata.name"));
    if (find(api, target->collection, name)) {
        api->pods_refused += is_pod;
        osb_json_free(tree);
        answer_status(call, 409, "AlreadyExists");
        return;
    }
    api->writes++;
    api->pods_created += is_pod;
    const struct fake_object *object = add_object(api, target->collection, tree);
    if (is_lost)
        end(call, -OSB_E_CLOSED);
    else
        answer_object(call, 201, object->tree);
}

static void change(struct fake_call *call, const struct target *target, struct fake_object *object,
                   bool is_lost)
{
    struct fake_api *api = call->transport->api;
    _cleanup_json_ struct osb_json *patch = NULL;
    api->writes++;
    if (strcmp(call->method, "PATCH") == 0) {
        int r = osb_json_parse(osb_slice_str(call->body), &patch, NULL);
        osb_assert(r == 0);
        patch_object(api, object, patch, target->is_status);
        if (!is_lost) {
            answer_object(call, 200, object->tree);
            return;
        }
    } else {
        delete_object(api, object);
    }
    if (is_lost)
        end(call, -OSB_E_CLOSED);
    else
        answer(call, 200, 0, "{}");
}

static void serve(struct fake_call *call, const struct target *target, bool is_lost)
{
    struct fake_api *api = call->transport->api;
    struct fake_object *object = find(api, target->collection, target->name);
    if (strcmp(call->method, "POST") == 0)
        create(call, target, is_lost);
    else if (!object)
        answer_status(call, 404, "NotFound");
    else if (strcmp(call->method, "GET") == 0)
        answer_object(call, 200, object->tree);
    else if (strcmp(call->method, "DELETE") == 0 && has_precondition_failed(object, call->body))
        answer_status(call, 409, "Conflict");
    else
        change(call, target, object, is_lost);
}

static void handle(struct osb_timer *timer)
{
    struct fake_call *call = timer->arg;
    struct fake_api *api = call->transport->api;
    struct target target;
    parse_path(call->path, &target);
    if (strcmp(call->method, "GET") == 0 && !target.name[0]) {
        if (strstr(call->query, "watch=true"))
            watch(call, &target);
        else
            list(call, &target);
        return;
    }
    enum fake_fault fault = FAKE_OK;
    if (api->fault && strcmp(call->method, "GET") != 0)
        fault = api->fault(api, call->method, call->path, api->fault_arg);
    switch (fault) {
    case FAKE_UNAVAILABLE:
        answer_status(call, 503, "ServiceUnavailable");
        return;
    case FAKE_CONFLICT:
        answer_status(call, 409, "Conflict");
        return;
    case FAKE_SLOW_DOWN:
        answer(call, 429, 2, "");
        return;
    case FAKE_INVALID:
        answer_status(call, 422, "Invalid");
        return;
    case FAKE_DROP:
        end(call, -OSB_E_CLOSED);
        return;
    case FAKE_OK:
    case FAKE_LOSE:
        serve(call, &target, fault == FAKE_LOSE);
    }
}

/* ---- the transport ---- */

static int transport_start(struct osb_kube_transport *base,
                           const struct osb_kube_http_request *request,
                           const struct osb_kube_transport_callbacks *callbacks, void *arg,
                           void **ret_handle, struct osb_err *err)
{
    struct fake_transport *transport = osb_container_of(base, struct fake_transport, base);
    const char *query = strchr(request->path, '?');
    size_t len = query ? (size_t)(query - request->path) : strlen(request->path);
    struct fake_call *call = osb_new(struct fake_call);
    (void)err;
    call->transport = transport;
    call->method = osb_strdup(request->method);
    call->path = osb_strndup(request->path, len);
    call->query = osb_strdup(query ? query : "");
    call->body = osb_strndup(request->body.data ? request->body.data : "", request->body.len);
    call->callbacks = *callbacks;
    call->arg = arg;
    osb_list_init(&call->events);
    osb_list_append(&transport->calls, &call->link);
    osb_timer_init(&call->timer, transport->api->loop, handle, call);
    osb_timer_set(&call->timer, transport->api->answer_ms);
    *ret_handle = call;
    return 0;
}

static void transport_cancel(struct osb_kube_transport *base, void *handle)
{
    (void)base;
    call_free(handle);
}

static void transport_free(struct osb_kube_transport *base)
{
    struct fake_transport *transport = osb_container_of(base, struct fake_transport, base);
    osb_assert(osb_list_is_empty(&transport->calls));
    osb_list_remove(&transport->link);
    free(transport);
}

struct osb_kube_transport *fake_api_transport(struct fake_api *api)
{
    static const struct osb_kube_transport_ops ops = {transport_start, transport_cancel,
                                                      transport_free};
    struct fake_transport *transport = osb_new(struct fake_transport);
    transport->base.ops = &ops;
    transport->api = api;
    osb_list_init(&transport->calls);
    osb_list_append(&api->transports, &transport->link);
    return &transport->base;
}

void fake_api_cut_watches(struct fake_api *api)
{
    struct fake_transport *transport;
    struct fake_call *call, *next;
    osb_list_foreach (transport, &api->transports, link)
        osb_list_foreach_safe (call, next, &transport->calls, link)
            if (call->is_watch)
                end(call, -OSB_E_CLOSED);
}

/* ---- the test's hand ---- */

static struct osb_json *parse(const char *text)
{
    struct osb_json *tree = NULL;
    struct osb_err err = {0};
    if (osb_json_parse(osb_slice_str(text), &tree, &err) < 0)
        fprintf(stderr, "%s\n", err.message);
    osb_assert(tree);
    return tree;
}

void fake_api_put(struct fake_api *api, const char *collection, const char *text)
{
    add_object(api, collection, parse(text));
}

void fake_api_patch(struct fake_api *api, const char *collection, const char *name,
                    const char *text)
{
    _cleanup_json_ struct osb_json *patch = parse(text);
    struct fake_object *object = find(api, collection, name);
    osb_assert(object);
    patch_object(api, object, patch, false);
}

void fake_api_remove(struct fake_api *api, const char *collection, const char *name)
{
    struct fake_object *object = find(api, collection, name);
    osb_assert(object);
    _cleanup_free_ char *uid =
        osb_strdup(osb_json_cstr(osb_json_get_path(object->tree, "metadata.uid")));
    remove_object(api, object);
    collect_garbage(api, uid);
}

bool fake_node_turn(struct fake_api *api)
{
    struct fake_object *object, *next;
    bool is_busy = false;
    osb_list_foreach_safe (object, next, &api->objects, link) {
        if (strcmp(object->collection, "pods") != 0)
            continue;
        if (osb_json_get_path(object->tree, "metadata.deletionTimestamp")) {
            remove_object(api, object);
            is_busy = true;
        } else if (!osb_json_get_path(object->tree, "status.podIP")) {
            const char *uid = osb_json_cstr(osb_json_get_path(object->tree, "metadata.uid"));
            _cleanup_free_ char *text =
                osb_asprintf("{\"status\":{\"phase\":\"Running\",\"podIP\":\"10.0.0.%s\","
                             "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}],"
                             "\"containerStatuses\":[{\"name\":\"sandbox\",\"restartCount\":0,"
                             "\"state\":{\"running\":{}}}]}}",
                             uid + strlen("uid-"));
            _cleanup_json_ struct osb_json *patch = parse(text);
            patch_object(api, object, patch, true);
            is_busy = true;
        }
    }
    return is_busy;
}

static bool has_uid(const struct fake_api *api, struct osb_slice uid)
{
    struct fake_object *object;
    osb_list_foreach (object, &api->objects, link)
        if (osb_slice_eq(osb_json_str(osb_json_get_path(object->tree, "metadata.uid")), uid))
            return true;
    return false;
}

void fake_collect_secrets(struct fake_api *api)
{
    struct fake_object *object, *next;
    osb_list_foreach_safe (object, next, &api->objects, link) {
        const struct osb_json *owner =
            osb_json_at(osb_json_get_path(object->tree, "metadata.ownerReferences"), 0);
        bool is_secret = strcmp(object->collection, "secrets") == 0;
        if (is_secret && !has_uid(api, osb_json_str(osb_json_get(owner, "uid"))))
            remove_object(api, object);
    }
}
