// SPDX-License-Identifier: Apache-2.0
#include "parents.h"

#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <string.h>
#include <sys/stat.h>

static int make_one(const char *path, mode_t mode, const struct permission *permission,
                    struct osb_err *err)
{
    struct stat st;

    if (mkdir(path, mode) == 0) {
        struct permission owner = permission ? *permission : (struct permission){0};
        owner.mode = 0;
        return permission_apply(&owner, -1, path, err);
    }
    int error = errno;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return 0;
    return osb_fail(err, error == EEXIST ? -ENOTDIR : -error, "%s: %s", path,
                    strerror(error == EEXIST ? ENOTDIR : error));
}

int folders_make(const char *path, mode_t mode, const struct permission *permission,
                 struct osb_err *err)
{
    _cleanup_free_ char *copy = osb_strdup(path);
    int r = 0;

    for (char *p = copy + 1; r == 0 && *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        r = make_one(copy, mode, permission, err);
        *p = '/';
    }
    return r < 0 ? r : make_one(copy, mode, permission, err);
}

int parents_make(const char *path, mode_t mode, const struct permission *permission,
                 struct osb_err *err)
{
    const char *slash = strrchr(path, '/');

    if (!slash || slash == path)
        return 0;
    _cleanup_free_ char *folder = osb_strndup(path, (size_t)(slash - path));
    return folders_make(folder, mode, permission, err);
}
