// SPDX-License-Identifier: Apache-2.0
/*
 * POST /files/upload (execd contract 9.5): parts `metadata` and `file`, paired by their order among
 * their name. Content goes straight to disk as it comes; memory holds one read and the metadata
 * that waits for its file. The first error stops the upload; files already complete stay.
 */
#include "execd.h"
#include "json_input.h"
#include "new_file.h"
#include "path.h"
#include "reply.h"

#include <osb/alloc.h>
#include <osb/list.h>
#include <osb/multipart.h>
#include <stdlib.h>

enum {
    UPLOAD_METADATA_MAX = 64 * 1024,       /* bytes of one metadata part */
    UPLOAD_PENDING_MAX = 1024 * 1024,      /* bytes of metadata that wait for their files */
    UPLOAD_DISCARD_MAX = 64 * 1024 * 1024, /* read after an error, before the answer is forced */
};

/* Metadata that waits for its file. */
struct pending {
    struct osb_list link;
    char *text;
    size_t len;
};

enum part { PART_OTHER, PART_METADATA, PART_FILE };

struct upload {
    struct osb_http_exchange *x;
    struct osb_multipart *multipart;
    enum part part;
    struct osb_buf metadata; /* of the present part */
    struct osb_list pending;
    size_t pending_bytes;
    struct permission permission; /* of the present file */
    struct new_file file;
    size_t metadata_count;
    size_t file_count;
    uint64_t discarded;
    struct osb_err err;
    const char *code; /* of the answer when err is raised */
    int status;
};

static int fail(struct upload *upload, int status, const char *code)
{
    upload->status = status;
    upload->code = code;
    return upload->err.code;
}

static int fail_metadata(struct upload *upload, const char *message)
{
    osb_fail(&upload->err, -OSB_E_INVALID, "%s", message);
    return fail(upload, 400, "INVALID_FILE_METADATA");
}

static void pending_free(struct upload *upload, struct pending *pending)
{
    upload->pending_bytes -= pending->len;
    osb_list_remove(&pending->link);
    free(pending->text);
    free(pending);
}

static int keep_metadata(struct upload *upload)
{
    struct pending *pending = osb_new(struct pending);

    upload->metadata_count++;
    pending->len = upload->metadata.len;
    pending->text = osb_buf_take(&upload->metadata);
    upload->pending_bytes += pending->len;
    osb_list_append(&upload->pending, &pending->link);
    if (upload->pending_bytes > UPLOAD_PENDING_MAX)
        return fail_metadata(upload, "too much metadata ahead of its files");
    return 0;
}

/* The path, in ARENA, and the permission of one metadata part. */
static int read_metadata(struct upload *upload, struct osb_slice text, struct osb_arena *arena,
                         struct osb_slice *ret_path)
{
    struct osb_json_reader r;
    struct osb_slice key;

    upload->permission = (struct permission){0};
    int result = json_input_object(&r, text, &upload->err);
    while (result == 0 && json_input_next_key(&r, arena, &key)) {
        if (osb_slice_ieq_str(key, "path"))
            osb_json_read_string(&r, arena, ret_path);
        else if (!permission_read_member(&r, key, arena, &upload->permission, &upload->err))
            osb_json_skip(&r);
    }
    if (result == 0 && upload->err.code == 0)
        osb_json_reader_check(&r, &upload->err);
    if (upload->err.code == 0 && ret_path->len == 0)
        return fail_metadata(upload, "metadata names no path");
    return upload->err.code == 0 ? 0 : fail(upload, 400, "INVALID_FILE_METADATA");
}

static int open_file(struct upload *upload)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    struct pending *pending = osb_list_first(&upload->pending, struct pending, link);
    struct osb_slice name = OSB_SLICE_NULL;
    char *path = NULL;

    upload->file_count++;
    if (!pending)
        return fail_metadata(upload, "a file came before its metadata");
    /* NAME may point into the text. */
    struct osb_slice text = osb_slice(
        osb_arena_slice_dup(&arena, osb_slice(pending->text, pending->len)), pending->len);
    pending_free(upload, pending);
    int r = read_metadata(upload, text, &arena, &name);
    if (r < 0)
        return r;
    r = path_resolve(&arena, name, &path, &upload->err);
    if (r == 0)
        r = new_file_open(&upload->file, path, &upload->permission, &upload->err);
    return r < 0 ? fail(upload, 500, "RUNTIME_ERROR") : 0;
}

static int on_part(struct osb_slice name, bool has_filename, struct osb_slice filename,
                   struct osb_slice content_type, void *arg)
{
    struct upload *upload = arg;

    (void)has_filename;
    (void)filename;
    (void)content_type;
    upload->part = PART_OTHER;
    if (osb_slice_eq_str(name, "metadata")) {
        upload->part = PART_METADATA;
        osb_buf_init(&upload->metadata, UPLOAD_METADATA_MAX);
    } else if (osb_slice_eq_str(name, "file")) {
        upload->part = PART_FILE;
        return open_file(upload);
    }
    return 0;
}

static int on_data(struct osb_slice data, void *arg)
{
    struct upload *upload = arg;

    if (upload->part == PART_METADATA) {
        osb_buf_append_slice(&upload->metadata, data);
        if (upload->metadata.err < 0)
            return fail_metadata(upload, "metadata is too large");
    } else if (upload->part == PART_FILE) {
        if (new_file_write(&upload->file, data, &upload->err) < 0)
            return fail(upload, 500, "RUNTIME_ERROR");
    }
    return 0;
}

static int on_part_end(void *arg)
{
    struct upload *upload = arg;

    if (upload->part == PART_METADATA)
        return keep_metadata(upload);
    if (upload->part == PART_FILE &&
        new_file_commit(&upload->file, &upload->permission, &upload->err) < 0)
        return fail(upload, 500, "RUNTIME_ERROR");
    return 0;
}

static const struct osb_multipart_callbacks callbacks = {on_part, on_data, on_part_end};

static void upload_free(struct upload *upload)
{
    struct pending *pending;

    new_file_discard(&upload->file);
    while ((pending = osb_list_first(&upload->pending, struct pending, link)))
        pending_free(upload, pending);
    osb_buf_done(&upload->metadata);
    osb_multipart_free(upload->multipart);
    free(upload);
}

static void on_close(struct osb_http_exchange *x, bool is_complete, void *arg)
{
    (void)x;
    (void)is_complete;
    upload_free(arg);
}

/* What is only known at the end of a body that was well-formed so far. */
static void check_counts(struct upload *upload)
{
    struct osb_err *err = &upload->err;

    if (upload->file_count == 0) {
        osb_fail(err, -OSB_E_INVALID, "the upload has no part named file");
        fail(upload, 400,
             upload->metadata_count ? "INVALID_FILE_CONTENT" : "INVALID_FILE_METADATA");
    } else if (upload->metadata_count != upload->file_count) {
        osb_fail(err, -OSB_E_INVALID, "%zu metadata parts for %zu files", upload->metadata_count,
                 upload->file_count);
        fail(upload, 400, "INVALID_FILE");
    }
}

static void answer(struct upload *upload)
{
    if (upload->err.code == 0)
        reply_empty(upload->x);
    else
        reply_error(upload->x, upload->status, upload->code, "%s", upload->err.message);
}

static void feed(struct upload *upload, struct osb_slice data)
{
    struct osb_err err = {0};

    if (osb_multipart_feed(upload->multipart, data, &err) >= 0)
        return;
    if (upload->err.code == 0) {
        upload->err = err;
        fail(upload, 400, "INVALID_FILE");
    }
    new_file_discard(&upload->file);
}

static void on_body(struct osb_http_exchange *x, struct osb_slice data, bool is_end, void *arg)
{
    struct upload *upload = arg;

    if (osb_http_has_started(x))
        return;
    if (is_end) {
        if (upload->err.code == 0 && osb_multipart_finish(upload->multipart, &upload->err) < 0) {
            new_file_discard(&upload->file);
            fail(upload, 400, "INVALID_FILE");
        }
        if (upload->err.code == 0)
            check_counts(upload);
        answer(upload);
        return;
    }
    if (upload->err.code == 0) {
        feed(upload, data);
        return;
    }
    /* Clients send all before they read: an answer now might never be seen. */
    upload->discarded += data.len;
    if (upload->discarded > UPLOAD_DISCARD_MAX)
        answer(upload);
}

static void post_upload(struct osb_http_exchange *x, const struct osb_http_params *params,
                        void *arg)
{
    struct osb_slice type = OSB_SLICE_NULL;
    struct osb_err err = {0};
    struct upload *upload = osb_new(struct upload);

    (void)params;
    (void)arg;
    upload->x = x;
    upload->file.fd = -1;
    osb_list_init(&upload->pending);
    osb_http_header(x, "Content-Type", &type);
    if (osb_multipart_new(type, &callbacks, upload, &upload->multipart, &err) < 0) {
        reply_error(x, 400, "INVALID_FILE", "%s", err.message);
        upload_free(upload);
        return;
    }
    osb_http_on_close(x, on_close, upload);
    osb_http_on_body(x, on_body, upload);
}

void upload_routes(struct execd *execd)
{
    osb_http_route(execd->router, "POST", "/files/upload", post_upload, execd);
}
