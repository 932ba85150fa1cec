// SPDX-License-Identifier: Apache-2.0
/* POST /files/replace (execd contract 9.3): every occurrence of a text, byte for byte. */
#include "execd.h"
#include "json_input.h"
#include "new_file.h"
#include "path.h"
#include "reply.h"

#include <osb/fd.h>
#include <osb/json_writer.h>

enum {
    REPLACE_BODY_MAX = 16 * 1024 * 1024, /* bytes of a request */
    REPLACE_FILE_MAX = 64 * 1024 * 1024, /* bytes of a file, before and after */
};

/* Appends CONTENT to OUT with OLD replaced; the number of replacements. */
static uint64_t replace_all(struct osb_buf *out, struct osb_slice content, struct osb_slice old,
                            struct osb_slice new)
{
    uint64_t count = 0;
    const char *at;

    while (content.len >= old.len && (at = memmem(content.data, content.len, old.data, old.len))) {
        size_t before = (size_t)(at - content.data);
        osb_buf_append_slice(out, osb_slice_first(content, before));
        osb_buf_append_slice(out, new);
        content = osb_slice_from(content, before + old.len);
        count++;
    }
    osb_buf_append_slice(out, content);
    return count;
}

static int write_file(const char *path, struct osb_slice content, struct osb_err *err)
{
    struct permission unchanged = {0};
    struct new_file file;
    int r = new_file_open(&file, path, &unchanged, err);

    if (r == 0)
        r = new_file_write(&file, content, err);
    if (r == 0)
        r = new_file_commit(&file, &unchanged, err);
    new_file_discard(&file);
    return r;
}

static int replace_in_file(const char *path, struct osb_slice old, struct osb_slice new,
                           uint64_t *ret_count, struct osb_err *err)
{
    _cleanup_buf_ struct osb_buf content = {0};
    _cleanup_buf_ struct osb_buf changed = {0};

    int r = osb_read_file(path, REPLACE_FILE_MAX, &content, err);
    if (r < 0)
        return r;
    if (old.len == 0)
        return osb_fail(err, -OSB_E_INVALID, "old must not be empty");
    osb_buf_init(&changed, REPLACE_FILE_MAX);
    *ret_count = replace_all(&changed, osb_buf_slice(&content), old, new);
    if (changed.err < 0)
        return osb_fail(err, changed.err, "%s would become too large", path);
    return *ret_count > 0 ? write_file(path, osb_buf_slice(&changed), err) : 0;
}

static void read_texts(struct osb_json_reader *r, struct osb_arena *arena, struct osb_slice *old,
                       struct osb_slice *new)
{
    struct osb_slice key;

    osb_json_enter_object(r);
    while (json_input_next_key(r, arena, &key)) {
        if (osb_slice_ieq_str(key, "old"))
            osb_json_read_string(r, arena, old);
        else if (osb_slice_ieq_str(key, "new"))
            osb_json_read_string(r, arena, new);
        else
            osb_json_skip(r);
    }
}

/* One member of the request; its count goes to W. */
static int replace_one(struct osb_json_reader *r, struct osb_arena *arena, struct osb_slice name,
                       struct osb_json_writer *w, struct osb_err *err)
{
    struct osb_slice old = OSB_SLICE_NULL;
    struct osb_slice new = OSB_SLICE_NULL;
    uint64_t count = 0;
    char *path = NULL;

    read_texts(r, arena, &old, &new);
    int result = osb_json_reader_check(r, err);
    if (result == 0)
        result = path_resolve(arena, name, &path, err);
    if (result == 0)
        result = replace_in_file(path, old, new, &count, err);
    if (result < 0)
        return result;
    osb_json_key_slice(w, name);
    osb_json_begin_object(w);
    osb_json_kv_i64(w, "replacedCount", (int64_t)count);
    osb_json_end_object(w);
    return 0;
}

static void reply_failure(struct osb_http_exchange *x, int code, const struct osb_err *err)
{
    if (code == -OSB_E_INVALID || code == -OSB_E_SYNTAX || code == -OSB_E_TOO_DEEP)
        reply_bad_request(x, err);
    else
        reply_file_error(x, code, err->message);
}

static void on_replace(struct osb_http_exchange *x, struct osb_slice body, void *arg)
{
    _cleanup_buf_ struct osb_buf counts = {0};
    struct osb_arena *arena = osb_http_arena(x);
    struct osb_slice verbose = OSB_SLICE_NULL;
    struct osb_err err = {0};
    struct osb_json_writer w;
    struct osb_json_reader r;
    struct osb_slice name;

    (void)arg;
    osb_json_writer_init(&w, &counts);
    osb_json_begin_object(&w);
    int result = json_input_object(&r, body, &err);
    while (result == 0 && osb_json_next_key_arena(&r, arena, &name))
        result = replace_one(&r, arena, name, &w, &err);
    if (result == 0)
        result = osb_json_reader_check(&r, &err);
    osb_json_end_object(&w);
    osb_http_query(x, "verbose", &verbose);
    if (result < 0)
        reply_failure(x, result, &err);
    else if (osb_slice_eq_str(verbose, "true"))
        reply_json(x, osb_buf_slice(&counts));
    else
        reply_empty(x);
}

static void post_replace(struct osb_http_exchange *x, const struct osb_http_params *params,
                         void *arg)
{
    (void)params;
    osb_http_collect(x, REPLACE_BODY_MAX, on_replace, arg);
}

void replace_routes(struct execd *execd)
{
    osb_http_route(execd->router, "POST", "/files/replace", post_replace, execd);
}
