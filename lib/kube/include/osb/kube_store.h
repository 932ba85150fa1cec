// SPDX-License-Identifier: Apache-2.0
/*
 * An indexed store of projected objects: each kind brings a projection that decodes an object's
 * text straight into a small struct of its own (no trees are kept), and functions that give index
 * values. The reflector fills it; controllers and the REST facade read it.
 *
 * One sorted array of pointers holds the objects, one more each index value: lookups are binary
 * searches, iteration is in key order, and there is no hash to keep in step. All calls are for the
 * loop thread.
 */
#ifndef OSB_KUBE_STORE_H
#define OSB_KUBE_STORE_H

#include <osb/err.h>
#include <osb/json_reader.h>
#include <osb/slice.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OSB_STORE_MAX_INDEXES = 4 };

/* The head of every projected struct. */
struct osb_kube_object {
    char *namespace_; /* "" when cluster-scoped */
    char *name;
    char *uid;
    uint64_t version; /* resourceVersion as a number when it is one; for "newer than" only */
    char *resource_version;
    uint64_t generation; /* private: of the list that showed it last */
};

struct osb_kube_projection {
    size_t size; /* of the struct, whose first member is struct osb_kube_object */
    /*
     * Decodes one object into a zero-filled struct; metadata's head fields are already set when
     * this is called with RAW, the object's text. 0 or an error: the object is then skipped and
     * counted, never fatal.
     */
    int (*decode)(struct osb_slice raw, struct osb_kube_object *object, struct osb_err *err);
    /* Frees what decode allocated (not the head, not the struct). */
    void (*clear)(struct osb_kube_object *object);
    int index_count;
    /* The values of index I for OBJECT: calls EMIT for each. */
    void (*index)(const struct osb_kube_object *object, int i,
                  void (*emit)(const char *value, void *arg), void *arg);
};

struct osb_kube_store;

enum osb_kube_change { OSB_KUBE_ADDED, OSB_KUBE_MODIFIED, OSB_KUBE_DELETED };

/* OLD is NULL for ADDED, CURRENT is NULL for DELETED. Both are valid during the call only. */
typedef void osb_kube_change_fn(enum osb_kube_change change, const struct osb_kube_object *old,
                                const struct osb_kube_object *current, void *arg);

/* PROJECTION is borrowed and must outlive the store. */
struct osb_kube_store *osb_kube_store_new(const struct osb_kube_projection *projection);
void osb_kube_store_free(struct osb_kube_store *store);
/*
 * Several may listen; called after the store has changed, in the order of subscription. FN must not
 * change the store. Subscribers live as long as the store.
 */
void osb_kube_store_subscribe(struct osb_kube_store *store, osb_kube_change_fn *fn, void *arg);
/* Borrowed until the store next changes; NULL when absent. */
const struct osb_kube_object *osb_kube_store_get(const struct osb_kube_store *store,
                                                 const char *namespace_, const char *name);
size_t osb_kube_store_count(const struct osb_kube_store *store);
/* Iteration in name order within a namespace order: start with NULL. */
const struct osb_kube_object *osb_kube_store_next(const struct osb_kube_store *store,
                                                  const struct osb_kube_object *object);
/* Objects whose index I has VALUE: start with NULL. */
const struct osb_kube_object *osb_kube_store_next_indexed(const struct osb_kube_store *store, int i,
                                                          const char *value,
                                                          const struct osb_kube_object *object);
/*
 * For the reflector and tests. Ignored: a version that is stored already, and an older one, except
 * while a new list is read (mark): what a list shows is the truth, also after a restored backup.
 * An object that its projection refuses is counted and leaves what is stored as it is; the error
 * comes back for the log.
 */
int osb_kube_store_apply(struct osb_kube_store *store, struct osb_slice raw, struct osb_err *err);
void osb_kube_store_remove(struct osb_kube_store *store, const char *namespace_, const char *name);
/* Objects that a projection refused so far. */
uint64_t osb_kube_store_skipped(const struct osb_kube_store *store);
/* Marks all; apply unmarks; sweep removes what is still marked (a new list has ended). */
void osb_kube_store_mark(struct osb_kube_store *store);
void osb_kube_store_sweep(struct osb_kube_store *store);

#endif
