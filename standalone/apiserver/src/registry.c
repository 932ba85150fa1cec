// SPDX-License-Identifier: Apache-2.0
#include "admission.h"
#include "columns.h"
#include "core_types.h"
#include "resource.h"

struct resource *registry_add(struct registry *registry)
{
    osb_assert(registry->count < RESOURCE_MAX);
    struct resource *r = osb_arena_new(&registry->arena, struct resource);
    r->index = registry->count;
    registry->items[registry->count++] = r;
    return r;
}

/* A core kind: the table below says what differs. */
struct core_row {
    const struct osb_api_kind *kind;
    const struct columns *columns;
    const struct admission *admission;
    const char *const *fields; /* beside metadata.name and metadata.namespace */
    bool has_status, has_generation, has_grace, is_fixed, is_conditional;
};

static const char *const pod_fields[] = {"spec.nodeName",
                                         "spec.restartPolicy",
                                         "spec.schedulerName",
                                         "spec.serviceAccountName",
                                         "spec.hostNetwork",
                                         "status.phase",
                                         "status.podIP",
                                         "status.nominatedNodeName",
                                         NULL};
static const char *const secret_fields[] = {"type", NULL};
static const char *const namespace_fields[] = {"status.phase", NULL};
static const char *const node_fields[] = {"spec.unschedulable", NULL};
static const char *const event_fields[] = {"involvedObject.kind",
                                           "involvedObject.namespace",
                                           "involvedObject.name",
                                           "involvedObject.uid",
                                           "involvedObject.apiVersion",
                                           "involvedObject.resourceVersion",
                                           "involvedObject.fieldPath",
                                           "reason",
                                           "reportingComponent",
                                           "source",
                                           "type",
                                           NULL};
static const char *const no_fields[] = {NULL};

static const struct core_row core_rows[] = {
    {&osb_kind_namespace, &columns_namespace, &admission_namespace, namespace_fields,
     .has_status = true},
    {&osb_kind_node, &columns_node, &admission_plain, node_fields, .has_status = true,
     .is_fixed = true},
    {&osb_kind_pod, &columns_pod, &admission_pod, pod_fields, .has_status = true,
     .has_generation = true, .has_grace = true},
    {&osb_kind_secret, &columns_secret, &admission_secret, secret_fields, .has_status = false},
    {&osb_kind_event, &columns_event, &admission_event, event_fields, .has_status = false},
    {&osb_kind_lease, &columns_lease, &admission_plain, no_fields, .is_conditional = true},
};

static void set_fields(struct resource *r, const char *const *fields)
{
    int n = 0;
    r->fields[n++] = "metadata.name";
    if (r->kind.is_namespaced)
        r->fields[n++] = "metadata.namespace";
    for (; *fields; fields++) {
        osb_assert(n < RESOURCE_MAX_FIELDS);
        r->fields[n++] = *fields;
    }
}

static void add_core(struct registry *registry, const struct core_row *row)
{
    struct resource *r = registry_add(registry);
    struct osb_json *schema = core_schema(row->kind->kind);
    osb_json_append(registry->trees, schema);
    r->kind = *row->kind;
    r->storage_name = row->kind->group[0] ? osb_arena_printf(&registry->arena, "%s.%s",
                                                             row->kind->plural, row->kind->group)
                                          : row->kind->plural;
    r->has_status = row->has_status;
    r->has_generation = row->has_generation;
    r->has_grace = row->has_grace;
    r->is_fixed = row->is_fixed;
    r->is_conditional = row->is_conditional;
    r->schema = schema;
    r->columns = row->columns->items;
    r->column_count = row->columns->count;
    r->admission = row->admission;
    set_fields(r, row->fields);
}

void registry_init(struct registry *registry)
{
    *registry = (struct registry){.trees = osb_json_new_array(), .crds = osb_json_new_array()};
    struct osb_json *metadata = core_schema("ObjectMeta");
    osb_json_append(registry->trees, metadata);
    registry->metadata_schema = metadata;
    for (size_t i = 0; i < sizeof(core_rows) / sizeof(*core_rows); i++)
        add_core(registry, &core_rows[i]);
}

void registry_done(struct registry *registry)
{
    osb_json_free(registry->trees);
    osb_json_free(registry->crds);
    osb_arena_done(&registry->arena);
    *registry = (struct registry){0};
}

const struct resource *registry_find(const struct registry *registry, struct osb_slice group,
                                     struct osb_slice version, struct osb_slice plural)
{
    for (int i = 0; i < registry->count; i++) {
        const struct osb_api_kind *kind = &registry->items[i]->kind;
        if (osb_slice_eq_str(plural, kind->plural) && osb_slice_eq_str(group, kind->group) &&
            osb_slice_eq_str(version, kind->version))
            return registry->items[i];
    }
    return NULL;
}

const struct resource *registry_by_storage(const struct registry *registry, const char *name)
{
    for (int i = 0; i < registry->count; i++)
        if (!strcmp(registry->items[i]->storage_name, name))
            return registry->items[i];
    return NULL;
}

const struct resource *registry_by_kind(const struct registry *registry, const char *api_version,
                                        const char *kind)
{
    char buffer[128];
    for (int i = 0; i < registry->count; i++) {
        const struct osb_api_kind *k = &registry->items[i]->kind;
        if (!strcmp(k->kind, kind) && !strcmp(osb_api_kind_version(k, buffer), api_version))
            return registry->items[i];
    }
    return NULL;
}
