// SPDX-License-Identifier: Apache-2.0
/*
 * A stored object at one revision: its JSON text and the few fields that selectors, owners and
 * deletion ask for, so that lists and watches parse nothing. Immutable and counted, because the
 * cache, the history, lists in progress and watchers hold it; all on the loop thread.
 */
#ifndef OBJECT_H
#define OBJECT_H

#include "resource.h"

#include <osb/api_selector.h>
#include <osb/json_tree.h>
#include <stdint.h>

enum { OBJECT_MAX_TEXT = 3 * 1024 * 1024 /* bytes of one object */ };

struct object_label {
    char *key;
    char *value;
};

struct object {
    int refs;
    const struct resource *resource;
    uint64_t revision;
    struct osb_arena arena;
    char *key;        /* "namespace/name", or "name" */
    char *namespace_; /* "" when cluster-scoped */
    char *name;
    char *uid;
    bool is_deleting; /* has a deletionTimestamp */
    struct osb_slice text;
    struct object_label *labels;
    int label_count;
    char **fields; /* in the order of resource->fields */
    char **owners; /* UIDs of owner references, NULL-terminated */
};

/* Sets resourceVersion in TREE (borrowed) and makes an object of it with one reference. */
struct object *object_new(const struct resource *resource, struct osb_json *tree,
                          uint64_t revision);
struct object *object_ref(struct object *object);
/* NULL is allowed. */
void object_unref(struct object *object);
/* A tree of its own; the caller frees it. */
struct osb_json *object_tree(const struct object *object);
size_t object_size(const struct object *object);

/* What lists, watches and collections of deletions pick. NULL members pick everything. */
struct filter {
    const char *namespace_;
    const char *name;
    const struct osb_selector *labels;
    const struct osb_selector *fields;
};

bool object_matches(const struct object *object, const struct filter *filter);

OSB_DEFINE_CLEANUP(struct object, cleanup_object, object_unref);
#define _cleanup_object_ OSB_CLEANUP(cleanup_object)

#endif
