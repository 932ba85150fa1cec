// SPDX-License-Identifier: Apache-2.0
#include "cri_build.h"

#include <osb/api_meta.h>
#include <string.h>
#include <sys/sysinfo.h>

enum {
    CPU_PERIOD_US = 100000,
    CPU_QUOTA_MIN_US = 1000,
    CPU_SHARES_MIN = 2,
    CPU_SHARES_PER_CPU = 1024,
    OOM_SCORE_MIN = 2, /* of containers that may burst, as the kubelet computes it */
    OOM_SCORE_MAX = 1000,
};

/* What containers must not see or change in /proc and /sys unless they are privileged. */
static char *masked_paths[] = {
    "/proc/asound",
    "/proc/acpi",
    "/proc/kcore",
    "/proc/keys",
    "/proc/latency_stats",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/proc/sched_debug",
    "/proc/scsi",
    "/sys/firmware",
    "/sys/devices/virtual/powercap",
};
static char *readonly_paths[] = {
    "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger",
};

#define NEW(arena, type, init)                                                                     \
    ({                                                                                             \
        type *new_ = osb_arena_alloc((arena), sizeof(type));                                       \
        init(new_);                                                                                \
        new_;                                                                                      \
    })

static char *unconst(const char *text)
{
    return (char *)(uintptr_t)text; /* protobuf-c's structs have no const; packing does not write */
}

/* The labels of pod and runner, as entries of a map field whose entry type has key and value. */
struct label {
    const char *key;
    const char *value;
};

static size_t collect_labels(struct osb_arena *arena, const struct pod_spec *spec,
                             const char *container, struct label **ret)
{
    const struct osb_json *labels = osb_api_labels(spec->object);
    size_t count = 0;
    struct label *list = osb_arena_calloc(arena, osb_json_count(labels) + 4, sizeof(*list));
    list[count++] = (struct label){CRI_LABEL_POD_UID, spec->uid};
    list[count++] = (struct label){CRI_LABEL_POD_NAME, spec->name};
    list[count++] = (struct label){CRI_LABEL_POD_NAMESPACE, spec->namespace_};
    if (container)
        list[count++] = (struct label){CRI_LABEL_CONTAINER, container};
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    while (osb_json_next_member(labels, &cursor, &key, &value)) {
        const char *text = osb_json_cstr(value);
        if (text && !osb_slice_starts(key, OSB_SLICE("io.kubernetes.")))
            list[count++] = (struct label){osb_arena_slice_dup(arena, key), text};
    }
    *ret = list;
    return count;
}

#define FILL_MAP(arena, message, field, entry_type, entry_init, list, count)                       \
    do {                                                                                           \
        (message)->n_##field = (count);                                                            \
        (message)->field = osb_arena_calloc((arena), (count) + 1, sizeof(*(message)->field));      \
        for (size_t i_ = 0; i_ < (count); i_++) {                                                  \
            (message)->field[i_] = NEW((arena), entry_type, entry_init);                           \
            (message)->field[i_]->key = unconst((list)[i_].key);                                   \
            (message)->field[i_]->value = unconst((list)[i_].value);                               \
        }                                                                                          \
    } while (0)

static Runtime__V1__NamespaceOption *namespaces(struct osb_arena *arena,
                                                const struct pod_spec *spec)
{
    Runtime__V1__NamespaceOption *options =
        NEW(arena, Runtime__V1__NamespaceOption, runtime__v1__namespace_option__init);
    options->network = spec->is_host_network ? RUNTIME__V1__NAMESPACE_MODE__NODE
                                             : RUNTIME__V1__NAMESPACE_MODE__POD;
    options->ipc =
        spec->is_host_ipc ? RUNTIME__V1__NAMESPACE_MODE__NODE : RUNTIME__V1__NAMESPACE_MODE__POD;
    options->pid = spec->is_host_pid        ? RUNTIME__V1__NAMESPACE_MODE__NODE
                   : spec->shares_processes ? RUNTIME__V1__NAMESPACE_MODE__POD
                                            : RUNTIME__V1__NAMESPACE_MODE__CONTAINER;
    return options;
}

static Runtime__V1__SecurityProfile *seccomp(struct osb_arena *arena, bool is_default)
{
    Runtime__V1__SecurityProfile *profile =
        NEW(arena, Runtime__V1__SecurityProfile, runtime__v1__security_profile__init);
    profile->profile_type = is_default ? RUNTIME__V1__SECURITY_PROFILE__PROFILE_TYPE__RuntimeDefault
                                       : RUNTIME__V1__SECURITY_PROFILE__PROFILE_TYPE__Unconfined;
    return profile;
}

static void set_groups(struct osb_arena *arena, const struct pod_spec *spec, size_t *ret_count,
                       int64_t **ret)
{
    *ret_count = spec->supplemental_count;
    *ret = osb_arena_calloc(arena, spec->supplemental_count + 1, sizeof(**ret));
    for (size_t i = 0; i < spec->supplemental_count; i++)
        (*ret)[i] = spec->supplemental_groups[i];
}

static bool has_privileged(const struct pod_spec *spec)
{
    for (size_t i = 0; i < spec->container_count; i++) {
        if (spec->containers[i].security.is_privileged)
            return true;
    }
    return false;
}

char *cri_build_log_folder(struct osb_arena *arena, const struct node *node,
                           const struct pod_spec *spec)
{
    return osb_arena_printf(arena, "%s/logs/%s_%s_%s", node->options.root, spec->namespace_,
                            spec->name, spec->uid);
}

char *cri_build_log_file(struct osb_arena *arena, const char *container, uint32_t attempt)
{
    return osb_arena_printf(arena, "%s/%u.log", container, attempt);
}

Runtime__V1__PodSandboxConfig *cri_build_sandbox(struct osb_arena *arena, const struct node *node,
                                                 const struct pod_spec *spec, uint32_t attempt)
{
    Runtime__V1__PodSandboxConfig *config =
        NEW(arena, Runtime__V1__PodSandboxConfig, runtime__v1__pod_sandbox_config__init);
    config->metadata =
        NEW(arena, Runtime__V1__PodSandboxMetadata, runtime__v1__pod_sandbox_metadata__init);
    config->metadata->name = unconst(spec->name);
    config->metadata->uid = unconst(spec->uid);
    config->metadata->namespace_ = unconst(spec->namespace_);
    config->metadata->attempt = attempt;
    /* With the machine's network the machine's name stays too. */
    config->hostname = unconst(spec->is_host_network ? "" : spec->hostname);
    config->log_directory = cri_build_log_folder(arena, node, spec);
    struct label *labels;
    size_t count = collect_labels(arena, spec, NULL, &labels);
    FILL_MAP(arena, config, labels, Runtime__V1__PodSandboxConfig__LabelsEntry,
             runtime__v1__pod_sandbox_config__labels_entry__init, labels, count);
    config->linux_config =
        NEW(arena, Runtime__V1__LinuxPodSandboxConfig, runtime__v1__linux_pod_sandbox_config__init);
    if (node->options.cgroup_parent)
        config->linux_config->cgroup_parent =
            osb_arena_printf(arena, "%s/pod%s", node->options.cgroup_parent, spec->uid);
    Runtime__V1__LinuxSandboxSecurityContext *security =
        NEW(arena, Runtime__V1__LinuxSandboxSecurityContext,
            runtime__v1__linux_sandbox_security_context__init);
    security->namespace_options = namespaces(arena, spec);
    security->privileged = has_privileged(spec);
    security->seccomp = seccomp(arena, false);
    set_groups(arena, spec, &security->n_supplemental_groups, &security->supplemental_groups);
    config->linux_config->security_context = security;
    return config;
}

Runtime__V1__ImageSpec *cri_build_image(struct osb_arena *arena, const char *image)
{
    Runtime__V1__ImageSpec *spec =
        NEW(arena, Runtime__V1__ImageSpec, runtime__v1__image_spec__init);
    spec->image = unconst(image);
    return spec;
}

/* The higher, the sooner it is killed: the less memory a container asked for. */
static int64_t oom_score(const struct container_spec *container)
{
    struct sysinfo info;
    if (!container->memory_request || sysinfo(&info) < 0)
        return OOM_SCORE_MAX;
    double machine = (double)info.totalram * info.mem_unit;
    int64_t score =
        OOM_SCORE_MAX - (int64_t)((double)container->memory_request * OOM_SCORE_MAX / machine);
    if (score < OOM_SCORE_MIN)
        return OOM_SCORE_MIN;
    return score < OOM_SCORE_MAX ? score : OOM_SCORE_MAX - 1;
}

static Runtime__V1__LinuxContainerResources *resources(struct osb_arena *arena,
                                                       const struct container_spec *container)
{
    Runtime__V1__LinuxContainerResources *r = NEW(arena, Runtime__V1__LinuxContainerResources,
                                                  runtime__v1__linux_container_resources__init);
    r->cpu_period = CPU_PERIOD_US;
    r->cpu_shares = container->cpu_request_milli * CPU_SHARES_PER_CPU / 1000;
    if (r->cpu_shares < CPU_SHARES_MIN)
        r->cpu_shares = CPU_SHARES_MIN;
    if (container->cpu_limit_milli) {
        r->cpu_quota = container->cpu_limit_milli * CPU_PERIOD_US / 1000;
        if (r->cpu_quota < CPU_QUOTA_MIN_US)
            r->cpu_quota = CPU_QUOTA_MIN_US;
    }
    r->memory_limit_in_bytes = container->memory_limit;
    r->oom_score_adj = oom_score(container);
    return r;
}

static void copy_list(struct osb_arena *arena, const char *const *from, size_t count,
                      size_t *ret_count, char ***ret)
{
    *ret_count = count;
    *ret = osb_arena_calloc(arena, count + 1, sizeof(**ret));
    for (size_t i = 0; i < count; i++)
        (*ret)[i] = unconst(from[i]);
}

static Runtime__V1__Int64Value *int64_value(struct osb_arena *arena, bool is_set, int64_t value)
{
    if (!is_set)
        return NULL;
    Runtime__V1__Int64Value *v =
        NEW(arena, Runtime__V1__Int64Value, runtime__v1__int64_value__init);
    v->value = value;
    return v;
}

static Runtime__V1__LinuxContainerSecurityContext *
container_security(struct osb_arena *arena, const struct pod_spec *spec,
                   const struct security_spec *from)
{
    Runtime__V1__LinuxContainerSecurityContext *security =
        NEW(arena, Runtime__V1__LinuxContainerSecurityContext,
            runtime__v1__linux_container_security_context__init);
    security->capabilities = NEW(arena, Runtime__V1__Capability, runtime__v1__capability__init);
    copy_list(arena, from->add_capabilities, from->add_count,
              &security->capabilities->n_add_capabilities,
              &security->capabilities->add_capabilities);
    copy_list(arena, from->drop_capabilities, from->drop_count,
              &security->capabilities->n_drop_capabilities,
              &security->capabilities->drop_capabilities);
    security->privileged = from->is_privileged;
    security->namespace_options = namespaces(arena, spec);
    security->run_as_user = int64_value(arena, from->has_user, from->user);
    security->run_as_group = int64_value(arena, from->has_group, from->group);
    security->readonly_rootfs = from->is_root_read_only;
    security->no_new_privs = from->must_not_escalate;
    security->seccomp = seccomp(arena, from->is_seccomp_default && !from->is_privileged);
    set_groups(arena, spec, &security->n_supplemental_groups, &security->supplemental_groups);
    if (!from->is_privileged) {
        security->masked_paths = masked_paths;
        security->n_masked_paths = sizeof(masked_paths) / sizeof(masked_paths[0]);
        security->readonly_paths = readonly_paths;
        security->n_readonly_paths = sizeof(readonly_paths) / sizeof(readonly_paths[0]);
    }
    return security;
}

static void add_mounts(struct osb_arena *arena, const struct resolved_container *resolved,
                       Runtime__V1__ContainerConfig *config)
{
    config->n_mounts = resolved->mount_count;
    config->mounts = osb_arena_calloc(arena, resolved->mount_count + 1, sizeof(*config->mounts));
    for (size_t i = 0; i < resolved->mount_count; i++) {
        Runtime__V1__Mount *mount = NEW(arena, Runtime__V1__Mount, runtime__v1__mount__init);
        mount->host_path = unconst(resolved->mounts[i].host_path);
        mount->container_path = unconst(resolved->mounts[i].container_path);
        mount->readonly = resolved->mounts[i].is_read_only;
        config->mounts[i] = mount;
    }
}

Runtime__V1__ContainerConfig *cri_build_container(struct osb_arena *arena,
                                                  const struct pod_spec *spec, size_t index,
                                                  const struct resolved_container *resolved,
                                                  uint32_t attempt)
{
    const struct container_spec *container = &spec->containers[index];
    Runtime__V1__ContainerConfig *config =
        NEW(arena, Runtime__V1__ContainerConfig, runtime__v1__container_config__init);
    config->metadata =
        NEW(arena, Runtime__V1__ContainerMetadata, runtime__v1__container_metadata__init);
    config->metadata->name = unconst(container->name);
    config->metadata->attempt = attempt;
    config->image = cri_build_image(arena, container->image);
    copy_list(arena, resolved->command, container->command_count, &config->n_command,
              &config->command);
    copy_list(arena, resolved->args, container->arg_count, &config->n_args, &config->args);
    if (container->working_dir)
        config->working_dir = unconst(container->working_dir);
    config->n_envs = resolved->env_count;
    config->envs = osb_arena_calloc(arena, resolved->env_count + 1, sizeof(*config->envs));
    for (size_t i = 0; i < resolved->env_count; i++) {
        config->envs[i] = NEW(arena, Runtime__V1__KeyValue, runtime__v1__key_value__init);
        config->envs[i]->key = unconst(resolved->env[i].name);
        config->envs[i]->value = unconst(resolved->env[i].value);
    }
    add_mounts(arena, resolved, config);
    struct label *labels;
    size_t count = collect_labels(arena, spec, container->name, &labels);
    FILL_MAP(arena, config, labels, Runtime__V1__ContainerConfig__LabelsEntry,
             runtime__v1__container_config__labels_entry__init, labels, count);
    config->log_path = cri_build_log_file(arena, container->name, attempt);
    config->stdin = container->has_stdin;
    config->stdin_once = container->has_stdin_once;
    config->tty = container->has_tty;
    config->linux_config =
        NEW(arena, Runtime__V1__LinuxContainerConfig, runtime__v1__linux_container_config__init);
    config->linux_config->resources = resources(arena, container);
    config->linux_config->security_context = container_security(arena, spec, &container->security);
    return config;
}
