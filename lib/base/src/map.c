// SPDX-License-Identifier: Apache-2.0
#include <osb/map.h>

#include "siphash.h"

#include <osb/alloc.h>
#include <osb/uuid.h>
#include <pthread.h>
#include <stdlib.h>

enum { MAP_BUCKETS_MIN = 8 }; /* a power of two, as every later count */

struct osb_map_entry {
    struct osb_map_entry *chain; /* next in the bucket */
    struct osb_map_entry *prev;  /* insertion order */
    struct osb_map_entry *next;
    uint64_t hash;
    void *value;
    size_t key_len;
    char key[];
};

/* What a cursor points to behind the last entry; its content is never read. */
static struct osb_map_entry end_of_map;

static uint64_t hash_key[2];
static pthread_once_t hash_key_once = PTHREAD_ONCE_INIT;

static void make_hash_key(void)
{
    osb_random_bytes(hash_key, sizeof(hash_key));
}

static uint64_t hash_of(struct osb_slice key)
{
    pthread_once(&hash_key_once, make_hash_key);
    return siphash13(hash_key, key);
}

/* The link that points to KEY's entry, or to the NULL at the end of its chain. */
static struct osb_map_entry **find_link(const struct osb_map *map, struct osb_slice key,
                                        uint64_t hash)
{
    struct osb_map_entry **link = &map->buckets[hash & (map->bucket_count - 1)];
    while (*link) {
        const struct osb_map_entry *entry = *link;
        if (entry->hash == hash && osb_slice_eq(osb_slice(entry->key, entry->key_len), key))
            break;
        link = &(*link)->chain;
    }
    return link;
}

static struct osb_map_entry *find(const struct osb_map *map, struct osb_slice key)
{
    return map->count ? *find_link(map, key, hash_of(key)) : NULL;
}

void *osb_map_get(const struct osb_map *map, struct osb_slice key)
{
    struct osb_map_entry *entry = find(map, key);
    return entry ? entry->value : NULL;
}

bool osb_map_has(const struct osb_map *map, struct osb_slice key)
{
    return find(map, key) != NULL;
}

static void rehash(struct osb_map *map, size_t bucket_count)
{
    free(map->buckets);
    map->buckets = osb_calloc(bucket_count, sizeof(struct osb_map_entry *));
    map->bucket_count = bucket_count;
    for (struct osb_map_entry *entry = map->first; entry; entry = entry->next) {
        struct osb_map_entry **bucket = &map->buckets[entry->hash & (bucket_count - 1)];
        entry->chain = *bucket;
        *bucket = entry;
    }
}

static void append(struct osb_map *map, struct osb_slice key, uint64_t hash, void *value)
{
    struct osb_map_entry *entry = osb_calloc(1, sizeof(*entry) + key.len);
    entry->hash = hash;
    entry->value = value;
    entry->key_len = key.len;
    if (key.len)
        memcpy(entry->key, key.data, key.len);

    struct osb_map_entry **bucket = &map->buckets[hash & (map->bucket_count - 1)];
    entry->chain = *bucket;
    *bucket = entry;
    entry->prev = map->last;
    *(map->last ? &map->last->next : &map->first) = entry;
    map->last = entry;
    map->count++;
}

void *osb_map_set(struct osb_map *map, struct osb_slice key, void *value)
{
    uint64_t hash = hash_of(key);
    struct osb_map_entry *entry = map->count ? *find_link(map, key, hash) : NULL;
    if (entry) {
        void *old = entry->value;
        entry->value = value;
        return old;
    }
    if (map->bucket_count == 0)
        rehash(map, MAP_BUCKETS_MIN);
    else if (map->count + 1 > map->bucket_count / 4 * 3)
        rehash(map, map->bucket_count * 2);
    append(map, key, hash, value);
    return NULL;
}

void *osb_map_remove(struct osb_map *map, struct osb_slice key)
{
    if (!map->count)
        return NULL;
    struct osb_map_entry **link = find_link(map, key, hash_of(key));
    struct osb_map_entry *entry = *link;
    if (!entry)
        return NULL;
    *link = entry->chain;
    *(entry->prev ? &entry->prev->next : &map->first) = entry->next;
    *(entry->next ? &entry->next->prev : &map->last) = entry->prev;
    map->count--;
    void *value = entry->value;
    free(entry);
    return value;
}

void osb_map_done(struct osb_map *map, void (*free_value)(void *value))
{
    for (struct osb_map_entry *entry = map->first, *next; entry; entry = next) {
        next = entry->next;
        if (free_value)
            free_value(entry->value);
        free(entry);
    }
    free(map->buckets);
    *map = (struct osb_map){0};
}

/* The cursor is one entry ahead of the caller, who may free the entry that is current. */
bool osb_map_next(const struct osb_map *map, struct osb_map_entry **cursor,
                  struct osb_slice *ret_key, void **ret_value)
{
    struct osb_map_entry *entry = *cursor ? *cursor : map->first;
    if (!entry || entry == &end_of_map)
        return false;
    *cursor = entry->next ? entry->next : &end_of_map;
    if (ret_key)
        *ret_key = osb_slice(entry->key, entry->key_len);
    if (ret_value)
        *ret_value = entry->value;
    return true;
}
