// SPDX-License-Identifier: Apache-2.0
/* Labels and annotations of a projected object: a few strings in the order of the object. */
#ifndef OPERATOR_PAIRS_H
#define OPERATOR_PAIRS_H

#include <osb/json_reader.h>

struct pair {
    char *key;
    char *value;
};

struct pairs {
    struct pair *items;
    size_t count;
    size_t cap;
};

/* Reads an object of strings; values of other types are passed over. Null reads as empty. */
void pairs_read(struct osb_json_reader *r, struct pairs *pairs);
void pairs_clear(struct pairs *pairs);
/* The value of KEY, borrowed; NULL when absent. */
const char *pairs_get(const struct pairs *pairs, const char *key);

#endif
