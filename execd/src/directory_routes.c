// SPDX-License-Identifier: Apache-2.0
/* Folders and searches (execd contract 9.3). */
#include "execd.h"
#include "glob.h"
#include "json_input.h"
#include "listing.h"
#include "parents.h"
#include "path.h"
#include "permission.h"
#include "reply.h"

#include <errno.h>
#include <osb/fd.h>
#include <string.h>
#include <sys/stat.h>

enum { DIRECTORIES_BODY_MAX = 16 * 1024 * 1024 }; /* bytes of a JSON request */

/* The path parameter, resolved; false when the answer was given. */
static bool take_path(struct osb_http_exchange *x, char **ret)
{
    struct osb_slice query = OSB_SLICE_NULL;
    struct osb_err err = {0};

    if (!osb_http_query(x, "path", &query) || query.len == 0) {
        reply_error(x, 400, "MISSING_QUERY", "the query parameter path is missing");
        return false;
    }
    if (path_resolve(osb_http_arena(x), query, ret, &err) < 0) {
        reply_error(x, 500, "RUNTIME_ERROR", "%s", err.message);
        return false;
    }
    return true;
}

static void get_list(struct osb_http_exchange *x, const struct osb_http_params *params, void *arg)
{
    struct osb_slice text;
    uint64_t depth = 1;
    struct stat st;
    char *path = NULL;

    (void)params;
    (void)arg;
    if (!take_path(x, &path))
        return;
    if (osb_http_query(x, "depth", &text) && text.len > 0 && osb_slice_to_u64(text, &depth) < 0)
        reply_error(x, 400, "INVALID_REQUEST_BODY", "depth must be a number from 0");
    else if (lstat(path, &st) < 0)
        reply_file_error(x, -errno, strerror(errno));
    else if (!S_ISDIR(st.st_mode))
        reply_error(x, 400, "INVALID_REQUEST_BODY", "%s is not a directory", path);
    else
        listing_start(x, path, depth, NULL, NULL);
}

static bool is_match(const char *path, const struct stat *st, const char *pattern)
{
    return !S_ISDIR(st->st_mode) && glob_match(pattern, path_base(path));
}

static void get_search(struct osb_http_exchange *x, const struct osb_http_params *params, void *arg)
{
    struct osb_slice text = OSB_SLICE_NULL;
    struct stat st;
    char *path = NULL;

    (void)params;
    (void)arg;
    if (!take_path(x, &path))
        return;
    if (!osb_http_query(x, "pattern", &text) || text.len == 0)
        text = OSB_SLICE("**");
    if (lstat(path, &st) < 0)
        reply_file_error(x, -errno, strerror(errno));
    else if (!S_ISDIR(st.st_mode))
        reply_error(x, 400, "INVALID_REQUEST_BODY", "%s is not a directory", path);
    else
        listing_start(x, path, UINT64_MAX, is_match, osb_arena_slice_dup(osb_http_arena(x), text));
}

/* Mode and owner are for what was not there before; new parents get the owner. */
static int make_directory(struct osb_arena *arena, struct osb_slice name, struct osb_json_reader *r,
                          struct osb_err *err)
{
    struct permission permission;
    struct stat st;
    char *path = NULL;
    int result = permission_read(r, arena, &permission, err);

    if (result == 0)
        result = path_resolve(arena, name, &path, err);
    if (result < 0)
        return result;
    bool is_new = stat(path, &st) < 0;
    result = folders_make(path, 0777, &permission, err);
    return result == 0 && is_new ? permission_apply(&permission, -1, path, err) : result;
}

static void on_directories(struct osb_http_exchange *x, struct osb_slice body, void *arg)
{
    struct osb_arena *arena = osb_http_arena(x);
    struct osb_json_reader r;
    struct osb_err err = {0};
    struct osb_slice name;

    (void)arg;
    int result = json_input_object(&r, body, &err);
    while (result == 0 && osb_json_next_key_arena(&r, arena, &name))
        result = make_directory(arena, name, &r, &err);
    if (result == 0)
        result = osb_json_reader_check(&r, &err);
    if (result == 0)
        reply_empty(x);
    else if (osb_json_reader_check(&r, NULL) < 0)
        reply_bad_request(x, &err);
    else
        reply_file_error(x, err.code, err.message);
}

static void post_directories(struct osb_http_exchange *x, const struct osb_http_params *params,
                             void *arg)
{
    (void)params;
    osb_http_collect(x, DIRECTORIES_BODY_MAX, on_directories, arg);
}

static void delete_directories(struct osb_http_exchange *x, const struct osb_http_params *params,
                               void *arg)
{
    struct osb_slice query;

    (void)params;
    (void)arg;
    for (size_t i = 0; osb_http_query_at(x, "path", i, &query); i++) {
        struct osb_err err = {0};
        char *path = NULL;
        int r = path_resolve(osb_http_arena(x), query, &path, &err);
        if (r == 0)
            r = osb_remove_tree(path, &err);
        if (r < 0) {
            reply_error(x, 500, "RUNTIME_ERROR", "%s", err.message);
            return;
        }
    }
    reply_empty(x);
}

void directory_routes(struct execd *execd)
{
    osb_http_route(execd->router, "GET", "/directories/list", get_list, execd);
    osb_http_route(execd->router, "POST", "/directories", post_directories, execd);
    osb_http_route(execd->router, "DELETE", "/directories", delete_directories, execd);
    osb_http_route(execd->router, "GET", "/files/search", get_search, execd);
}
