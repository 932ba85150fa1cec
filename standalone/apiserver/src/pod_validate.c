// SPDX-License-Identifier: Apache-2.0
#include "pod_validate.h"

#include <osb/alloc.h>
#include <osb/api_meta.h>
#include <osb/api_quantity.h>
#include <osb/map.h>
#include <stdio.h>

enum { FIELD_MAX = 256 };

/* "BASE.NAME" into a buffer of FIELD_MAX. */
#define FIELD(buffer, ...) (snprintf((buffer), sizeof(buffer), __VA_ARGS__), (buffer))

static void validate_choice(struct refusal *r, const char *field, const struct osb_json *value,
                            const char *const *choices)
{
    struct osb_slice text = osb_json_str(value);
    _cleanup_buf_ struct osb_buf list = {0};
    if (!value)
        return;
    for (int i = 0; choices[i]; i++) {
        if (osb_slice_eq_str(text, choices[i]))
            return;
        osb_buf_appendf(&list, "%s\"%s\"", i ? ", " : "", choices[i]);
    }
    field_error(r, "FieldValueNotSupported", field,
                "Unsupported value: \"%.*s\": supported values: %s", OSB_SLICE_ARG(text),
                osb_buf_cstr(&list));
}

static void validate_port(struct refusal *r, const char *field, const struct osb_json *value)
{
    int64_t port = osb_json_i64_or(value, 0);
    if (port < 1 || port > 65535)
        field_error(r, "FieldValueInvalid", field,
                    "Invalid value: %lld: must be between 1 and 65535, inclusive", (long long)port);
}

/* A name that is needed, well-formed and not there yet. */
static void validate_member_name(struct refusal *r, const char *base, const struct osb_json *value,
                                 struct osb_map *seen)
{
    char field[FIELD_MAX];
    struct osb_slice name = osb_json_str(value);
    FIELD(field, "%s.name", base);
    if (!name.len)
        field_required(r, field);
    else if (!osb_api_is_dns_label(name))
        field_error(r, "FieldValueInvalid", field,
                    "Invalid value: \"%.*s\": a lowercase RFC 1123 label must consist of lower "
                    "case alphanumeric characters or '-', and must start and end with an "
                    "alphanumeric character",
                    OSB_SLICE_ARG(name));
    else if (osb_map_set(seen, name, seen))
        field_error(r, "FieldValueDuplicate", field, "Duplicate value: \"%.*s\"",
                    OSB_SLICE_ARG(name));
}

static void validate_amounts(struct refusal *r, const char *base, const struct osb_json *map)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    while (osb_json_next_member(map, &cursor, &key, &value)) {
        int64_t milli = 0;
        char field[FIELD_MAX];
        FIELD(field, "%s.%.*s", base, OSB_SLICE_ARG(key));
        int e = osb_quantity_milli(osb_json_str(value), &milli);
        if (e < 0 && e != -ERANGE)
            field_error(r, "FieldValueInvalid", field,
                        "Invalid value: \"%.*s\": quantities must match the regular expression "
                        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
                        OSB_SLICE_ARG(osb_json_str(value)));
        else if (e >= 0 && milli < 0)
            field_error(r, "FieldValueInvalid", field,
                        "Invalid value: \"%.*s\": must be greater than or equal to 0",
                        OSB_SLICE_ARG(osb_json_str(value)));
    }
}

static void validate_resources(struct refusal *r, const char *base,
                               const struct osb_json *resources)
{
    char field[FIELD_MAX];
    const struct osb_json *limits = osb_json_get(resources, "limits");
    const struct osb_json *requests = osb_json_get(resources, "requests");
    validate_amounts(r, FIELD(field, "%s.resources.limits", base), limits);
    validate_amounts(r, FIELD(field, "%s.resources.requests", base), requests);
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    while (osb_json_next_member(requests, &cursor, &key, &value)) {
        int64_t request = 0, limit = 0;
        struct osb_slice top = osb_json_str(osb_json_get_slice(limits, key));
        if (!top.len || osb_quantity_milli(osb_json_str(value), &request) < 0 ||
            osb_quantity_milli(top, &limit) < 0 || request <= limit)
            continue;
        FIELD(field, "%s.resources.requests", base);
        field_error(r, "FieldValueInvalid", field,
                    "Invalid value: \"%.*s\": must be less than or equal to %.*s limit of %.*s",
                    OSB_SLICE_ARG(osb_json_str(value)), OSB_SLICE_ARG(key), OSB_SLICE_ARG(top));
    }
}

static void validate_mounts(struct refusal *r, const char *base, const struct osb_json *mounts,
                            struct osb_map *volumes)
{
    struct osb_map paths = {0};
    for (size_t i = 0; i < osb_json_count(mounts); i++) {
        char field[FIELD_MAX];
        struct osb_slice name = osb_json_str(osb_json_get(osb_json_at(mounts, i), "name"));
        struct osb_slice path = osb_json_str(osb_json_get(osb_json_at(mounts, i), "mountPath"));
        FIELD(field, "%s.volumeMounts[%zu].name", base, i);
        if (!name.len)
            field_required(r, field);
        else if (!osb_map_has(volumes, name))
            field_error(r, "FieldValueNotFound", field, "Not found: \"%.*s\"", OSB_SLICE_ARG(name));
        FIELD(field, "%s.volumeMounts[%zu].mountPath", base, i);
        if (!path.len)
            field_required(r, field);
        else if (osb_map_set(&paths, path, &paths))
            field_error(r, "FieldValueInvalid", field, "Invalid value: \"%.*s\": must be unique",
                        OSB_SLICE_ARG(path));
    }
    osb_map_done(&paths, NULL);
}

static void validate_env(struct refusal *r, const char *base, const struct osb_json *env)
{
    for (size_t i = 0; i < osb_json_count(env); i++) {
        char field[FIELD_MAX];
        const struct osb_json *item = osb_json_at(env, i);
        struct osb_slice name = osb_json_str(osb_json_get(item, "name"));
        FIELD(field, "%s.env[%zu].name", base, i);
        if (!name.len)
            field_required(r, field);
        else if (osb_slice_find(name, '=') >= 0)
            field_error(r, "FieldValueInvalid", field,
                        "Invalid value: \"%.*s\": must not contain '='", OSB_SLICE_ARG(name));
        FIELD(field, "%s.env[%zu].valueFrom", base, i);
        const struct osb_json *from = osb_json_get(item, "valueFrom");
        if (from && osb_json_count(from) != 1)
            field_error(r, "FieldValueInvalid", field,
                        "Invalid value: \"\": must specify exactly one source");
        else if (from && osb_json_str(osb_json_get(item, "value")).len)
            field_error(r, "FieldValueInvalid", field,
                        "Invalid value: \"\": may not be specified when `value` is not empty");
    }
}

static void validate_container(struct refusal *r, const char *base,
                               const struct osb_json *container, struct osb_map *names,
                               struct osb_map *volumes)
{
    static const char *const policies[] = {"Always", "IfNotPresent", "Never", NULL};
    static const char *const message_policies[] = {"File", "FallbackToLogsOnError", NULL};
    char field[FIELD_MAX];
    validate_member_name(r, base, osb_json_get(container, "name"), names);
    if (!osb_json_str(osb_json_get(container, "image")).len)
        field_required(r, FIELD(field, "%s.image", base));
    validate_choice(r, FIELD(field, "%s.imagePullPolicy", base),
                    osb_json_get(container, "imagePullPolicy"), policies);
    validate_choice(r, FIELD(field, "%s.terminationMessagePolicy", base),
                    osb_json_get(container, "terminationMessagePolicy"), message_policies);
    const struct osb_json *ports = osb_json_get(container, "ports");
    for (size_t i = 0; i < osb_json_count(ports); i++) {
        static const char *const protocols[] = {"TCP", "UDP", "SCTP", NULL};
        const struct osb_json *port = osb_json_at(ports, i);
        validate_port(r, FIELD(field, "%s.ports[%zu].containerPort", base, i),
                      osb_json_get(port, "containerPort"));
        if (osb_json_i64_or(osb_json_get(port, "hostPort"), 0))
            validate_port(r, FIELD(field, "%s.ports[%zu].hostPort", base, i),
                          osb_json_get(port, "hostPort"));
        validate_choice(r, FIELD(field, "%s.ports[%zu].protocol", base, i),
                        osb_json_get(port, "protocol"), protocols);
    }
    validate_env(r, base, osb_json_get(container, "env"));
    validate_resources(r, base, osb_json_get(container, "resources"));
    validate_mounts(r, base, osb_json_get(container, "volumeMounts"), volumes);
}

static void validate_volumes(struct refusal *r, const struct osb_json *volumes,
                             struct osb_map *names)
{
    for (size_t i = 0; i < osb_json_count(volumes); i++) {
        char base[FIELD_MAX];
        const struct osb_json *volume = osb_json_at(volumes, i);
        FIELD(base, "spec.volumes[%zu]", i);
        validate_member_name(r, base, osb_json_get(volume, "name"), names);
        if (osb_json_count(volume) > 2)
            field_error(r, "FieldValueForbidden", base,
                        "Forbidden: may not specify more than 1 volume type");
    }
}

static void validate_containers(struct refusal *r, const char *list_name,
                                const struct osb_json *list, struct osb_map *names,
                                struct osb_map *volumes)
{
    for (size_t i = 0; i < osb_json_count(list); i++) {
        char base[FIELD_MAX];
        validate_container(r, FIELD(base, "spec.%s[%zu]", list_name, i), osb_json_at(list, i),
                           names, volumes);
    }
}

void pod_validate_spec(const struct osb_json *spec, struct refusal *r)
{
    static const char *const restart[] = {"Always", "OnFailure", "Never", NULL};
    static const char *const dns[] = {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None",
                                      NULL};
    struct osb_map names = {0}, volumes = {0};
    validate_volumes(r, osb_json_get(spec, "volumes"), &volumes);
    validate_containers(r, "initContainers", osb_json_get(spec, "initContainers"), &names,
                        &volumes);
    validate_containers(r, "containers", osb_json_get(spec, "containers"), &names, &volumes);
    if (!osb_json_count(osb_json_get(spec, "containers")))
        field_required(r, "spec.containers");
    validate_choice(r, "spec.restartPolicy", osb_json_get(spec, "restartPolicy"), restart);
    validate_choice(r, "spec.dnsPolicy", osb_json_get(spec, "dnsPolicy"), dns);
    int64_t grace = osb_json_i64_or(osb_json_get(spec, "terminationGracePeriodSeconds"), 0);
    if (grace < 0)
        field_error(r, "FieldValueInvalid", "spec.terminationGracePeriodSeconds",
                    "Invalid value: %lld: must be greater than or equal to 0", (long long)grace);
    const struct osb_json *deadline = osb_json_get(spec, "activeDeadlineSeconds");
    if (deadline && osb_json_i64_or(deadline, 0) < 1)
        field_error(r, "FieldValueInvalid", "spec.activeDeadlineSeconds",
                    "Invalid value: %lld: must be between 1 and 2147483647, inclusive",
                    (long long)osb_json_i64_or(deadline, 0));
    osb_map_done(&names, NULL);
    osb_map_done(&volumes, NULL);
}

/* The spec without what may change. */
static struct osb_json *fixed_part(const struct osb_json *spec)
{
    static const char *const lists[] = {"containers", "initContainers"};
    static const char *const loose[] = {"activeDeadlineSeconds", "terminationGracePeriodSeconds",
                                        "tolerations"};
    struct osb_json *copy = osb_json_copy(spec);
    for (size_t i = 0; i < sizeof(loose) / sizeof(*loose); i++)
        osb_json_del(copy, osb_slice_str(loose[i]));
    for (size_t l = 0; l < sizeof(lists) / sizeof(*lists); l++) {
        const struct osb_json *list = osb_json_get(copy, lists[l]);
        for (size_t i = 0; i < osb_json_count(list); i++)
            osb_json_del(osb_json_at(list, i), OSB_SLICE("image"));
    }
    return copy;
}

void pod_validate_spec_update(const struct osb_json *spec, const struct osb_json *old,
                              struct refusal *r)
{
    _cleanup_json_ struct osb_json *a = fixed_part(spec), *b = fixed_part(old);
    if (!osb_json_equal(a, b))
        field_error(r, "FieldValueForbidden", "spec",
                    "Forbidden: pod updates may not change fields other than "
                    "`spec.containers[*].image`,`spec.initContainers[*].image`,"
                    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
                    "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if "
                    "it was previously negative)");
}
