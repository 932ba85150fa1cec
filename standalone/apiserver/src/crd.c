// SPDX-License-Identifier: Apache-2.0
/* CustomResourceDefinitions (apiextensions.k8s.io/v1) read from files into the registry. */
#include "admission.h"
#include "resource.h"

#include <dirent.h>
#include <osb/fd.h>
#include <osb/yaml.h>
#include <stdlib.h>

static const char *dup_str(struct registry *registry, const struct osb_json *value)
{
    return osb_arena_slice_dup(&registry->arena, osb_json_str(value));
}

/* ".spec.replicas" without its first dot; NULL when absent. */
static const char *dup_path(struct registry *registry, const struct osb_json *value)
{
    struct osb_slice path = osb_json_str(value);
    if (!path.len)
        return NULL;
    return osb_arena_slice_dup(&registry->arena,
                               path.data[0] == '.' ? osb_slice_from(path, 1) : path);
}

static const char *const *dup_list(struct registry *registry, const struct osb_json *array)
{
    size_t count = osb_json_count(array);
    if (!count)
        return NULL;
    const char **list = osb_arena_calloc(&registry->arena, count + 1, sizeof(*list));
    for (size_t i = 0; i < count; i++)
        list[i] = dup_str(registry, osb_json_at(array, i));
    return list;
}

/* The one version that is served and stored; more than one would need conversion. */
static const struct osb_json *served_version(const struct osb_json *spec)
{
    const struct osb_json *versions = osb_json_get(spec, "versions"), *found = NULL;
    for (size_t i = 0; i < osb_json_count(versions); i++) {
        const struct osb_json *version = osb_json_at(versions, i);
        if (!osb_json_bool_or(osb_json_get(version, "served"), false))
            continue;
        if (found || !osb_json_bool_or(osb_json_get(version, "storage"), false))
            return NULL;
        found = version;
    }
    return found;
}

static void set_kind(struct registry *registry, struct resource *r, const struct osb_json *spec,
                     const struct osb_json *version)
{
    const struct osb_json *names = osb_json_get(spec, "names");
    r->kind = (struct osb_api_kind){
        .group = dup_str(registry, osb_json_get(spec, "group")),
        .version = dup_str(registry, osb_json_get(version, "name")),
        .kind = dup_str(registry, osb_json_get(names, "kind")),
        .list_kind = dup_str(registry, osb_json_get(names, "listKind")),
        .plural = dup_str(registry, osb_json_get(names, "plural")),
        .singular = dup_str(registry, osb_json_get(names, "singular")),
        .short_names = dup_list(registry, osb_json_get(names, "shortNames")),
        .is_namespaced = osb_slice_eq_str(osb_json_str(osb_json_get(spec, "scope")), "Namespaced"),
    };
    if (!r->kind.list_kind[0])
        r->kind.list_kind = osb_arena_printf(&registry->arena, "%sList", r->kind.kind);
    if (!r->kind.singular[0]) {
        char *singular = osb_arena_strdup(&registry->arena, r->kind.kind);
        for (char *p = singular; *p; p++)
            *p = (char)(*p >= 'A' && *p <= 'Z' ? *p + 32 : *p);
        r->kind.singular = singular;
    }
}

static void set_columns(struct registry *registry, struct resource *r,
                        const struct osb_json *version)
{
    const struct osb_json *list = osb_json_get(version, "additionalPrinterColumns");
    size_t count = osb_json_count(list);
    /* Without any, a CRD shows its age. */
    struct osb_api_column *columns =
        osb_arena_calloc(&registry->arena, count + 2, sizeof(*columns));
    columns[0] = (struct osb_api_column){"Name", "string",         "name", "Name of the object",
                                         0,      ".metadata.name", NULL};
    for (size_t i = 0; i < count; i++) {
        const struct osb_json *c = osb_json_at(list, i);
        columns[i + 1] = (struct osb_api_column){
            .name = dup_str(registry, osb_json_get(c, "name")),
            .type = dup_str(registry, osb_json_get(c, "type")),
            .format = dup_str(registry, osb_json_get(c, "format")),
            .description = dup_str(registry, osb_json_get(c, "description")),
            .priority = (int)osb_json_i64_or(osb_json_get(c, "priority"), 0),
            .json_path = dup_str(registry, osb_json_get(c, "jsonPath")),
        };
    }
    if (!count)
        columns[++count] = (struct osb_api_column){
            "Age", "date", "", "Age of the object", 0, ".metadata.creationTimestamp", NULL};
    r->columns = columns;
    r->column_count = (int)count + 1;
}

static void set_subresources(struct registry *registry, struct resource *r,
                             const struct osb_json *version)
{
    const struct osb_json *sub = osb_json_get(version, "subresources");
    const struct osb_json *scale = osb_json_get(sub, "scale");
    r->has_status = osb_json_get(sub, "status");
    if (!scale)
        return;
    r->scale_spec_path = dup_path(registry, osb_json_get(scale, "specReplicasPath"));
    r->scale_status_path = dup_path(registry, osb_json_get(scale, "statusReplicasPath"));
    r->scale_selector_path = dup_path(registry, osb_json_get(scale, "labelSelectorPath"));
    r->has_scale = r->scale_spec_path && r->scale_status_path;
}

int registry_add_crd(struct registry *registry, struct osb_json *crd, struct osb_err *err)
{
    osb_json_append(registry->crds, crd);
    const struct osb_json *spec = osb_json_get(crd, "spec");
    const struct osb_json *version = served_version(spec);
    const struct osb_json *schema = osb_json_get_path(version, "schema.openAPIV3Schema");
    if (!schema)
        return osb_fail(err, -OSB_E_INVALID,
                        "a CRD needs one served version, which is stored and has a schema");
    if (registry->count == RESOURCE_MAX)
        return osb_fail(err, -OSB_E_TOO_LARGE, "more than %d resources", RESOURCE_MAX);
    struct osb_slice plural = osb_json_str(osb_json_get_path(spec, "names.plural"));
    struct osb_slice group = osb_json_str(osb_json_get(spec, "group"));
    if (!plural.len || !group.len)
        return osb_fail(err, -OSB_E_INVALID, "a CRD needs a group and a plural name");
    if (registry_find(registry, group, osb_json_str(osb_json_get(version, "name")), plural))
        return osb_fail(err, -OSB_E_EXISTS, "%.*s is defined twice", OSB_SLICE_ARG(plural));

    struct resource *r = registry_add(registry);
    set_kind(registry, r, spec, version);
    r->storage_name = osb_arena_printf(&registry->arena, "%s.%s", r->kind.plural, r->kind.group);
    r->is_custom = true;
    r->has_generation = true;
    r->is_conditional = true;
    r->schema = schema;
    r->admission = &admission_plain;
    r->fields[0] = "metadata.name";
    r->fields[1] = r->kind.is_namespaced ? "metadata.namespace" : NULL;
    set_columns(registry, r, version);
    set_subresources(registry, r, version);
    return 0;
}

static int load_file(struct registry *registry, const char *path, struct osb_err *err)
{
    _cleanup_buf_ struct osb_buf text = {0};
    int r = osb_read_file(path, CRD_FILE_MAX, &text, err);
    if (r < 0)
        return r;
    _cleanup_json_ struct osb_json *documents = NULL;
    r = osb_yaml_parse_all(osb_buf_slice(&text), &documents, err);
    if (r < 0)
        return osb_wrap(err, r, "%s", path);
    for (size_t i = 0; i < osb_json_count(documents); i++) {
        const struct osb_json *document = osb_json_at(documents, i);
        if (!osb_slice_eq_str(osb_json_str(osb_json_get(document, "kind")),
                              "CustomResourceDefinition"))
            continue;
        r = registry_add_crd(registry, osb_json_copy(document), err);
        if (r < 0)
            return osb_wrap(err, r, "%s", path);
    }
    return 0;
}

static int is_yaml(const struct dirent *entry)
{
    struct osb_slice name = osb_slice_str(entry->d_name);
    return osb_slice_ends(name, OSB_SLICE(".yaml")) || osb_slice_ends(name, OSB_SLICE(".yml"));
}

int registry_load_crds(struct registry *registry, const char *folder, struct osb_err *err)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_yaml, alphasort), r = 0;
    if (count < 0)
        return osb_fail(err, -errno, "cannot read the folder %s", folder);
    for (int i = 0; i < count; i++) {
        _cleanup_free_ char *path = osb_path_join(folder, entries[i]->d_name);
        if (r >= 0)
            r = load_file(registry, path, err);
        free(entries[i]);
    }
    free(entries);
    return r;
}
