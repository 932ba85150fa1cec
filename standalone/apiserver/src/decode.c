// SPDX-License-Identifier: Apache-2.0
/* From a client's tree to one that has only known fields of the right types. */
#include "verbs.h"

#include <osb/api_meta.h>
#include <osb/api_schema.h>

static int check_member(struct verb_context *c, const char *body, const char *wanted,
                        const char *what, const char *member)
{
    if (!body)
        return refuse_bad_request(c->refusal, "Object '%s' is missing", member);
    if (strcmp(body, wanted) != 0)
        return refuse_bad_request(c->refusal,
                                  "the %s in the data (%s) does not match the expected %s (%s)",
                                  what, body, what, wanted);
    return 0;
}

int check_identity(struct verb_context *c, struct osb_json *body)
{
    const struct request *q = c->request;
    if (osb_json_type(body) != OSB_JSON_OBJECT)
        return refuse_bad_request(c->refusal, "the body of the request must be an object");
    char version[128];
    int r = check_member(c, osb_api_kind(body), q->resource->kind.kind, "kind", "Kind");
    if (r >= 0)
        r = check_member(c, osb_api_version(body),
                         osb_api_kind_version(&q->resource->kind, version), "API version",
                         "apiVersion");
    if (r < 0)
        return r;
    const struct osb_json *metadata = osb_json_get(body, "metadata");
    if (metadata && osb_json_type(metadata) != OSB_JSON_OBJECT)
        return refuse_bad_request(c->refusal, "metadata must be an object");
    const char *ns = osb_api_namespace(body), *name = osb_api_name(body);
    if (ns && ns[0] && q->resource->kind.is_namespaced && strcmp(ns, q->namespace_) != 0)
        return refuse_bad_request(c->refusal, "the namespace of the provided object does not "
                                              "match the namespace sent on the request");
    if (q->name && name && strcmp(name, q->name) != 0)
        return refuse_bad_request(c->refusal,
                                  "the name of the object (%s) does not match the name on the URL "
                                  "(%s)",
                                  name, q->name);
    return 0;
}

/* Typed decoders of core kinds read null as absent. */
static void drop_nulls(struct osb_json *value)
{
    if (osb_json_type(value) == OSB_JSON_ARRAY) {
        for (size_t i = 0; i < osb_json_count(value); i++)
            drop_nulls(osb_json_at(value, i));
        return;
    }
    bool is_again = osb_json_type(value) == OSB_JSON_OBJECT;
    while (is_again) { /* a member cannot be removed while they are walked */
        void *cursor = NULL;
        struct osb_slice key;
        struct osb_json *member;
        is_again = false;
        while (!is_again && osb_json_next_member(value, &cursor, &key, &member)) {
            is_again = osb_json_type(member) == OSB_JSON_NULL;
            if (!is_again)
                drop_nulls(member);
        }
        if (is_again) {
            _cleanup_free_ char *name = osb_slice_dup(key);
            osb_json_del(value, osb_slice_str(name));
        }
    }
}

static int refuse_decoding(struct verb_context *c, const char *why)
{
    const struct osb_api_kind *kind = &c->request->resource->kind;
    return refuse_bad_request(c->refusal, "%s in version \"%s\" cannot be handled as a %s: %s",
                              kind->kind, kind->version, kind->kind, why);
}

/* Unknown fields: an error with Strict, a warning each with Warn. */
static int judge_unknown(struct verb_context *c, const struct osb_schema_report *report,
                         const char *prefix, struct osb_buf *list)
{
    for (int i = 0; i < report->count; i++) {
        char *text =
            osb_arena_printf(c->arena, "unknown field \"%s%s\"", prefix, report->problems[i].path);
        if (c->request->validation == VALIDATION_WARN)
            add_warning(c, text);
        else if (c->request->validation == VALIDATION_STRICT)
            osb_buf_appendf(list, "%s%s", list->len ? ", " : "", text);
    }
    return 0;
}

static int prune(struct verb_context *c, struct osb_json *tree)
{
    _cleanup_buf_ struct osb_buf unknown = {0};
    struct osb_schema_report report = {0};
    osb_schema_prune(c->request->resource->schema, tree, &report);
    judge_unknown(c, &report, "", &unknown);
    osb_schema_report_done(&report);
    report = (struct osb_schema_report){0};
    struct osb_json *metadata = osb_json_get(tree, "metadata");
    osb_json_del(metadata, OSB_SLICE("managedFields"));
    osb_schema_prune(c->registry->metadata_schema, metadata, &report);
    judge_unknown(c, &report, "metadata.", &unknown);
    osb_schema_report_done(&report);
    if (!unknown.len)
        return 0;
    char *why = osb_arena_printf(c->arena, "strict decoding error: %s", osb_buf_cstr(&unknown));
    return refuse_decoding(c, why);
}

static int check_types(struct verb_context *c, const struct osb_json *schema,
                       const struct osb_json *value, const char *prefix)
{
    struct osb_schema_report report = {0};
    int r = 0;
    if (!osb_schema_validate(schema, value, &report)) {
        char *why = osb_arena_printf(c->arena, "%s%s: %s", prefix, report.problems[0].path,
                                     report.problems[0].message);
        r = refuse_decoding(c, why);
    }
    osb_schema_report_done(&report);
    return r;
}

int decode_object(struct verb_context *c, struct osb_json *tree)
{
    struct osb_json *metadata = osb_json_ensure_object(tree, "metadata");
    const struct resource *resource = c->request->resource;
    drop_nulls(resource->is_custom ? metadata : tree);
    int r = prune(c, tree);
    if (r >= 0)
        r = check_types(c, c->registry->metadata_schema, metadata, "metadata.");
    /* Custom kinds are validated as a whole later, with all violations in one answer. */
    if (r >= 0 && !resource->is_custom)
        r = check_types(c, resource->schema, tree, "");
    return r;
}
