// SPDX-License-Identifier: Apache-2.0
/*
 * The writing verbs as functions of a transaction: no I/O, no clock of their own. Each refuses
 * (negative, nothing changed) or leaves in the outcome what the answer shows.
 */
#ifndef VERBS_H
#define VERBS_H

#include "request.h"
#include "txn.h"

enum {
    WARNINGS_MAX = 16,    /* Warning headers of one answer */
    GENERATED_SUFFIX = 5, /* characters behind generateName */
    GENERATE_TRIES = 8,   /* names tried before 409 */
};

struct verb_context {
    struct txn *txn;
    const struct registry *registry;
    const struct request *request;
    const char *node_name; /* what pods are bound to */
    struct osb_arena *arena;
    struct refusal *refusal;
    const char *warnings[WARNINGS_MAX];
    int warning_count;
};

/* What is answered: an object, or the Status of a deletion that is complete. */
struct outcome {
    struct object *object; /* a reference of the outcome's own */
    bool is_deleted;       /* the object is gone */
};

void outcome_done(struct outcome *outcome);
#define _cleanup_outcome_ __attribute__((cleanup(outcome_done)))

enum patch_type { PATCH_MERGE, PATCH_JSON, PATCH_STRATEGIC };

/* BODY is borrowed and stays as it is. */
int verb_create(struct verb_context *c, const struct osb_json *body, struct outcome *ret);
int verb_update(struct verb_context *c, const struct osb_json *body, struct outcome *ret);
int verb_patch(struct verb_context *c, enum patch_type type, const struct osb_json *patch,
               struct outcome *ret);
int verb_delete(struct verb_context *c, const struct delete_options *options, struct outcome *ret);
/* Deletes what the request's selectors pick; *RET_COUNT of them. */
int verb_delete_collection(struct verb_context *c, const struct delete_options *options,
                           int *ret_count);

/* ---- parts that verbs share ---- */

/* The object the request names; 404 when absent. */
int find_object(struct verb_context *c, struct object **ret);
/*
 * Brings OLD to WANTED (borrowed; changed in place) by the rules of an update of SUB: what may not
 * change is kept, the rest is validated, finalizers that are all gone end a deletion.
 */
int apply_update(struct verb_context *c, struct object *old, const struct osb_json *old_tree,
                 struct osb_json *wanted, struct outcome *ret);
/* Stores TREE as the newest state, or only makes the object in a dry run. */
void store_object(struct verb_context *c, struct osb_json *tree, struct outcome *ret);
void remove_object(struct verb_context *c, struct osb_json *tree, struct outcome *ret);
/* Deletes OBJECT by OPTIONS; for the verb and for the collectors. */
int delete_object(struct verb_context *c, struct object *object,
                  const struct delete_options *options, struct outcome *ret);
void add_warning(struct verb_context *c, const char *text);

/* decode.c: prunes what the schema does not know, and refuses or warns as the request asks. */
int decode_object(struct verb_context *c, struct osb_json *tree);
/* apiVersion, kind, namespace and name of BODY against the request. */
int check_identity(struct verb_context *c, struct osb_json *body);

/* metadata.c: ObjectMeta as the server keeps it. */
void metadata_for_create(struct verb_context *c, struct osb_json *tree);
int generate_name(struct verb_context *c, struct osb_json *metadata);
void metadata_keep(struct osb_json *tree, const struct osb_json *old_tree);
void validate_metadata(struct verb_context *c, const struct osb_json *tree);
void validate_finalizers(struct verb_context *c, const struct osb_json *tree,
                         const struct osb_json *old_tree);
int metadata_write_time(struct osb_json *metadata, const char *key, int64_t realtime_ns);

/* validate.c: schema, defaults and admission of the kind. OLD_TREE NULL: a creation. */
int admit(struct verb_context *c, struct osb_json *tree, const struct osb_json *old_tree);

/* scale.c: autoscaling/v1 Scale of OBJECT_TREE, and back. */
struct osb_json *scale_of(const struct resource *resource, const struct osb_json *object_tree);
int scale_apply(struct verb_context *c, struct osb_json *object_tree, const struct osb_json *scale);

#endif
