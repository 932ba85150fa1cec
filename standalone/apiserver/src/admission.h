// SPDX-License-Identifier: Apache-2.0
/*
 * What a kind adds to the common verbs: defaults and computed fields before, rules after the schema
 * was checked. All hooks may be NULL.
 */
#ifndef ADMISSION_H
#define ADMISSION_H

#include "refusal.h"

#include <osb/json_tree.h>
#include <stdint.h>

struct admission_context {
    const char *node_name;
    int64_t now_ns;
    struct refusal *refusal; /* violations by field_error() */
};

struct admission {
    /* Before validation; OLD is NULL for a creation. */
    void (*prepare)(struct osb_json *object, const struct osb_json *old,
                    const struct admission_context *context);
    /* Adds violations. */
    void (*validate)(const struct osb_json *object, const struct osb_json *old,
                     const struct admission_context *context);
};

extern const struct admission admission_plain; /* custom kinds, and what needs nothing */
extern const struct admission admission_pod;
extern const struct admission admission_secret;
extern const struct admission admission_event;
extern const struct admission admission_namespace;

#endif
