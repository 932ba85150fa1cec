// SPDX-License-Identifier: Apache-2.0
/* Information, deletion, moves and permissions of files (execd contract 9.3). */
#include "execd.h"
#include "file_info.h"
#include "json_input.h"
#include "parents.h"
#include "path.h"
#include "permission.h"
#include "reply.h"

#include <errno.h>
#include <fcntl.h>
#include <osb/json_writer.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_BODY_MAX = 16 * 1024 * 1024 }; /* bytes of a JSON request */

static void get_info(struct osb_http_exchange *x, const struct osb_http_params *params, void *arg)
{
    _cleanup_buf_ struct osb_buf body = {0};
    struct osb_json_writer w;
    struct osb_slice query;

    (void)params;
    (void)arg;
    osb_json_writer_init(&w, &body);
    osb_json_begin_object(&w);
    for (size_t i = 0; osb_http_query_at(x, "path", i, &query); i++) {
        struct osb_err err = {0};
        struct stat st;
        char *path = NULL;
        int r = path_resolve(osb_http_arena(x), query, &path, &err);
        if (r == 0 && lstat(path, &st) < 0)
            r = osb_fail(&err, -errno, "%s: %s", path, strerror(errno));
        if (r < 0) {
            reply_file_error(x, r, err.message);
            return;
        }
        osb_json_key_slice(&w, query);
        file_info_write(&w, path, &st);
    }
    osb_json_end_object(&w);
    reply_json(x, osb_buf_slice(&body));
}

/* What is missing is as good as deleted; a dangling link goes too. */
static int delete_file(const char *path, struct osb_err *err)
{
    struct stat st;

    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return osb_fail(err, -EISDIR, "%s is a directory", path);
    if (unlink(path) < 0 && errno != ENOENT)
        return osb_fail(err, -errno, "%s: %s", path, strerror(errno));
    return 0;
}

static void delete_files(struct osb_http_exchange *x, const struct osb_http_params *params,
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
            r = delete_file(path, &err);
        if (r < 0) {
            reply_error(x, 500, "RUNTIME_ERROR", "%s", err.message);
            return;
        }
    }
    reply_empty(x);
}

/* rename(2) that does not replace; kernels and file systems without the flag check first. */
static int rename_new(const char *from, const char *to)
{
    struct stat st;

    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -errno;
    if (lstat(to, &st) == 0)
        return -EEXIST;
    return rename(from, to) == 0 ? 0 : -errno;
}

static int move(struct osb_arena *arena, struct osb_slice src, struct osb_slice dest,
                struct osb_err *err)
{
    struct stat st;
    char *from = NULL;
    char *to = NULL;

    int r = path_resolve(arena, src, &from, err);
    if (r == 0)
        r = path_resolve(arena, dest, &to, err);
    if (r < 0)
        return r;
    if (lstat(from, &st) < 0)
        return osb_fail(err, -errno, "%s: %s", from, strerror(errno));
    r = parents_make(to, 0755, NULL, err);
    if (r < 0)
        return osb_fail(err, -OSB_E_INTERNAL, "%s: cannot make its folder", to);
    r = rename_new(from, to);
    return r < 0 ? osb_fail(err, r, "%s to %s: %s", from, to, strerror(-r)) : 0;
}

static int read_and_move(struct osb_json_reader *r, struct osb_arena *arena, struct osb_err *err)
{
    struct osb_slice src = OSB_SLICE_NULL;
    struct osb_slice dest = OSB_SLICE_NULL;
    struct osb_slice key;

    osb_json_enter_object(r);
    while (json_input_next_key(r, arena, &key)) {
        if (osb_slice_ieq_str(key, "src"))
            osb_json_read_string(r, arena, &src);
        else if (osb_slice_ieq_str(key, "dest"))
            osb_json_read_string(r, arena, &dest);
        else
            osb_json_skip(r);
    }
    int result = osb_json_reader_check(r, err);
    return result < 0 ? result : move(arena, src, dest, err);
}

/* A body that cannot be read is 400; what the file system says is 404 or 500. */
static void reply_json_or_file_error(struct osb_http_exchange *x, const struct osb_json_reader *r,
                                     const struct osb_err *err)
{
    if (r->err < 0 && r->err != -OSB_E_NOT_FOUND)
        reply_bad_request(x, err);
    else
        reply_file_error(x, err->code, err->message);
}

static void on_move(struct osb_http_exchange *x, struct osb_slice body, void *arg)
{
    struct osb_json_reader r;
    struct osb_err err = {0};
    int result = 0;

    (void)arg;
    osb_json_reader_init(&r, body);
    if (!osb_json_read_null(&r)) {
        osb_json_enter_array(&r);
        while (result == 0 && osb_json_next_item(&r))
            result = read_and_move(&r, osb_http_arena(x), &err);
    }
    if (result == 0)
        result = osb_json_reader_check(&r, &err);
    if (result < 0)
        reply_json_or_file_error(x, &r, &err);
    else
        reply_empty(x);
}

static void post_move(struct osb_http_exchange *x, const struct osb_http_params *params, void *arg)
{
    (void)params;
    osb_http_collect(x, FILES_BODY_MAX, on_move, arg);
}

static int set_permission(struct osb_arena *arena, struct osb_slice name, struct osb_json_reader *r,
                          struct osb_err *err)
{
    struct permission permission;
    char *path = NULL;
    int result = permission_read(r, arena, &permission, err);

    if (result == 0)
        result = path_resolve(arena, name, &path, err);
    if (result == 0)
        result = permission_apply(&permission, -1, path, err);
    return result;
}

static void on_permissions(struct osb_http_exchange *x, struct osb_slice body, void *arg)
{
    struct osb_arena *arena = osb_http_arena(x);
    struct osb_json_reader r;
    struct osb_err err = {0};
    struct osb_slice name;

    (void)arg;
    int result = json_input_object(&r, body, &err);
    while (result == 0 && osb_json_next_key_arena(&r, arena, &name))
        result = set_permission(arena, name, &r, &err);
    if (result == 0)
        result = osb_json_reader_check(&r, &err);
    if (result < 0)
        reply_json_or_file_error(x, &r, &err);
    else
        reply_empty(x);
}

static void post_permissions(struct osb_http_exchange *x, const struct osb_http_params *params,
                             void *arg)
{
    (void)params;
    osb_http_collect(x, FILES_BODY_MAX, on_permissions, arg);
}

void file_routes(struct execd *execd)
{
    osb_http_route(execd->router, "GET", "/files/info", get_info, execd);
    osb_http_route(execd->router, "DELETE", "/files", delete_files, execd);
    osb_http_route(execd->router, "POST", "/files/mv", post_move, execd);
    osb_http_route(execd->router, "POST", "/files/permissions", post_permissions, execd);
}
