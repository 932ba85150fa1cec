// SPDX-License-Identifier: Apache-2.0
/* JSON pointers (RFC 6901), walked one token at a time. */
#ifndef OSB_JSON_POINTER_H
#define OSB_JSON_POINTER_H

#include <osb/arena.h>
#include <osb/err.h>
#include <osb/json_tree.h>

/* The place a pointer names: its parent container and the last token, unescaped. */
struct json_place {
    struct osb_json *parent; /* NULL: the whole document */
    struct osb_slice token;
    int depth; /* levels above the place */
};

/* -OSB_E_INVALID for a malformed pointer, -OSB_E_NOT_FOUND when the parent does not exist. */
int json_pointer_resolve(struct osb_json *root, struct osb_slice pointer, struct osb_arena *arena,
                         struct json_place *ret, struct osb_err *err);
/* The value at PLACE, or NULL. */
struct osb_json *json_place_get(struct osb_json *root, const struct json_place *place);
/* An array index as RFC 6901 writes it: no sign, no leading zero. False for anything else. */
bool json_pointer_index(struct osb_slice token, size_t *ret);

#endif
