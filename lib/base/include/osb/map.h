// SPDX-License-Identifier: Apache-2.0
/*
 * A hash map from byte strings to pointers. Keys are copied, values are borrowed. Iteration is in
 * insertion order; an entry may be removed while it is the current one, but no other one. Hashing
 * is keyed per process, so that a peer cannot choose colliding keys.
 */
#ifndef OSB_MAP_H
#define OSB_MAP_H

#include <osb/slice.h>
#include <stdbool.h>
#include <stddef.h>

struct osb_map_entry;

struct osb_map {
    struct osb_map_entry **buckets;
    size_t bucket_count;
    size_t count;
    struct osb_map_entry *first; /* insertion order */
    struct osb_map_entry *last;
};

/* The value of KEY, or NULL. */
void *osb_map_get(const struct osb_map *map, struct osb_slice key);
bool osb_map_has(const struct osb_map *map, struct osb_slice key);
/* Sets KEY to VALUE and returns the value it replaces, or NULL. */
void *osb_map_set(struct osb_map *map, struct osb_slice key, void *value);
/* Removes KEY and returns its value, or NULL. */
void *osb_map_remove(struct osb_map *map, struct osb_slice key);
/* Frees keys and table; FREE_VALUE may be NULL. The map may be used again. */
void osb_map_done(struct osb_map *map, void (*free_value)(void *value));

/* Iteration: start with *CURSOR = NULL; false at the end. */
bool osb_map_next(const struct osb_map *map, struct osb_map_entry **cursor,
                  struct osb_slice *ret_key, void **ret_value);

#endif
