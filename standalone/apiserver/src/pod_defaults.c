// SPDX-License-Identifier: Apache-2.0
#include "pod_defaults.h"
#include "defaults.h"

#include <osb/api_quantity.h>
#include <osb/buf.h>

enum { FILE_MODE = 0644 };

/* "Always" for the tag latest (also the unsaid one), else "IfNotPresent". */
static const char *pull_policy(struct osb_slice image)
{
    if (osb_slice_find(image, '@') >= 0)
        return "IfNotPresent";
    struct osb_slice rest = image, last = OSB_SLICE_NULL;
    while (osb_slice_split(&rest, '/', &last))
        ;
    ptrdiff_t colon = osb_slice_find(last, ':');
    if (colon < 0)
        return "Always";
    return osb_slice_eq_str(osb_slice_from(last, (size_t)colon + 1), "latest") ? "Always"
                                                                               : "IfNotPresent";
}

/* Quantities are kept as text, whatever they were written as. */
static void quantities_to_text(struct osb_json *map)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    _cleanup_json_ struct osb_json *texts = osb_json_new_object();
    while (osb_json_next_member(map, &cursor, &key, &value)) {
        _cleanup_buf_ struct osb_buf text = {0};
        if (osb_json_type(value) != OSB_JSON_NUMBER)
            continue;
        osb_json_print(value, &text);
        osb_json_set_slice(texts, key, osb_json_new_string(osb_buf_slice(&text)));
    }
    cursor = NULL;
    while (osb_json_next_member(texts, &cursor, &key, &value))
        osb_json_set_slice(map, key, osb_json_copy(value));
}

/* A limit without a request is the request too. */
static void default_resources(struct osb_json *container)
{
    default_object(container, "resources");
    struct osb_json *resources = osb_json_get(container, "resources");
    struct osb_json *limits = osb_json_get(resources, "limits");
    quantities_to_text(limits);
    quantities_to_text(osb_json_get(resources, "requests"));
    if (!osb_json_count(limits))
        return;
    struct osb_json *requests = osb_json_ensure_object(resources, "requests");
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    while (osb_json_next_member(limits, &cursor, &key, &value))
        if (!osb_json_get_slice(requests, key))
            osb_json_set_slice(requests, key, osb_json_copy(value));
}

static void default_http_get(struct osb_json *handler)
{
    struct osb_json *get = osb_json_get(handler, "httpGet");
    if (!get)
        return;
    default_str(get, "path", "/");
    default_str(get, "scheme", "HTTP");
}

static void default_probe(struct osb_json *probe)
{
    if (!probe)
        return;
    default_i64(probe, "timeoutSeconds", 1);
    default_i64(probe, "periodSeconds", 10);
    default_i64(probe, "successThreshold", 1);
    default_i64(probe, "failureThreshold", 3);
    default_http_get(probe);
    if (osb_json_get(probe, "grpc"))
        default_str(osb_json_get(probe, "grpc"), "service", "");
}

static void default_env(struct osb_json *env)
{
    for (size_t i = 0; i < osb_json_count(env); i++) {
        struct osb_json *field = osb_json_get_path(osb_json_at(env, i), "valueFrom.fieldRef");
        if (field)
            default_str(field, "apiVersion", "v1");
    }
}

static void default_container(struct osb_json *container)
{
    default_str(container, "terminationMessagePath", "/dev/termination-log");
    default_str(container, "terminationMessagePolicy", "File");
    default_str(container, "imagePullPolicy",
                pull_policy(osb_json_str(osb_json_get(container, "image"))));
    default_resources(container);
    default_env(osb_json_get(container, "env"));
    const struct osb_json *ports = osb_json_get(container, "ports");
    for (size_t i = 0; i < osb_json_count(ports); i++)
        default_str(osb_json_at(ports, i), "protocol", "TCP");
    default_probe(osb_json_get(container, "livenessProbe"));
    default_probe(osb_json_get(container, "readinessProbe"));
    default_probe(osb_json_get(container, "startupProbe"));
    default_http_get(osb_json_get_path(container, "lifecycle.postStart"));
    default_http_get(osb_json_get_path(container, "lifecycle.preStop"));
}

static void default_containers(struct osb_json *list)
{
    for (size_t i = 0; i < osb_json_count(list); i++)
        default_container(osb_json_at(list, i));
}

static void default_volume(struct osb_json *volume)
{
    static const char *const with_mode[] = {"secret", "configMap", "downwardAPI", "projected"};
    if (osb_json_count(volume) <= 1) /* only a name */
        default_object(volume, "emptyDir");
    for (size_t i = 0; i < sizeof(with_mode) / sizeof(*with_mode); i++) {
        struct osb_json *source = osb_json_get(volume, with_mode[i]);
        if (source)
            default_i64(source, "defaultMode", FILE_MODE);
    }
    struct osb_json *host = osb_json_get(volume, "hostPath");
    if (host)
        default_str(host, "type", "");
}

void pod_default_spec(struct osb_json *spec)
{
    default_str(spec, "restartPolicy", "Always");
    default_str(spec, "dnsPolicy", "ClusterFirst");
    default_str(spec, "schedulerName", "default-scheduler");
    default_i64(spec, "terminationGracePeriodSeconds", 30);
    default_bool(spec, "enableServiceLinks", true);
    default_object(spec, "securityContext");
    default_i64(spec, "priority", 0);
    default_str(spec, "preemptionPolicy", "PreemptLowerPriority");
    default_containers(osb_json_get(spec, "containers"));
    default_containers(osb_json_get(spec, "initContainers"));
    const struct osb_json *volumes = osb_json_get(spec, "volumes");
    for (size_t i = 0; i < osb_json_count(volumes); i++)
        default_volume(osb_json_at(volumes, i));
}

/* What a container says of cpu and memory, for its part in the class. */
struct qos {
    bool has_any;       /* some request or limit */
    bool is_guaranteed; /* limits of both, and equal requests */
};

static int64_t amount(const struct osb_json *map, const char *name)
{
    int64_t milli = 0;
    osb_quantity_milli(osb_json_str(osb_json_get(map, name)), &milli);
    return milli;
}

static void count_container(const struct osb_json *container, struct qos *qos)
{
    static const char *const names[] = {"cpu", "memory"};
    const struct osb_json *limits = osb_json_get_path(container, "resources.limits");
    const struct osb_json *requests = osb_json_get_path(container, "resources.requests");
    for (int i = 0; i < 2; i++) {
        int64_t limit = amount(limits, names[i]), request = amount(requests, names[i]);
        if (limit || request)
            qos->has_any = true;
        if (!limit || limit != request)
            qos->is_guaranteed = false;
    }
}

const char *pod_qos_class(const struct osb_json *spec)
{
    static const char *const lists[] = {"containers", "initContainers"};
    struct qos qos = {.is_guaranteed = true};
    for (int l = 0; l < 2; l++) {
        const struct osb_json *list = osb_json_get(spec, lists[l]);
        for (size_t i = 0; i < osb_json_count(list); i++)
            count_container(osb_json_at(list, i), &qos);
    }
    if (!qos.has_any)
        return "BestEffort";
    return qos.is_guaranteed ? "Guaranteed" : "Burstable";
}
