// SPDX-License-Identifier: Apache-2.0
#include "container_view.h"

#include "expansion.h"

#include <errno.h>
#include <fcntl.h>
#include <osb/api_meta.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *field_value(struct osb_arena *arena, const struct node *node,
                               const struct pod_spec *spec, const char *pod_ip, const char *path)
{
    static const char labels[] = "metadata.labels['", annotations[] = "metadata.annotations['";
    const struct osb_json *map = NULL;
    if (!strcmp(path, "metadata.name"))
        return spec->name;
    if (!strcmp(path, "metadata.namespace"))
        return spec->namespace_;
    if (!strcmp(path, "metadata.uid"))
        return spec->uid;
    if (!strcmp(path, "spec.nodeName"))
        return node->options.node_name;
    if (!strcmp(path, "status.podIP"))
        return pod_ip ? pod_ip : "";
    if (!strcmp(path, "status.hostIP"))
        return node->host_ip ? node->host_ip : "";
    size_t skip = 0;
    if (!strncmp(path, labels, sizeof(labels) - 1)) {
        map = osb_api_labels(spec->object);
        skip = sizeof(labels) - 1;
    } else if (!strncmp(path, annotations, sizeof(annotations) - 1)) {
        map = osb_api_annotations(spec->object);
        skip = sizeof(annotations) - 1;
    }
    size_t len = strlen(path);
    if (!skip || len < skip + 2)
        return NULL;
    const char *key = osb_arena_slice_dup(arena, osb_slice(path + skip, len - skip - 2));
    const char *value = osb_json_cstr(osb_json_get(map, key));
    return value ? value : "";
}

static int resolve_env(struct osb_arena *arena, const struct node *node,
                       const struct pod_spec *spec, const struct env_spec *env, const char *pod_ip,
                       const struct secret_source *secrets, const char **ret, struct osb_err *err)
{
    struct osb_slice value;
    switch (env->source) {
    case ENV_VALUE:
        *ret = env->value;
        return 0;
    case ENV_SECRET:
        if (secrets->get(env->secret, env->key, &value, secrets->arg))
            *ret = osb_arena_slice_dup(arena, value);
        else if (!env->is_optional)
            return osb_fail(err, -OSB_E_NOT_FOUND, "secret \"%s\" or its key \"%s\" not found",
                            env->secret, env->key);
        return 0;
    case ENV_FIELD:
        *ret = field_value(arena, node, spec, pod_ip, env->value);
        if (!*ret)
            return osb_fail(err, -OSB_E_UNSUPPORTED, "env %s: field %s is not supported", env->name,
                            env->value);
        return 0;
    }
    return 0;
}

static const struct volume_spec *find_volume(const struct pod_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->volume_count; i++) {
        if (!strcmp(spec->volumes[i].name, name))
            return &spec->volumes[i];
    }
    return NULL; /* pod_spec_parse() has seen that there is one */
}

/*
 * Opens NAME below the folder FOLDER_FD, which it makes where it is missing, with the mode of that
 * folder. A symbolic link is refused: a container may have made it, and it would lead out of the
 * volume.
 */
static int enter_folder(int folder_fd, const char *name, bool may_make)
{
    struct stat st;
    int fd = openat(folder_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT && may_make) {
        if (fstat(folder_fd, &st) < 0 || mkdirat(folder_fd, name, 0755) < 0 ||
            fchmodat(folder_fd, name, st.st_mode & 07777, 0) < 0 ||
            fchownat(folder_fd, name, (uid_t)-1, st.st_gid, AT_SYMLINK_NOFOLLOW) < 0)
            return -errno;
        fd = openat(folder_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    }
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) == 0 && S_ISLNK(st.st_mode)) {
        close(fd);
        return -ELOOP;
    }
    return fd;
}

/* Walks to the subPath below SOURCE, a step at a time, and makes the folders that are missing. */
static int make_sub_path(const char *source, const struct mount_spec *mount, bool may_make,
                         struct osb_err *err)
{
    _cleanup_close_ int fd = open(source, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct osb_slice rest = osb_slice_str(mount->sub_path), part;
    int r = fd < 0 ? -errno : 0;
    while (r >= 0 && osb_slice_split(&rest, '/', &part)) {
        _cleanup_free_ char *name = osb_slice_dup(part);
        if (!part.len || !strcmp(name, "."))
            continue;
        r = enter_folder(fd, name, may_make);
        if (r >= 0) {
            close(fd);
            fd = r;
        }
    }
    return r < 0 ? osb_fail(err, r, "subPath %s of volume %s: %s", mount->sub_path, mount->volume,
                            strerror(-r))
                 : 0;
}

static int volume_source(struct osb_arena *arena, const struct node *node,
                         const struct pod_spec *spec, const struct mount_spec *mount,
                         const char **ret, struct osb_err *err)
{
    const struct volume_spec *volume = find_volume(spec, mount->volume);
    const char *source = volume->type == VOLUME_HOST_PATH
                             ? volume->host_path
                             : volumes_folder(arena, node, spec, mount->volume);
    *ret = source;
    if (!mount->sub_path)
        return 0;
    *ret = osb_arena_printf(arena, "%s/%s", source, mount->sub_path);
    return make_sub_path(source, mount, volume->type != VOLUME_SECRET, err);
}

static void add_injected(struct osb_arena *arena, const struct node *node,
                         const struct pod_spec *spec, struct resolved_container *ret)
{
    ret->mounts[ret->mount_count++] = (struct resolved_mount){
        osb_arena_printf(arena, "%s/opensandbox", volumes_pod_folder(arena, node, spec)),
        CONTAINER_VIEW_EXECD_FOLDER, false};
    ret->mounts[ret->mount_count++] =
        (struct resolved_mount){node->options.execd, CONTAINER_VIEW_EXECD_FOLDER "/execd", true};
    ret->mounts[ret->mount_count++] = (struct resolved_mount){
        node->options.bootstrap, CONTAINER_VIEW_EXECD_FOLDER "/bootstrap.sh", true};
}

/* In the order of the list: a value may name variables that stand before it. */
static int resolve_environment(struct osb_arena *arena, const struct node *node,
                               const struct pod_spec *spec, const struct container_spec *container,
                               const char *pod_ip, const struct secret_source *secrets,
                               struct resolved_container *ret, struct osb_err *err)
{
    ret->env = osb_arena_calloc(arena, container->env_count + 1, sizeof(*ret->env));
    for (size_t i = 0; i < container->env_count; i++) {
        const struct env_spec *env = &container->env[i];
        const char *value = NULL;
        int r = resolve_env(arena, node, spec, env, pod_ip, secrets, &value, err);
        if (r < 0)
            return r;
        if (value && env->source == ENV_VALUE)
            value = expand_variables(arena, value, ret->env, ret->env_count);
        if (value)
            ret->env[ret->env_count++] = (struct resolved_env){env->name, value};
    }
    return 0;
}

static int resolve_mounts(struct osb_arena *arena, const struct node *node,
                          const struct pod_spec *spec, const struct container_spec *container,
                          struct resolved_container *ret, struct osb_err *err)
{
    enum { INJECTED_MOUNTS = 3 };
    ret->mounts =
        osb_arena_calloc(arena, container->mount_count + INJECTED_MOUNTS + 1, sizeof(*ret->mounts));
    for (size_t i = 0; i < container->mount_count; i++) {
        const struct mount_spec *mount = &container->mounts[i];
        const char *source = NULL;
        int r = volume_source(arena, node, spec, mount, &source, err);
        if (r < 0)
            return r;
        bool is_secret = find_volume(spec, mount->volume)->type == VOLUME_SECRET;
        ret->mounts[ret->mount_count++] =
            (struct resolved_mount){source, mount->path, mount->is_read_only || is_secret};
    }
    return 0;
}

static const char **expand_list(struct osb_arena *arena, const char *const *list, size_t count,
                                const struct resolved_container *resolved)
{
    const char **ret = osb_arena_calloc(arena, count + 1, sizeof(*ret));
    for (size_t i = 0; i < count; i++)
        ret[i] = expand_variables(arena, list[i], resolved->env, resolved->env_count);
    return ret;
}

int container_view_resolve(struct osb_arena *arena, const struct node *node,
                           const struct pod_spec *spec, size_t index, const char *pod_ip,
                           const struct secret_source *secrets, struct resolved_container *ret,
                           struct osb_err *err)
{
    const struct container_spec *container = &spec->containers[index];
    int r = resolve_environment(arena, node, spec, container, pod_ip, secrets, ret, err);
    if (r >= 0)
        r = resolve_mounts(arena, node, spec, container, ret, err);
    if (r < 0)
        return r;
    ret->command = expand_list(arena, container->command, container->command_count, ret);
    ret->args = expand_list(arena, container->args, container->arg_count, ret);
    if ((int)index == spec->inject)
        add_injected(arena, node, spec, ret);
    return 0;
}
