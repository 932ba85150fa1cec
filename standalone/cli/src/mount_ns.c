// SPDX-License-Identifier: Apache-2.0
#include "mount_ns.h"

#include <fcntl.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* A compiled-in path and the private folder that stands in for it. */
struct private_path {
    const char *path;
    const char *folder; /* below the state folder */
    const char *mark;   /* in the state folder: we made the mount point */
};

static const struct private_path private_paths[] = {
    {"/run/containerd", "containerd/run", "containerd/made-run-containerd"},
    {"/var/lib/cni", "cni/cache", "cni/made-var-lib-cni"},
};

#define PRIVATE_PATHS (sizeof(private_paths) / sizeof(private_paths[0]))

static int make_point(const struct instance *instance, const struct private_path *private,
                      struct osb_err *err)
{
    struct stat st;
    if (stat(private->path, &st) == 0)
        return 0;
    /* The mark first: a crash in between must not leave a folder that nobody owns. */
    _cleanup_free_ char *mark = instance_state_path(instance, private->mark);
    int r = osb_write_file(mark, OSB_SLICE_NULL, 0600, err);
    if (r < 0)
        return r;
    return osb_mkdir_p(private->path, 0711, err);
}

static int bind_private(const struct instance *instance, const struct private_path *private,
                        struct osb_err *err)
{
    _cleanup_free_ char *folder = instance_state_path(instance, private->folder);
    int r = osb_mkdir_p(folder, 0711, err);
    if (r < 0)
        return r;
    if (mount(folder, private->path, NULL, MS_BIND, NULL) < 0)
        return osb_fail(err, -errno, "bind %s over %s: %s", folder, private->path, strerror(errno));
    return 0;
}

int mount_ns_enter_new(const struct instance *instance, struct osb_err *err)
{
    for (size_t i = 0; i < PRIVATE_PATHS; i++) {
        int r = make_point(instance, &private_paths[i], err);
        if (r < 0)
            return r;
    }
    if (unshare(CLONE_NEWNS) < 0)
        return osb_fail(err, -errno, "new mount namespace: %s", strerror(errno));
    if (mount(NULL, "/", NULL, MS_SLAVE | MS_REC, NULL) < 0)
        return osb_fail(err, -errno, "make / a slave mount: %s", strerror(errno));
    for (size_t i = 0; i < PRIVATE_PATHS; i++) {
        int r = bind_private(instance, &private_paths[i], err);
        if (r < 0)
            return r;
    }
    return 0;
}

int mount_ns_enter(pid_t pid, struct osb_err *err)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return osb_fail(err, -errno, "%s: %s", path, strerror(errno));
    if (setns(fd, CLONE_NEWNS) < 0)
        return osb_fail(err, -errno, "enter %s: %s", path, strerror(errno));
    return 0;
}

void mount_ns_remove_points(const struct instance *instance)
{
    for (size_t i = 0; i < PRIVATE_PATHS; i++) {
        _cleanup_free_ char *mark = instance_state_path(instance, private_paths[i].mark);
        if (access(mark, F_OK) < 0)
            continue;
        /* Not empty: something else on the machine uses it by now, so it stays. */
        (void)rmdir(private_paths[i].path);
        (void)unlink(mark);
    }
}
