// SPDX-License-Identifier: Apache-2.0
/*
 * The shape of core/v1 and coordination types as a compact table, turned into structural schemas
 * (for pruning and type checks) and into OpenAPI components (for kubectl explain and apply).
 *
 * A field is NAME:TYPE and marks. TYPE is string, bool, int32, int64, quantity, intstr, time,
 * microtime, bytes (base64), any, the name of another type, "[]" of one, or "{}" (map) of one.
 * Marks: "@key" a list merged by that key in strategic patches (a bare "@": a set), "^" retainKeys,
 * "!" always there.
 */
#ifndef CORE_TYPES_H
#define CORE_TYPES_H

#include <osb/json_tree.h>

struct core_type {
    const char *name;
    const char *fields;
};

/* Ends with a NULL name. */
extern const struct core_type core_types[];

/*
 * The structural schema of TYPE with all references expanded; owned by the caller. Nothing is
 * "required" in it: what a core kind must have is checked by its own admission code.
 */
struct osb_json *core_schema(const char *type);
/* Adds TYPE and all it refers to as OpenAPI components named PREFIX + type into SCHEMAS. */
void core_components(const char *type, const char *prefix, struct osb_json *schemas);

#endif
