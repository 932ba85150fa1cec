// SPDX-License-Identifier: Apache-2.0
#include "pod_cgroup.h"

#include <dirent.h>
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <unistd.h>

void pod_cgroup_remove(const char *root, const char *parent, const char *uid)
{
    _cleanup_free_ char *unified = osb_asprintf("%s%s/pod%s", root, parent, uid);
    (void)rmdir(unified);
    DIR *dir = opendir(root);
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        _cleanup_free_ char *path = osb_asprintf("%s/%s%s/pod%s", root, entry->d_name, parent, uid);
        (void)rmdir(path);
    }
    closedir(dir);
}
