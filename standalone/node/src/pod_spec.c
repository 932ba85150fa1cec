// SPDX-License-Identifier: Apache-2.0
#include "pod_spec.h"

#include <osb/alloc.h>
#include <osb/api_meta.h>
#include <osb/api_quantity.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fields of a container that change how it must run and are not built. */
static const char *const unsupported_container_fields[] = {
    "livenessProbe", "readinessProbe", "startupProbe",
    "lifecycle",     "volumeDevices",  "restartPolicy",
};

static const char *text(const struct osb_json *object, const char *key)
{
    const char *value = osb_json_cstr(osb_json_get(object, key));
    return value && *value ? value : NULL;
}

static const char **strings(struct osb_arena *arena, const struct osb_json *list, size_t *ret_count)
{
    size_t count = osb_json_count(list);
    const char **array = osb_arena_calloc(arena, count + 1, sizeof(*array));
    for (size_t i = 0; i < count; i++) {
        const char *value = osb_json_cstr(osb_json_at(list, i));
        array[i] = value ? value : "";
    }
    *ret_count = count;
    return array;
}

static int parse_env(const struct osb_json *item, const char *container, struct env_spec *ret,
                     struct osb_err *err)
{
    ret->name = text(item, "name");
    ret->source = ENV_VALUE;
    ret->value = osb_json_cstr(osb_json_get(item, "value"));
    const struct osb_json *from = osb_json_get(item, "valueFrom");
    if (!ret->name)
        return osb_fail(err, -OSB_E_INVALID, "container %s: an env entry has no name", container);
    if (!ret->value)
        ret->value = "";
    if (!osb_json_count(from))
        return 0;
    const struct osb_json *secret = osb_json_get(from, "secretKeyRef");
    const struct osb_json *field = osb_json_get(from, "fieldRef");
    if (secret) {
        ret->source = ENV_SECRET;
        ret->secret = text(secret, "name");
        ret->key = text(secret, "key");
        ret->is_optional = osb_json_bool_or(osb_json_get(secret, "optional"), false);
        if (!ret->secret || !ret->key)
            return osb_fail(err, -OSB_E_INVALID,
                            "container %s: env %s: secretKeyRef needs name "
                            "and key",
                            container, ret->name);
        return 0;
    }
    if (field) {
        ret->source = ENV_FIELD;
        ret->value = text(field, "fieldPath");
        if (!ret->value)
            ret->value = "";
        return 0;
    }
    return osb_fail(err, -OSB_E_UNSUPPORTED,
                    "container %s: env %s: only secretKeyRef and fieldRef are supported", container,
                    ret->name);
}

static int parse_mounts(struct pod_spec *spec, const struct osb_json *list,
                        struct container_spec *ret, struct osb_err *err)
{
    ret->mount_count = osb_json_count(list);
    ret->mounts = osb_arena_calloc(&spec->arena, ret->mount_count + 1, sizeof(*ret->mounts));
    for (size_t i = 0; i < ret->mount_count; i++) {
        const struct osb_json *item = osb_json_at(list, i);
        struct mount_spec *mount = &ret->mounts[i];
        mount->volume = text(item, "name");
        mount->path = text(item, "mountPath");
        mount->sub_path = text(item, "subPath");
        mount->is_read_only = osb_json_bool_or(osb_json_get(item, "readOnly"), false);
        bool is_known = false;
        for (size_t v = 0; mount->volume && v < spec->volume_count; v++)
            is_known |= !strcmp(spec->volumes[v].name, mount->volume);
        if (!is_known || !mount->path)
            return osb_fail(err, -OSB_E_INVALID, "container %s: volume mount %s names no volume",
                            ret->name, mount->volume ? mount->volume : "(none)");
        if (mount->sub_path && (mount->sub_path[0] == '/' || strstr(mount->sub_path, "..")))
            return osb_fail(err, -OSB_E_INVALID, "container %s: subPath %s leaves its volume",
                            ret->name, mount->sub_path);
        if (text(item, "subPathExpr"))
            return osb_fail(err, -OSB_E_UNSUPPORTED, "container %s: subPathExpr is not supported",
                            ret->name);
    }
    return 0;
}

static void parse_security(struct pod_spec *spec, const struct osb_json *pod,
                           const struct osb_json *own, struct security_spec *ret)
{
    const struct osb_json *levels[] = {pod, own}; /* the container's own wins */
    for (size_t i = 0; i < 2; i++) {
        const struct osb_json *user = osb_json_get(levels[i], "runAsUser");
        const struct osb_json *group = osb_json_get(levels[i], "runAsGroup");
        const char *seccomp = osb_json_cstr(osb_json_get_path(levels[i], "seccompProfile.type"));
        if (osb_json_type(user) == OSB_JSON_NUMBER) {
            ret->has_user = true;
            ret->user = osb_json_i64_or(user, 0);
        }
        if (osb_json_type(group) == OSB_JSON_NUMBER) {
            ret->has_group = true;
            ret->group = osb_json_i64_or(group, 0);
        }
        if (seccomp)
            ret->is_seccomp_default = !strcmp(seccomp, "RuntimeDefault");
    }
    const struct osb_json *capabilities = osb_json_get(own, "capabilities");
    ret->add_capabilities =
        strings(&spec->arena, osb_json_get(capabilities, "add"), &ret->add_count);
    ret->drop_capabilities =
        strings(&spec->arena, osb_json_get(capabilities, "drop"), &ret->drop_count);
    ret->is_privileged = osb_json_bool_or(osb_json_get(own, "privileged"), false);
    ret->is_root_read_only = osb_json_bool_or(osb_json_get(own, "readOnlyRootFilesystem"), false);
    ret->must_not_escalate = !osb_json_bool_or(osb_json_get(own, "allowPrivilegeEscalation"), true);
}

static int parse_quantity(const struct osb_json *resources, const char *path, bool is_milli,
                          int64_t *ret, struct osb_err *err)
{
    const struct osb_json *value = osb_json_get_path(resources, path);
    char number[32];
    struct osb_slice quantity = osb_json_str(value);
    if (osb_json_type(value) == OSB_JSON_NUMBER) {
        int n = snprintf(number, sizeof(number), "%lld", (long long)osb_json_i64_or(value, 0));
        quantity = osb_slice(number, (size_t)n);
    }
    if (!quantity.len)
        return 0;
    int r = is_milli ? osb_quantity_milli(quantity, ret) : osb_quantity_units(quantity, ret);
    if (r < 0)
        return osb_fail(err, -OSB_E_INVALID, "resources.%s: \"%.*s\" is no quantity", path,
                        OSB_SLICE_ARG(quantity));
    return 0;
}

static int parse_resources(const struct osb_json *resources, struct container_spec *ret,
                           struct osb_err *err)
{
    int r;
    (void)((r = parse_quantity(resources, "requests.cpu", true, &ret->cpu_request_milli, err)) <
               0 ||
           (r = parse_quantity(resources, "limits.cpu", true, &ret->cpu_limit_milli, err)) < 0 ||
           (r = parse_quantity(resources, "requests.memory", false, &ret->memory_request, err)) <
               0 ||
           (r = parse_quantity(resources, "limits.memory", false, &ret->memory_limit, err)) < 0);
    if (r < 0)
        return osb_wrap(err, r, "container %s", ret->name);
    if (!ret->cpu_request_milli)
        ret->cpu_request_milli = ret->cpu_limit_milli;
    if (!ret->memory_request)
        ret->memory_request = ret->memory_limit;
    return 0;
}

/* As Kubernetes defaults it: Always for ":latest" or no tag, else IfNotPresent. */
static const char *default_pull_policy(const char *image)
{
    const char *name = strrchr(image, '/');
    name = name ? name + 1 : image;
    const char *tag = strrchr(name, ':');
    if (strchr(name, '@'))
        return "IfNotPresent";
    return !tag || !strcmp(tag, ":latest") ? "Always" : "IfNotPresent";
}

static int parse_container(struct pod_spec *spec, const struct osb_json *item, bool is_init,
                           struct container_spec *ret, struct osb_err *err)
{
    ret->name = text(item, "name");
    ret->image = text(item, "image");
    ret->is_init = is_init;
    if (!ret->name || !ret->image)
        return osb_fail(err, -OSB_E_INVALID, "a container needs a name and an image");
    for (size_t i = 0;
         i < sizeof(unsupported_container_fields) / sizeof(unsupported_container_fields[0]); i++) {
        if (osb_json_count(osb_json_get(item, unsupported_container_fields[i])))
            return osb_fail(err, -OSB_E_UNSUPPORTED, "container %s: %s is not supported", ret->name,
                            unsupported_container_fields[i]);
    }
    if (osb_json_count(osb_json_get(item, "envFrom")))
        return osb_fail(err, -OSB_E_UNSUPPORTED, "container %s: envFrom is not supported",
                        ret->name);
    ret->pull_policy = text(item, "imagePullPolicy");
    if (!ret->pull_policy)
        ret->pull_policy = default_pull_policy(ret->image);
    ret->command = strings(&spec->arena, osb_json_get(item, "command"), &ret->command_count);
    ret->args = strings(&spec->arena, osb_json_get(item, "args"), &ret->arg_count);
    ret->working_dir = text(item, "workingDir");
    ret->has_stdin = osb_json_bool_or(osb_json_get(item, "stdin"), false);
    ret->has_stdin_once = osb_json_bool_or(osb_json_get(item, "stdinOnce"), false);
    ret->has_tty = osb_json_bool_or(osb_json_get(item, "tty"), false);
    const struct osb_json *env = osb_json_get(item, "env");
    ret->env_count = osb_json_count(env);
    ret->env = osb_arena_calloc(&spec->arena, ret->env_count + 1, sizeof(*ret->env));
    int r = 0;
    for (size_t i = 0; r >= 0 && i < ret->env_count; i++)
        r = parse_env(osb_json_at(env, i), ret->name, &ret->env[i], err);
    if (r >= 0)
        r = parse_mounts(spec, osb_json_get(item, "volumeMounts"), ret, err);
    if (r >= 0)
        r = parse_resources(osb_json_get(item, "resources"), ret, err);
    parse_security(spec, osb_json_get_path(spec->object, "spec.securityContext"),
                   osb_json_get(item, "securityContext"), &ret->security);
    return r;
}

static int parse_containers(struct pod_spec *spec, const char *key, bool is_init,
                            struct osb_err *err)
{
    const struct osb_json *list = osb_json_get(osb_json_get(spec->object, "spec"), key);
    int r = 0;
    for (size_t i = 0; r >= 0 && i < osb_json_count(list); i++) {
        if (spec->container_count == POD_MAX_CONTAINERS)
            return osb_fail(err, -OSB_E_UNSUPPORTED, "more than %d containers", POD_MAX_CONTAINERS);
        r = parse_container(spec, osb_json_at(list, i), is_init,
                            &spec->containers[spec->container_count++], err);
    }
    return r;
}

static int parse_volume(const struct osb_json *item, struct volume_spec *ret, struct osb_err *err)
{
    const struct osb_json *empty = osb_json_get(item, "emptyDir");
    const struct osb_json *host = osb_json_get(item, "hostPath");
    const struct osb_json *secret = osb_json_get(item, "secret");
    ret->name = text(item, "name");
    if (!ret->name)
        return osb_fail(err, -OSB_E_INVALID, "a volume has no name");
    if (osb_json_type(host) == OSB_JSON_OBJECT) {
        ret->type = VOLUME_HOST_PATH;
        ret->host_path = text(host, "path");
        ret->host_type = text(host, "type");
        if (!ret->host_path || ret->host_path[0] != '/')
            return osb_fail(err, -OSB_E_INVALID, "volume %s: hostPath needs an absolute path",
                            ret->name);
    } else if (osb_json_type(secret) == OSB_JSON_OBJECT) {
        ret->type = VOLUME_SECRET;
        ret->secret = text(secret, "secretName");
        ret->is_optional = osb_json_bool_or(osb_json_get(secret, "optional"), false);
        ret->mode = (int)osb_json_i64_or(osb_json_get(secret, "defaultMode"), 0644);
        ret->items = osb_json_get(secret, "items");
        if (!ret->secret)
            return osb_fail(err, -OSB_E_INVALID, "volume %s: secretName is missing", ret->name);
    } else if (osb_json_type(empty) == OSB_JSON_OBJECT) {
        ret->type = VOLUME_EMPTY_DIR;
        const char *medium = text(empty, "medium");
        ret->is_memory = medium && !strcmp(medium, "Memory");
        if (ret->is_memory)
            return parse_quantity(empty, "sizeLimit", false, &ret->size_limit, err);
    } else {
        return osb_fail(err, -OSB_E_UNSUPPORTED,
                        "volume %s: only emptyDir, hostPath and secret are supported", ret->name);
    }
    return 0;
}

static int parse_volumes(struct pod_spec *spec, struct osb_err *err)
{
    const struct osb_json *list = osb_json_get_path(spec->object, "spec.volumes");
    int r = 0;
    for (size_t i = 0; r >= 0 && i < osb_json_count(list); i++) {
        if (spec->volume_count == POD_MAX_VOLUMES)
            return osb_fail(err, -OSB_E_UNSUPPORTED, "more than %d volumes", POD_MAX_VOLUMES);
        r = parse_volume(osb_json_at(list, i), &spec->volumes[spec->volume_count++], err);
    }
    return r;
}

static void parse_groups(struct pod_spec *spec, const struct osb_json *security)
{
    const struct osb_json *list = osb_json_get(security, "supplementalGroups");
    const struct osb_json *fs_group = osb_json_get(security, "fsGroup");
    size_t count = osb_json_count(list);
    int64_t *groups = osb_arena_calloc(&spec->arena, count + 1, sizeof(*groups));
    for (size_t i = 0; i < count; i++)
        groups[i] = osb_json_i64_or(osb_json_at(list, i), 0);
    if (osb_json_type(fs_group) == OSB_JSON_NUMBER) {
        spec->has_fs_group = true;
        spec->fs_group = osb_json_i64_or(fs_group, 0);
        groups[count++] = spec->fs_group;
    }
    spec->supplemental_groups = groups;
    spec->supplemental_count = count;
}

static void parse_restart(struct pod_spec *spec, const char *policy)
{
    spec->restart = RESTART_ALWAYS;
    if (policy && !strcmp(policy, "Never"))
        spec->restart = RESTART_NEVER;
    else if (policy && !strcmp(policy, "OnFailure"))
        spec->restart = RESTART_ON_FAILURE;
}

static int find_container(const struct pod_spec *spec, const char *name)
{
    for (size_t i = spec->init_count; i < spec->container_count; i++)
        if (!strcmp(spec->containers[i].name, name))
            return (int)i;
    return -1;
}

static int find_injected(struct pod_spec *spec, struct osb_err *err)
{
    const char *inject = osb_api_annotation(spec->object, POD_INJECT_ANNOTATION);
    const char *version = osb_api_annotation(spec->object, POD_INJECT_VERSION_ANNOTATION);
    const char *named = osb_api_annotation(spec->object, POD_INJECT_CONTAINER_ANNOTATION);
    spec->inject = -1;
    if (!inject || strcmp(inject, POD_INJECT_EXECD) != 0 || !version)
        return 0;
    if (strcmp(version, POD_INJECT_VERSION) != 0)
        return osb_fail(err, -OSB_E_UNSUPPORTED,
                        POD_INJECT_VERSION_ANNOTATION " is not " POD_INJECT_VERSION
                                                      ", which this node has");
    spec->inject = find_container(spec, named ? named : POD_SANDBOX_CONTAINER);
    if (spec->inject < 0 && named)
        return osb_fail(err, -OSB_E_INVALID,
                        POD_INJECT_CONTAINER_ANNOTATION " names no container of the pod");
    if (spec->inject < 0)
        spec->inject = (int)spec->init_count;
    return 0;
}

static int parse_pod(struct pod_spec *spec, struct osb_err *err)
{
    const struct osb_json *object = spec->object, *pod = osb_json_get(object, "spec");
    spec->uid = osb_api_uid(object);
    spec->name = osb_api_name(object);
    spec->namespace_ = osb_api_namespace(object);
    if (!spec->uid || !spec->name || !spec->namespace_ || !pod)
        return osb_fail(err, -OSB_E_INVALID, "not a pod: uid, name, namespace or spec is missing");
    spec->hostname = text(pod, "hostname");
    if (!spec->hostname)
        spec->hostname = osb_arena_slice_dup(
            &spec->arena, osb_slice_first(osb_slice_str(spec->name), 63)); /* HOST_NAME_MAX - 1 */
    parse_restart(spec, text(pod, "restartPolicy"));
    parse_groups(spec, osb_json_get(pod, "securityContext"));
    spec->is_host_network = osb_json_bool_or(osb_json_get(pod, "hostNetwork"), false);
    spec->is_host_pid = osb_json_bool_or(osb_json_get(pod, "hostPID"), false);
    spec->is_host_ipc = osb_json_bool_or(osb_json_get(pod, "hostIPC"), false);
    spec->shares_processes = osb_json_bool_or(osb_json_get(pod, "shareProcessNamespace"), false);
    spec->runtime_class = text(pod, "runtimeClassName");
    spec->grace_s =
        osb_json_i64_or(osb_json_get(pod, "terminationGracePeriodSeconds"), POD_DEFAULT_GRACE_S);
    spec->deadline_s = osb_json_i64_or(osb_json_get(pod, "activeDeadlineSeconds"), 0);
    int r = parse_volumes(spec, err);
    if (r >= 0)
        r = parse_containers(spec, "initContainers", true, err);
    spec->init_count = spec->container_count;
    if (r >= 0)
        r = parse_containers(spec, "containers", false, err);
    if (r >= 0 && spec->init_count == spec->container_count)
        r = osb_fail(err, -OSB_E_INVALID, "a pod needs a container");
    if (r >= 0)
        r = find_injected(spec, err);
    return r;
}

int pod_spec_parse(struct osb_json *object, struct pod_spec **ret, struct osb_err *err)
{
    struct pod_spec *spec = osb_new(struct pod_spec);
    spec->object = object;
    int r = parse_pod(spec, err);
    if (r < 0) {
        pod_spec_free(spec);
        return r;
    }
    *ret = spec;
    return 0;
}

void pod_spec_free(struct pod_spec *spec)
{
    if (!spec)
        return;
    osb_json_free(spec->object);
    osb_arena_done(&spec->arena);
    free(spec);
}
