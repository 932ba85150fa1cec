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
    return refuse_invalid(c->refusal, &resource->kind, osb_api_name(tree));
}
