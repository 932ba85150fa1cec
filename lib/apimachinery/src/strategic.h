// SPDX-License-Identifier: Apache-2.0
#ifndef OSB_STRATEGIC_PRIVATE_H
#define OSB_STRATEGIC_PRIVATE_H

#include <osb/api_strategic.h>

struct strategic_type;

/* A field that is more than a map that merges or a list that is replaced. */
struct strategic_field {
    const char *name; /* NULL ends the table */
    enum {
        STRATEGIC_STRUCT, /* an object of TYPE */
        STRATEGIC_KEYED,  /* a list of objects of TYPE that merges by KEY */
        STRATEGIC_SET,    /* a list of scalars that merges as a set */
    } shape;
    const char *key;
    const struct strategic_type *type; /* NULL: nothing special below */
};

struct strategic_type {
    const struct strategic_field *fields;
};

/* NULL for kinds without a table. */
const struct strategic_type *strategic_type_of_kind(const char *kind);
/* TYPE may be NULL; NULL when there is nothing special about the field. */
const struct strategic_field *strategic_field_of(const struct strategic_type *type,
                                                 struct osb_slice name);

/* Merges PATCH, an object, into TARGET, an object of TYPE (may be NULL). */
int strategic_merge_object(struct osb_json *target, const struct osb_json *patch,
                           const struct strategic_type *type, struct osb_err *err);
/* Merges PATCH into TARGET, both lists of FIELD (keyed or set). ORDER: NULL, or the list of
 * $setElementOrder. */
int strategic_merge_list(struct osb_json *target, const struct osb_json *patch,
                         const struct strategic_field *field, const struct osb_json *order,
                         struct osb_err *err);
/* A copy of a patch value without directives and null members; NULL when it deletes itself. */
struct osb_json *strategic_clean_copy(const struct osb_json *patch);

/* $patch of OBJECT. */
enum strategic_directive {
    STRATEGIC_NONE,
    STRATEGIC_MERGE,
    STRATEGIC_REPLACE,
    STRATEGIC_DELETE,
    STRATEGIC_UNKNOWN,
};
enum strategic_directive strategic_directive_of(const struct osb_json *object);

#endif
