// SPDX-License-Identifier: Apache-2.0
#include "cgroup_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <mntent.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CGROUP_MAX_DEPTH = 32 };

/* Only folders can be removed in a cgroup file system; their files go with them. */
static int remove_group(const char *path, int depth, struct osb_err *err)
{
    DIR *dir = opendir(path);
    if (!dir)
        return errno == ENOENT ? 0 : osb_fail(err, -errno, "%s: %s", path, strerror(errno));
    int r = 0;
    for (struct dirent *entry; r >= 0 && (entry = readdir(dir));) {
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
            continue;
        if (depth == CGROUP_MAX_DEPTH) {
            r = osb_fail(err, -OSB_E_TOO_DEEP, "%s is too deep", path);
            break;
        }
        _cleanup_free_ char *child = osb_path_join(path, entry->d_name);
        r = remove_group(child, depth + 1, err);
    }
    closedir(dir);
    if (r >= 0 && rmdir(path) < 0 && errno != ENOENT)
        r = osb_fail(err, -errno, "remove cgroup %s: %s", path, strerror(errno));
    return r;
}

int cgroup_tree_remove(const char *cgroup, struct osb_err *err)
{
    FILE *mounts = setmntent("/proc/self/mounts", "re");
    if (!mounts)
        return osb_fail(err, -errno, "/proc/self/mounts: %s", strerror(errno));
    int result = 0;
    for (struct mntent *mount; (mount = getmntent(mounts));) {
        if (strcmp(mount->mnt_type, "cgroup") != 0 && strcmp(mount->mnt_type, "cgroup2") != 0)
            continue;
        _cleanup_free_ char *path = osb_path_join(mount->mnt_dir, cgroup + 1);
        int r = remove_group(path, 0, result < 0 ? NULL : err);
        if (r < 0)
            result = r;
    }
    endmntent(mounts);
    return result;
}
