// SPDX-License-Identifier: Apache-2.0
#include "admission.h"
#include "verbs.h"

#include <osb/api_meta.h>
#include <osb/api_schema.h>

static void validate_schema(struct verb_context *c, const struct osb_json *tree)
{
    struct osb_schema_report report = {0};
    osb_schema_validate(c->request->resource->schema, tree, &report);
    for (int i = 0; i < report.count; i++)
        field_error(c->refusal, report.problems[i].reason, report.problems[i].path, "%s",
                    report.problems[i].message);
    osb_schema_report_done(&report);
}

/* A patch can make more of an object than a body could hold. */
static int check_size(struct verb_context *c, const struct osb_json *tree)
{
    _cleanup_buf_ struct osb_buf text = {0};
    osb_buf_init(&text, OBJECT_MAX_TEXT);
    osb_json_print(tree, &text);
    if (text.base)
        explicit_bzero(text.base, text.cap); /* may be a Secret */
    if (!text.err)
        return 0;
    return refuse(c->refusal, 413, "RequestEntityTooLarge",
                  "the object would be larger than %d bytes", OBJECT_MAX_TEXT);
}

int admit(struct verb_context *c, struct osb_json *tree, const struct osb_json *old_tree)
{
    const struct resource *resource = c->request->resource;
    const struct admission_context context = {
        .node_name = c->node_name, .now_ns = c->txn->now_ns, .refusal = c->refusal};
    if (resource->is_custom)
        osb_schema_default(resource->schema, tree);
    if (resource->admission->prepare)
        resource->admission->prepare(tree, old_tree, &context);
    validate_metadata(c, tree);
    if (old_tree)
        validate_finalizers(c, tree, old_tree);
    if (resource->is_custom)
        validate_schema(c, tree);
    if (resource->admission->validate)
        resource->admission->validate(tree, old_tree, &context);
    int r = refuse_invalid(c->refusal, &resource->kind, osb_api_name(tree));
    return r < 0 ? r : check_size(c, tree);
}
