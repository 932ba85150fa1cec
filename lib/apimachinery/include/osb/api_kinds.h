// SPDX-License-Identifier: Apache-2.0
/* The kinds that operator and embedded API server know: names, scope, paths. */
#ifndef OSB_API_KINDS_H
#define OSB_API_KINDS_H

#include <osb/slice.h>
#include <stdbool.h>
#include <stddef.h>

#define OSB_SANDBOX_GROUP   "sandbox.opensandbox.io"
#define OSB_SANDBOX_VERSION "v1alpha1"

struct osb_api_kind {
    const char *group;   /* "" for core */
    const char *version; /* "v1" */
    const char *kind;    /* "Pod" */
    const char *list_kind;
    const char *plural;
    const char *singular;
    const char *const *short_names; /* NULL-terminated, or NULL */
    bool is_namespaced;
};

extern const struct osb_api_kind osb_kind_pod;
extern const struct osb_api_kind osb_kind_secret;
extern const struct osb_api_kind osb_kind_event; /* core/v1 */
extern const struct osb_api_kind osb_kind_namespace;
extern const struct osb_api_kind osb_kind_node;
extern const struct osb_api_kind osb_kind_lease;
extern const struct osb_api_kind osb_kind_batchsandbox;
extern const struct osb_api_kind osb_kind_pool;
extern const struct osb_api_kind osb_kind_sandboxsnapshot;

/* "v1" or "group/version" into BUFFER; returns BUFFER. */
const char *osb_api_kind_version(const struct osb_api_kind *kind, char buffer[static 128]);
/*
 * The path of a collection or object: NAMESPACE NULL for all or none, NAME NULL for the
 * collection, SUBRESOURCE NULL for none. Owned by the caller.
 */
char *osb_api_path(const struct osb_api_kind *kind, const char *namespace_, const char *name,
                   const char *subresource);

#endif
