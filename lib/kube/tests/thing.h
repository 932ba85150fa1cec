// SPDX-License-Identifier: Apache-2.0
/* A small kind for tests: an object with a colour, indexed by it. */
#ifndef OSB_KUBE_TEST_THING_H
#define OSB_KUBE_TEST_THING_H

#include <osb/kube_store.h>

struct thing {
    struct osb_kube_object object;
    char color[16];
};

extern const struct osb_kube_projection thing_projection;

static inline const struct thing *thing_of(const struct osb_kube_object *object)
{
    return (const struct thing *)object;
}

/* The text of a thing; the caller's. */
char *thing_text(const char *namespace_, const char *name, int version, const char *color);

#endif
