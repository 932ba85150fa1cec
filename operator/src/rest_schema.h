// SPDX-License-Identifier: Apache-2.0
/* The shape of a create body: types, what must be there, what excludes what. Free of I/O. */
#ifndef OPERATOR_REST_SCHEMA_H
#define OPERATOR_REST_SCHEMA_H

#include <osb/json_tree.h>

#include "rest_errors.h"

enum {
    REST_MIN_TIMEOUT_S = 60,
    REST_MAX_ENTRYPOINT = 128 * 1024, /* bytes of all words: the kernel's limit of one */
};

/* The member KEY; NULL when it is absent or null, which is the same in every request body. */
const struct osb_json *rest_field(const struct osb_json *object, const char *key);
/* The same as text; NULL also for "" and blanks. */
const char *rest_text_field(const struct osb_json *object, const char *key);

/* Gathers what is wrong with BODY, an object. */
void rest_schema_check(const struct osb_json *body, struct rest_problems *problems);

#endif
