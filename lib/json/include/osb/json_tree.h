// SPDX-License-Identifier: Apache-2.0
/*
 * Small JSON trees behind a facade over json-c: request bodies, single objects, patches. Never for
 * lists of cluster objects (twenty times the memory of their text). Parsing is strict (RFC 8259,
 * UTF-8, depth OSB_JSON_MAX_DEPTH, no duplicate keys, nothing behind the value); integers keep
 * 64 bits and any other number is a double, also an integer beyond 64 bits (as Kubernetes reads
 * it); object keys keep their order. A key with U+0000 is refused. Memory exhaustion aborts: bound
 * the text first.
 *
 * Ownership: a tree is owned by its root. `osb_json_set` and `osb_json_append` take the child.
 * `osb_json_get` borrows. Free a root with osb_json_free().
 */
#ifndef OSB_JSON_TREE_H
#define OSB_JSON_TREE_H

#include <osb/buf.h>
#include <osb/cleanup.h>
#include <osb/err.h>
#include <osb/json_reader.h>
#include <osb/slice.h>
#include <stdbool.h>
#include <stdint.h>

struct osb_json; /* a value; NULL never stands for JSON null */

int osb_json_parse(struct osb_slice text, struct osb_json **ret, struct osb_err *err);
/* Appends compact text. */
void osb_json_print(const struct osb_json *value, struct osb_buf *out);
void osb_json_free(struct osb_json *value);
struct osb_json *osb_json_copy(const struct osb_json *value);
/* Deep equality; 1 and 1.0 differ, key order does not count. */
bool osb_json_equal(const struct osb_json *a, const struct osb_json *b);

enum osb_json_type osb_json_type(const struct osb_json *value); /* NULL gives OSB_JSON_NONE */

struct osb_json *osb_json_new_null(void);
struct osb_json *osb_json_new_bool(bool value);
struct osb_json *osb_json_new_i64(int64_t value);
struct osb_json *osb_json_new_double(double value);
struct osb_json *osb_json_new_string(struct osb_slice value);
struct osb_json *osb_json_new_str(const char *value);
struct osb_json *osb_json_new_array(void);
struct osb_json *osb_json_new_object(void);

/* The member KEY of an object; NULL when absent or when OBJECT is none (or NULL). */
struct osb_json *osb_json_get(const struct osb_json *object, const char *key);
struct osb_json *osb_json_get_slice(const struct osb_json *object, struct osb_slice key);
/* Follows "a.b.c" through objects. */
struct osb_json *osb_json_get_path(const struct osb_json *object, const char *dotted_path);
/* Sets or replaces; takes VALUE. */
void osb_json_set(struct osb_json *object, const char *key, struct osb_json *value);
void osb_json_set_slice(struct osb_json *object, struct osb_slice key, struct osb_json *value);
/* True when KEY was there. */
bool osb_json_del(struct osb_json *object, struct osb_slice key);
/* The object KEY, made empty when absent or of another type. */
struct osb_json *osb_json_ensure_object(struct osb_json *object, const char *key);
size_t osb_json_count(const struct osb_json *array_or_object); /* 0 for other types and NULL */

/* Object iteration: start with *CURSOR = NULL; do not change the object meanwhile. */
bool osb_json_next_member(const struct osb_json *object, void **cursor, struct osb_slice *ret_key,
                          struct osb_json **ret_value);

struct osb_json *osb_json_at(const struct osb_json *array, size_t index); /* NULL outside */
void osb_json_append(struct osb_json *array, struct osb_json *value);     /* takes VALUE */
void osb_json_insert(struct osb_json *array, size_t index, struct osb_json *value);
void osb_json_replace_at(struct osb_json *array, size_t index, struct osb_json *value);
void osb_json_remove_at(struct osb_json *array, size_t index);
/* Puts the item at ORDER[i] to place i; ORDER names each index of the array once. */
void osb_json_permute(struct osb_json *array, const size_t *order);

/* True for a number that is a 64-bit integer; false for a double and any other type. */
bool osb_json_is_i64(const struct osb_json *value);
/* Scalars with a default for absent, null or another type. */
bool osb_json_bool_or(const struct osb_json *value, bool fallback);
int64_t osb_json_i64_or(const struct osb_json *value, int64_t fallback);
double osb_json_double_or(const struct osb_json *value, double fallback);
/* Borrowed; OSB_SLICE_NULL for anything but a string. */
struct osb_slice osb_json_str(const struct osb_json *value);
/* NUL-terminated, borrowed; NULL for anything but a string. */
const char *osb_json_cstr(const struct osb_json *value);

OSB_DEFINE_CLEANUP(struct osb_json, osb_cleanup_json, osb_json_free);
#define _cleanup_json_ OSB_CLEANUP(osb_cleanup_json)

#endif
