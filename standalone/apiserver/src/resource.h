// SPDX-License-Identifier: Apache-2.0
/*
 * The resources that are served: what a path names, what it accepts, how it is stored and shown.
 * Core kinds are a table, custom ones come from CRD files. Everything is fixed after start.
 */
#ifndef RESOURCE_H
#define RESOURCE_H

#include <osb/api_kinds.h>
#include <osb/api_table.h>
#include <osb/arena.h>
#include <osb/err.h>
#include <osb/json_tree.h>
#include <osb/slice.h>
#include <stdbool.h>

enum {
    RESOURCE_MAX = 64,             /* served resources */
    RESOURCE_MAX_FIELDS = 16,      /* selectable fields of one */
    CRD_FILE_MAX = 4 * 1024 * 1024 /* bytes of one CRD file */
};

struct admission;

struct resource {
    struct osb_api_kind kind; /* strings live in the registry */
    const char *storage_name; /* "pods", "pools.sandbox.opensandbox.io" */
    int index;                /* place in the registry */
    bool is_custom;
    bool has_status;
    bool has_scale;
    bool has_generation;         /* metadata.generation is kept */
    bool has_grace;              /* deletion waits for whoever runs the object */
    bool is_fixed;               /* made by the server itself: no create, no delete */
    bool is_conditional;         /* an update must name the resourceVersion it is based on */
    const char *scale_spec_path; /* "spec.replicas" */
    const char *scale_status_path;
    const char *scale_selector_path;             /* NULL for none */
    const struct osb_json *schema;               /* structural, of the whole object */
    const char *fields[RESOURCE_MAX_FIELDS + 1]; /* selectable by field, NULL-terminated */
    const struct osb_api_column *columns;
    int column_count;
    const struct admission *admission;
};

struct registry {
    struct osb_arena arena;
    struct resource *items[RESOURCE_MAX];
    int count;
    const struct osb_json *metadata_schema; /* of ObjectMeta */
    struct osb_json *trees;                 /* an array that owns the schemas */
    struct osb_json *crds;                  /* an array of the CRD objects as read */
};

/* Registers the core kinds. */
void registry_init(struct registry *registry);
/* Reads all *.yaml of FOLDER; kinds that are there already are refused. */
int registry_load_crds(struct registry *registry, const char *folder, struct osb_err *err);
/* Registers one CustomResourceDefinition; takes CRD. */
int registry_add_crd(struct registry *registry, struct osb_json *crd, struct osb_err *err);
void registry_done(struct registry *registry);

/* GROUP "" is core. NULL when there is none. */
const struct resource *registry_find(const struct registry *registry, struct osb_slice group,
                                     struct osb_slice version, struct osb_slice plural);
const struct resource *registry_by_storage(const struct registry *registry, const char *name);
/* NULL when that kind is not served. */
const struct resource *registry_by_kind(const struct registry *registry, const char *api_version,
                                        const char *kind);

/* For the registry's own files. */
struct resource *registry_add(struct registry *registry);

#endif
