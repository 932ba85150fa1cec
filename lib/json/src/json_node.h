// SPDX-License-Identifier: Apache-2.0
/*
 * What the files of the tree share. json-c stands NULL for JSON null; the facade stands one static
 * object for it, so that NULL can mean "absent". The conversion happens here and nowhere else.
 */
#ifndef OSB_JSON_NODE_H
#define OSB_JSON_NODE_H

#include <json.h>
#include <osb/json_tree.h>

/* The one JSON null of the facade; never freed, never handed to json-c. */
extern char json_node_null;

static inline struct json_object *json_node_unwrap(const struct osb_json *value)
{
    return (const void *)value == &json_node_null ? NULL : (struct json_object *)(void *)value;
}

static inline struct osb_json *json_node_wrap(struct json_object *node)
{
    return node ? (struct osb_json *)node : (struct osb_json *)(void *)&json_node_null;
}

static inline bool json_node_is_object(const struct osb_json *value)
{
    return osb_json_type(value) == OSB_JSON_OBJECT;
}

/* As osb_json_equal(), but 1 and 1.0 are equal (the "test" of RFC 6902). */
bool json_node_equal_numerically(const struct osb_json *a, const struct osb_json *b);
/* Levels of nesting: 0 for a scalar, 1 for an empty or flat container. */
int json_node_depth(const struct osb_json *value);

#endif
