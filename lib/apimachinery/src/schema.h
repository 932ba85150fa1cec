// SPDX-License-Identifier: Apache-2.0
/* What the passes over a structural schema share. */
#ifndef OSB_SCHEMA_PRIVATE_H
#define OSB_SCHEMA_PRIVATE_H

#include <osb/api_schema.h>

/* A walk down a value; PATH is that of the current place ("spec.items[0].name"). */
struct schema_walk {
    struct osb_buf path;
    struct osb_schema_report *report; /* NULL: problems are only counted */
    int problems;
};

/* Each returns what schema_pop() takes to undo it. */
size_t schema_push_key(struct schema_walk *walk, struct osb_slice key);
size_t schema_push_index(struct schema_walk *walk, size_t index);
void schema_pop(struct schema_walk *walk, size_t mark);

/* Adds a problem at the current place, message by format. */
void schema_problem(struct schema_walk *walk, const char *reason, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The schema of member KEY: its property, else additionalProperties when that is a schema. */
const struct osb_json *schema_of_member(const struct osb_json *schema, struct osb_slice key);
bool schema_flag(const struct osb_json *schema, const char *keyword);

/* The keywords of one type; the caller has checked that VALUE is of it. */
void schema_validate_number(struct schema_walk *walk, const struct osb_json *schema,
                            const struct osb_json *value);
void schema_validate_string(struct schema_walk *walk, const struct osb_json *schema,
                            const struct osb_json *value);
/* Duplicates in lists of type set and map. */
void schema_validate_list_type(struct schema_walk *walk, const struct osb_json *schema,
                               const struct osb_json *array);

/* VALUE as messages show it: JSON, cut when long. Owned by the caller. */
char *schema_show(const struct osb_json *value);

#endif
