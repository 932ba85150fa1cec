// SPDX-License-Identifier: Apache-2.0
#ifndef OSB_API_SELECTOR_PRIVATE_H
#define OSB_API_SELECTOR_PRIVATE_H

#include <osb/api_selector.h>
#include <osb/arena.h>

enum selector_op {
    SELECTOR_IN,
    SELECTOR_NOT_IN, /* also true when the key is absent */
    SELECTOR_EXISTS,
    SELECTOR_ABSENT,
    SELECTOR_GREATER, /* integers */
    SELECTOR_LESS,
};

enum { SELECTOR_MAX_VALUES = 256 };

/* One condition; all of a selector must hold. */
struct selector_requirement {
    const char *key;
    enum selector_op op;
    const char **values;
    int value_count;
};

struct osb_selector {
    struct osb_arena arena;
    struct selector_requirement requirements[OSB_SELECTOR_MAX_REQUIREMENTS];
    int count;
};

/* Makes room for one more; NULL when there are too many (error raised). */
struct selector_requirement *selector_add(struct osb_selector *s, struct osb_slice key,
                                          struct osb_err *err);
int selector_add_value(struct osb_selector *s, struct selector_requirement *requirement,
                       struct osb_slice value, struct osb_err *err);
/* The rules for keys and values of labels. */
int selector_check_label(const struct selector_requirement *requirement, struct osb_err *err);

#endif
