// SPDX-License-Identifier: Apache-2.0
#include "path.h"

#include "environment.h"

#include <errno.h>
#include <osb/cleanup.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "/a//b/./c/../d" is "/a/b/d", by text alone, as clients compare paths. */
static char *clean(struct osb_arena *arena, const char *path)
{
    char *out = osb_arena_alloc(arena, strlen(path) + 2);
    struct osb_slice rest = osb_slice_str(path);
    struct osb_slice part;
    size_t len = 0;

    while (osb_slice_split(&rest, '/', &part)) {
        if (part.len == 0 || osb_slice_eq_str(part, "."))
            continue;
        if (osb_slice_eq_str(part, "..")) {
            while (len > 0 && out[--len] != '/')
                ;
            continue;
        }
        out[len++] = '/';
        memcpy(out + len, part.data, part.len);
        len += part.len;
    }
    if (len == 0)
        out[len++] = '/';
    out[len] = '\0';
    return out;
}

static int make_absolute(struct osb_arena *arena, struct osb_buf *text, char **ret,
                         struct osb_err *err)
{
    const char *path = osb_buf_cstr(text);

    if (*path == '/') {
        *ret = clean(arena, path);
        return 0;
    }
    _cleanup_free_ char *cwd = getcwd(NULL, 0);
    if (!cwd)
        return osb_fail(err, -errno, "current directory: %s", strerror(errno));
    *ret = clean(arena, osb_arena_printf(arena, "%s/%s", cwd, path));
    return 0;
}

int path_resolve(struct osb_arena *arena, struct osb_slice path, char **ret, struct osb_err *err)
{
    _cleanup_buf_ struct osb_buf text = {0};

    if (path.len == 0)
        return osb_fail(err, -OSB_E_INVALID, "path is empty");
    int r = expand_path(&text, path, environment_lookup_own, NULL, err);
    return r < 0 ? r : make_absolute(arena, &text, ret, err);
}

int path_directory(struct osb_arena *arena, struct osb_slice path, expand_lookup_fn *lookup,
                   void *arg, char **ret, struct osb_err *err)
{
    _cleanup_buf_ struct osb_buf text = {0};
    struct stat st;

    int r = expand_path(&text, path, lookup, arg, err);
    if (r == 0)
        r = make_absolute(arena, &text, ret, err);
    if (r < 0)
        return r;
    if (stat(*ret, &st) < 0)
        return osb_fail(err, -OSB_E_INVALID, "cwd: %s", strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return osb_fail(err, -OSB_E_INVALID, "cwd is not a directory");
    return 0;
}

const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}
