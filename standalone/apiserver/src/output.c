// SPDX-License-Identifier: Apache-2.0
#include "output.h"

#include <osb/api_table.h>
#include <osb/json_writer.h>
#include <stdio.h>

/* ---- choosing ---- */

/* One media type of an Accept header with the parameters that matter. */
struct media {
    struct osb_slice type;
    struct osb_slice as;      /* "Table" */
    struct osb_slice version; /* "v1" */
    struct osb_slice group;
};

static struct media parse_media(struct osb_slice text)
{
    struct media m = {0};
    struct osb_slice piece;
    osb_slice_split(&text, ';', &piece);
    m.type = osb_slice_trim(piece);
    while (osb_slice_split(&text, ';', &piece)) {
        piece = osb_slice_trim(piece);
        if (osb_slice_starts(piece, OSB_SLICE("as=")))
            m.as = osb_slice_from(piece, 3);
        else if (osb_slice_starts(piece, OSB_SLICE("v=")))
            m.version = osb_slice_from(piece, 2);
        else if (osb_slice_starts(piece, OSB_SLICE("g=")))
            m.group = osb_slice_from(piece, 2);
    }
    return m;
}

static bool take_media(const struct media *m, struct output *ret)
{
    bool is_json = osb_slice_ieq_str(m->type, "application/json") ||
                   osb_slice_eq_str(m->type, "*/*") || osb_slice_eq_str(m->type, "application/*");
    if (!is_json)
        return false;
    if (!m->as.len) {
        ret->form = OUTPUT_OBJECT;
        return true;
    }
    if (!osb_slice_eq_str(m->group, "meta.k8s.io") || !osb_slice_eq_str(m->version, "v1"))
        return false;
    if (osb_slice_eq_str(m->as, "Table"))
        ret->form = OUTPUT_TABLE;
    else if (osb_slice_eq_str(m->as, "PartialObjectMetadata") ||
             osb_slice_eq_str(m->as, "PartialObjectMetadataList"))
        ret->form = OUTPUT_METADATA;
    else
        return false;
    return true;
}

static int choose_include(struct osb_arena *arena, const struct request *request,
                          struct output *ret, struct refusal *refusal)
{
    const char *include = query_get(request->raw_query, "includeObject", arena);
    ret->include = INCLUDE_METADATA;
    if (!include || !include[0] || !strcmp(include, "Metadata"))
        return 0;
    if (!strcmp(include, "None"))
        ret->include = INCLUDE_NONE;
    else if (!strcmp(include, "Object"))
        ret->include = INCLUDE_OBJECT;
    else
        return refuse_bad_request(refusal, "unrecognized includeObject value");
    return 0;
}

int output_negotiate(struct osb_slice accept, struct osb_arena *arena, struct request *request,
                     struct output *ret, struct refusal *refusal)
{
    *ret = (struct output){0};
    struct osb_slice piece;
    bool is_found = !osb_slice_trim(accept).len;
    while (!is_found && osb_slice_split(&accept, ',', &piece)) {
        struct media media = parse_media(piece);
        is_found = take_media(&media, ret);
    }
    if (!is_found)
        return refuse(refusal, 406, "NotAcceptable",
                      "only the following media types are accepted: application/json");
    return choose_include(arena, request, ret, refusal);
}

/* ---- writing ---- */

static void write_head(struct osb_json_writer *w, const char *kind, const char *version)
{
    osb_json_kv_string(w, "kind", kind);
    osb_json_kv_string(w, "apiVersion", version);
}

/* metadata of OBJECT as PartialObjectMetadata, a value. */
static void write_metadata_only(struct osb_json_writer *w, const struct osb_json *tree)
{
    _cleanup_buf_ struct osb_buf text = {0};
    osb_json_print(osb_json_get(tree, "metadata"), &text);
    osb_json_begin_object(w);
    write_head(w, "PartialObjectMetadata", "meta.k8s.io/v1");
    osb_json_key(w, "metadata");
    osb_json_raw(w, osb_buf_slice(&text));
    osb_json_end_object(w);
}

static void write_row(struct osb_json_writer *w, const struct output *output,
                      const struct object *object, int64_t now_ns)
{
    _cleanup_json_ struct osb_json *tree = object_tree(object);
    osb_json_begin_object(w);
    osb_json_key(w, "cells");
    osb_api_table_cells(object->resource->columns, object->resource->column_count, tree, now_ns, w);
    osb_json_key(w, "object");
    if (output->include == INCLUDE_OBJECT)
        osb_json_raw(w, object->text);
    else if (output->include == INCLUDE_METADATA)
        write_metadata_only(w, tree);
    else
        osb_json_null(w);
    osb_json_end_object(w);
}

static void write_list_meta(struct osb_json_writer *w, const struct list_meta *meta)
{
    char version[24];
    snprintf(version, sizeof(version), "%llu", (unsigned long long)meta->revision);
    osb_json_key(w, "metadata");
    osb_json_begin_object(w);
    osb_json_kv_string(w, "resourceVersion", version);
    osb_json_kv_string_opt(w, "continue", meta->continue_);
    if (meta->continue_ && meta->remaining >= 0)
        osb_json_kv_i64(w, "remainingItemCount", meta->remaining);
    osb_json_end_object(w);
}

static void write_columns(struct osb_json_writer *w, const struct resource *resource,
                          bool has_columns)
{
    if (has_columns) {
        osb_api_table_columns(resource->columns, resource->column_count, w);
        return;
    }
    osb_json_key(w, "columnDefinitions");
    osb_json_begin_array(w);
    osb_json_end_array(w);
}

static void write_table(const struct output *output, const struct resource *resource,
                        struct object *const *items, size_t count, const struct list_meta *meta,
                        int64_t now_ns, struct osb_buf *out)
{
    struct osb_json_writer w;
    osb_json_writer_init(&w, out);
    osb_json_begin_object(&w);
    write_head(&w, "Table", "meta.k8s.io/v1");
    write_list_meta(&w, meta);
    write_columns(&w, resource, !output->has_rows_before);
    osb_json_key(&w, "rows");
    osb_json_begin_array(&w);
    for (size_t i = 0; i < count; i++)
        write_row(&w, output, items[i], now_ns);
    osb_json_end_array(&w);
    osb_json_end_object(&w);
    osb_json_writer_finish(&w, NULL);
}

void output_object(struct output *output, const struct object *object, int64_t now_ns,
                   struct osb_buf *out)
{
    if (output->form == OUTPUT_OBJECT) {
        osb_buf_append_slice(out, object->text);
    } else if (output->form == OUTPUT_TABLE) {
        struct object *one = (struct object *)(uintptr_t)object;
        const struct list_meta meta = {.revision = object->revision, .remaining = -1};
        write_table(output, object->resource, &one, 1, &meta, now_ns, out);
        output->has_rows_before = true;
    } else {
        struct osb_json_writer w;
        _cleanup_json_ struct osb_json *tree = object_tree(object);
        osb_json_writer_init(&w, out);
        write_metadata_only(&w, tree);
        osb_json_writer_finish(&w, NULL);
    }
}

static void write_items(struct osb_json_writer *w, const struct output *output,
                        struct object *const *items, size_t count)
{
    osb_json_key(w, "items");
    osb_json_begin_array(w);
    for (size_t i = 0; i < count; i++) {
        if (output->form == OUTPUT_METADATA) {
            _cleanup_json_ struct osb_json *tree = object_tree(items[i]);
            write_metadata_only(w, tree);
        } else {
            osb_json_raw(w, items[i]->text);
        }
    }
    osb_json_end_array(w);
}

void output_list(const struct output *output, const struct resource *resource,
                 struct object *const *items, size_t count, const struct list_meta *meta,
                 int64_t now_ns, struct osb_buf *out)
{
    if (output->form == OUTPUT_TABLE) {
        write_table(output, resource, items, count, meta, now_ns, out);
        return;
    }
    char version[128];
    struct osb_json_writer w;
    osb_json_writer_init(&w, out);
    osb_json_begin_object(&w);
    if (output->form == OUTPUT_METADATA)
        write_head(&w, "PartialObjectMetadataList", "meta.k8s.io/v1");
    else
        write_head(&w, resource->kind.list_kind, osb_api_kind_version(&resource->kind, version));
    write_list_meta(&w, meta);
    write_items(&w, output, items, count);
    osb_json_end_object(&w);
    osb_json_writer_finish(&w, NULL);
}

static void write_bookmark_meta(struct osb_json_writer *w, const char *version, bool is_initial_end)
{
    osb_json_key(w, "metadata");
    osb_json_begin_object(w);
    osb_json_kv_string(w, "resourceVersion", version);
    osb_json_key(w, "creationTimestamp");
    osb_json_null(w);
    if (is_initial_end) {
        osb_json_key(w, "annotations");
        osb_json_begin_object(w);
        osb_json_kv_string(w, "k8s.io/initial-events-end", "true");
        osb_json_end_object(w);
    }
    osb_json_end_object(w);
}

/* In a table the bookmark is a row whose object carries it; clients look there. */
static void write_bookmark_table(const struct output *output, const struct resource *resource,
                                 uint64_t revision, const char *version, bool is_initial_end,
                                 struct osb_json_writer *w)
{
    const struct list_meta meta = {.revision = revision, .remaining = -1};
    osb_json_begin_object(w);
    write_head(w, "Table", "meta.k8s.io/v1");
    write_list_meta(w, &meta);
    write_columns(w, resource, !output->has_rows_before);
    osb_json_key(w, "rows");
    osb_json_begin_array(w);
    osb_json_begin_object(w);
    osb_json_key(w, "cells");
    osb_json_begin_array(w);
    for (int i = 0; i < resource->column_count; i++)
        osb_json_string(w, "");
    osb_json_end_array(w);
    osb_json_key(w, "object");
    osb_json_begin_object(w);
    write_head(w, "PartialObjectMetadata", "meta.k8s.io/v1");
    write_bookmark_meta(w, version, is_initial_end);
    osb_json_end_object(w);
    osb_json_end_object(w);
    osb_json_end_array(w);
    osb_json_end_object(w);
}

void output_bookmark(const struct output *output, const struct resource *resource,
                     uint64_t revision, bool is_initial_end, struct osb_buf *out)
{
    char version[24], group_version[128];
    snprintf(version, sizeof(version), "%llu", (unsigned long long)revision);
    struct osb_json_writer w;
    osb_json_writer_init(&w, out);
    if (output->form == OUTPUT_TABLE) {
        write_bookmark_table(output, resource, revision, version, is_initial_end, &w);
    } else {
        osb_json_begin_object(&w);
        if (output->form == OUTPUT_METADATA)
            write_head(&w, "PartialObjectMetadata", "meta.k8s.io/v1");
        else
            write_head(&w, resource->kind.kind,
                       osb_api_kind_version(&resource->kind, group_version));
        write_bookmark_meta(&w, version, is_initial_end);
        osb_json_end_object(&w);
    }
    osb_json_writer_finish(&w, NULL);
}
