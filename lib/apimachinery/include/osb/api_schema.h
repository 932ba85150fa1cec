// SPDX-License-Identifier: Apache-2.0
/*
 * Structural schemas (OpenAPI v3 as in CRDs): defaulting, pruning with a list of unknown fields,
 * validation with paths and causes. Core kinds use the same schema form, written by hand for the
 * part that is served.
 *
 * Keywords: type, nullable, enum, minimum and maximum (exclusive too), multipleOf, minLength,
 * maxLength, pattern (POSIX extended syntax), format (date-time, int32, int64), required,
 * properties, additionalProperties, minProperties, maxProperties, items, minItems, maxItems, allOf,
 * anyOf, oneOf, not, default, and of x-kubernetes-…: int-or-string, preserve-unknown-fields,
 * embedded-resource, list-type (set, map) with list-map-keys. Others are ignored.
 */
#ifndef OSB_API_SCHEMA_H
#define OSB_API_SCHEMA_H

#include <osb/buf.h>
#include <osb/err.h>
#include <osb/json_tree.h>
#include <stdbool.h>

enum { OSB_SCHEMA_MAX_PROBLEMS = 32 };

/*
 * A problem found: PATH "spec.replicas", REASON FieldValueInvalid and so on, MESSAGE the text of a
 * Status cause, without the path: "Invalid value: -1: spec.replicas in body should be …".
 */
struct osb_schema_problem {
    char *path;
    const char *reason;
    char *message;
};

struct osb_schema_report {
    struct osb_schema_problem problems[OSB_SCHEMA_MAX_PROBLEMS];
    int count;
    bool is_truncated; /* there were more */
};

void osb_schema_report_done(struct osb_schema_report *report);

/*
 * Fills defaults in place. SCHEMA is an OpenAPI v3 schema tree, borrowed. A member that is null
 * where the schema does not allow it counts as absent: it gets the default, or goes.
 */
void osb_schema_default(const struct osb_json *schema, struct osb_json *value);
/*
 * Removes fields the schema does not know (x-kubernetes-preserve-unknown-fields respected;
 * apiVersion, kind and metadata of the root kept). Each goes into REPORT when it is not NULL, with
 * the message 'unknown field "spec.foo"'.
 */
void osb_schema_prune(const struct osb_json *schema, struct osb_json *value,
                      struct osb_schema_report *report);
/* Adds violations to REPORT; true when there was none. */
bool osb_schema_validate(const struct osb_json *schema, const struct osb_json *value,
                         struct osb_schema_report *report);

#endif
