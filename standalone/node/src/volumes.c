// SPDX-License-Identifier: Apache-2.0
#include "volumes.h"

#include <errno.h>
#include <fcntl.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

char *volumes_pod_folder(struct osb_arena *arena, const struct node *node,
                         const struct pod_spec *spec)
{
    return osb_arena_printf(arena, "%s/pods/%s", node->options.root, spec->uid);
}

char *volumes_folder(struct osb_arena *arena, const struct node *node, const struct pod_spec *spec,
                     const char *volume)
{
    return osb_arena_printf(arena, "%s/volumes/%s", volumes_pod_folder(arena, node, spec), volume);
}

/* MODE exactly, whatever the umask. */
static int make_folder(const char *path, mode_t mode, struct osb_err *err)
{
    int r = osb_mkdir_p(path, 0755, err);
    if (r < 0)
        return r;
    if (chmod(path, mode) < 0)
        return osb_fail(err, -errno, "mode of %s: %s", path, strerror(errno));
    return 0;
}

static bool is_mounted(const char *path)
{
    struct statx st;
    return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, &st) == 0 &&
           (st.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

static int mount_tmpfs(const char *path, const char *mode, int64_t size, struct osb_err *err)
{
    char options[96];
    if (is_mounted(path))
        return 0;
    if (size)
        snprintf(options, sizeof(options), "mode=%s,size=%lld", mode, (long long)size);
    else
        snprintf(options, sizeof(options), "mode=%s", mode);
    if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
        return osb_fail(err, -errno, "tmpfs on %s: %s", path, strerror(errno));
    return 0;
}

/* ---- the three kinds of volumes ---- */

static int prepare_empty(const struct pod_spec *spec, const struct volume_spec *volume,
                         const char *path, struct osb_err *err)
{
    int r = make_folder(path, 0777, err);
    if (r >= 0 && volume->is_memory)
        r = mount_tmpfs(path, "0777", volume->size_limit, err);
    if (r >= 0 && spec->has_fs_group &&
        (chown(path, (uid_t)-1, (gid_t)spec->fs_group) < 0 || chmod(path, 02777) < 0))
        r = osb_fail(err, -errno, "group of %s: %s", path, strerror(errno));
    return r;
}

static int check_host_type(const struct volume_spec *volume, const struct stat *st,
                           struct osb_err *err)
{
    static const struct {
        const char *type;
        mode_t format;
    } types[] = {
        {"Directory", S_IFDIR},    {"DirectoryOrCreate", S_IFDIR}, {"File", S_IFREG},
        {"FileOrCreate", S_IFREG}, {"Socket", S_IFSOCK},           {"CharDevice", S_IFCHR},
        {"BlockDevice", S_IFBLK},
    };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (!strcmp(volume->host_type, types[i].type) && (st->st_mode & S_IFMT) != types[i].format)
            return osb_fail(err, -OSB_E_INVALID, "volume %s: %s is no %s", volume->name,
                            volume->host_path, volume->host_type);
    }
    return 0;
}

static int prepare_host_path(const struct volume_spec *volume, struct osb_err *err)
{
    const char *type = volume->host_type;
    struct stat st;
    if (!type)
        return 0; /* no checks: the runtime makes a missing folder */
    if (!strcmp(type, "DirectoryOrCreate"))
        return osb_mkdir_p(volume->host_path, 0755, err);
    if (!strcmp(type, "FileOrCreate")) {
        _cleanup_close_ int fd = open(volume->host_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        return fd < 0 ? osb_fail(err, -errno, "volume %s: %s: %s", volume->name, volume->host_path,
                                 strerror(errno))
                      : 0;
    }
    if (stat(volume->host_path, &st) < 0)
        return osb_fail(err, -errno, "volume %s: %s: %s", volume->name, volume->host_path,
                        strerror(errno));
    return check_host_type(volume, &st, err);
}

struct secret_files {
    const char *folder;
    const struct volume_spec *volume;
    struct osb_err *err;
    int r;
};

static void write_secret_file(struct secret_files *files, const char *name, struct osb_slice value,
                              int mode)
{
    if (files->r < 0)
        return;
    if (name[0] == '/' || strstr(name, "..")) {
        files->r = osb_fail(files->err, -OSB_E_INVALID, "volume %s: path %s leaves the volume",
                            files->volume->name, name);
        return;
    }
    _cleanup_free_ char *path = osb_path_join(files->folder, name);
    char *slash = strrchr(path, '/');
    *slash = '\0';
    files->r = osb_mkdir_p(path, 0755, files->err);
    *slash = '/';
    if (files->r >= 0)
        files->r = osb_write_file(path, value, (mode_t)mode, files->err);
}

static void write_each(const char *key, struct osb_slice value, void *arg)
{
    struct secret_files *files = arg;
    write_secret_file(files, key, value, files->volume->mode);
}

static int write_items(struct secret_files *files, const struct secret_source *secrets)
{
    const struct osb_json *items = files->volume->items;
    for (size_t i = 0; files->r >= 0 && i < osb_json_count(items); i++) {
        const struct osb_json *item = osb_json_at(items, i);
        const char *key = osb_json_cstr(osb_json_get(item, "key"));
        const char *path = osb_json_cstr(osb_json_get(item, "path"));
        struct osb_slice value;
        if (!key || !path)
            return osb_fail(files->err, -OSB_E_INVALID, "volume %s: an item needs key and path",
                            files->volume->name);
        if (secrets->get(files->volume->secret, key, &value, secrets->arg))
            write_secret_file(
                files, path, value,
                (int)osb_json_i64_or(osb_json_get(item, "mode"), files->volume->mode));
        else if (!files->volume->is_optional)
            return osb_fail(files->err, -OSB_E_NOT_FOUND, "secret \"%s\" has no key \"%s\"",
                            files->volume->secret, key);
    }
    return files->r;
}

static int prepare_secret(const struct volume_spec *volume, const char *path,
                          const struct secret_source *secrets, struct osb_err *err)
{
    int r = make_folder(path, 0755, err);
    if (r >= 0)
        r = mount_tmpfs(path, "0755", 0, err);
    if (r < 0)
        return r;
    struct secret_files files = {.folder = path, .volume = volume, .err = err};
    if (volume->items)
        return write_items(&files, secrets);
    if (!secrets->each(volume->secret, write_each, &files, secrets->arg) && !volume->is_optional)
        return osb_fail(err, -OSB_E_NOT_FOUND, "secret \"%s\" not found", volume->secret);
    return files.r;
}

int volumes_prepare(const struct node *node, const struct pod_spec *spec,
                    const struct secret_source *secrets, struct osb_err *err)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    int r = make_folder(volumes_pod_folder(&arena, node, spec), 0755, err);
    for (size_t i = 0; r >= 0 && i < spec->volume_count; i++) {
        const struct volume_spec *volume = &spec->volumes[i];
        const char *path = volumes_folder(&arena, node, spec, volume->name);
        switch (volume->type) {
        case VOLUME_EMPTY_DIR:
            r = prepare_empty(spec, volume, path, err);
            break;
        case VOLUME_HOST_PATH:
            r = prepare_host_path(volume, err);
            break;
        case VOLUME_SECRET:
            r = prepare_secret(volume, path, secrets, err);
            break;
        }
    }
    /* Sticky and open to all: whatever user the image has may add its own files beside ours. */
    if (r >= 0 && spec->inject >= 0)
        r = make_folder(
            osb_arena_printf(&arena, "%s/opensandbox", volumes_pod_folder(&arena, node, spec)),
            01777, err);
    for (size_t i = 0; r >= 0 && i < spec->container_count; i++)
        r = osb_mkdir_p(osb_arena_printf(&arena, "%s/%s", cri_build_log_folder(&arena, node, spec),
                                         spec->containers[i].name),
                        0755, err);
    return r;
}

int volumes_remove(const struct node *node, const struct pod_spec *spec, struct osb_err *err)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    for (size_t i = 0; i < spec->volume_count; i++) {
        const char *path = volumes_folder(&arena, node, spec, spec->volumes[i].name);
        if (spec->volumes[i].type != VOLUME_HOST_PATH && is_mounted(path) &&
            umount2(path, MNT_DETACH) < 0)
            return osb_fail(err, -errno, "unmount %s: %s", path, strerror(errno));
    }
    int r = osb_remove_tree(volumes_pod_folder(&arena, node, spec), err);
    if (r >= 0)
        r = osb_remove_tree(cri_build_log_folder(&arena, node, spec), err);
    return r;
}
