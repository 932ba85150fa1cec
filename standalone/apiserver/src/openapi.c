// SPDX-License-Identifier: Apache-2.0
#include "openapi.h"
#include "core_types.h"
#include "discovery.h"

#include <osb/alloc.h>
#include <osb/api_meta.h>
#include <osb/json_tree.h>

#define CORE_PREFIX "io.k8s.api."

/* "api/v1" or "apis/group/version". */
static char *version_path(const struct osb_api_kind *kind)
{
    if (!kind->group[0])
        return osb_asprintf("api/%s", kind->version);
    return osb_asprintf("apis/%s/%s", kind->group, kind->version);
}

static void write_index(const struct registry *registry, struct osb_buf *out)
{
    _cleanup_json_ struct osb_json *index = osb_json_new_object();
    struct osb_json *paths = osb_json_ensure_object(index, "paths");
    for (int i = 0; i < registry->count; i++) {
        if (!is_first_of_version(registry, i))
            continue;
        _cleanup_free_ char *path = version_path(&registry->items[i]->kind);
        _cleanup_free_ char *url = osb_asprintf("/openapi/v3/%s", path);
        struct osb_json *entry = osb_json_ensure_object(paths, path);
        osb_json_set(entry, "serverRelativeURL", osb_json_new_str(url));
    }
    osb_json_print(index, out);
}

static struct osb_json *kind_mark(const struct osb_api_kind *kind)
{
    struct osb_json *mark = osb_json_new_object();
    osb_json_set(mark, "group", osb_json_new_str(kind->group));
    osb_json_set(mark, "version", osb_json_new_str(kind->version));
    osb_json_set(mark, "kind", osb_json_new_str(kind->kind));
    return mark;
}

/* The component's name: "io.opensandbox.sandbox.v1alpha1.Pool", with the group turned round. */
static char *component_name(const struct osb_api_kind *kind)
{
    if (!kind->group[0])
        return osb_asprintf(CORE_PREFIX "core.v1.%s", kind->kind);
    struct osb_slice rest = osb_slice_str(kind->group), piece;
    _cleanup_free_ char *reversed = osb_strdup("");
    while (osb_slice_split(&rest, '.', &piece)) {
        char *longer = osb_asprintf("%.*s.%s", OSB_SLICE_ARG(piece), reversed);
        free(reversed);
        reversed = longer;
    }
    return osb_asprintf("%s%s.%s", reversed, kind->version, kind->kind);
}

static void add_parameter(struct osb_json *list, const char *name, const char *type)
{
    struct osb_json *parameter = osb_json_new_object();
    osb_json_set(parameter, "name", osb_json_new_str(name));
    osb_json_set(parameter, "in", osb_json_new_str("query"));
    osb_json_set(osb_json_ensure_object(parameter, "schema"), "type", osb_json_new_str(type));
    osb_json_append(list, parameter);
}

static struct osb_json *reference(const char *component)
{
    _cleanup_free_ char *target = osb_asprintf("#/components/schemas/%s", component);
    struct osb_json *schema = osb_json_new_object();
    osb_json_set(schema, "$ref", osb_json_new_str(target));
    return schema;
}

static void add_response(struct osb_json *operation, const char *component)
{
    struct osb_json *ok =
        osb_json_ensure_object(osb_json_ensure_object(operation, "responses"), "200");
    osb_json_set(ok, "description", osb_json_new_str("OK"));
    struct osb_json *json =
        osb_json_ensure_object(osb_json_ensure_object(ok, "content"), "application/json");
    osb_json_set(json, "schema", reference(component));
}

static void add_body(struct osb_json *operation, const char *media_type, struct osb_json *schema)
{
    struct osb_json *content =
        osb_json_ensure_object(osb_json_ensure_object(operation, "requestBody"), "content");
    osb_json_set(osb_json_ensure_object(content, media_type), "schema", schema);
}

static struct osb_json *free_object(void)
{
    struct osb_json *schema = osb_json_new_object();
    osb_json_set(schema, "type", osb_json_new_str("object"));
    return schema;
}

/* One operation; ACTION is the verb as x-kubernetes-action says it. */
static struct osb_json *operation(const struct resource *r, const char *action,
                                  const char *component, bool is_write)
{
    struct osb_json *op = osb_json_new_object();
    osb_json_set(op, "x-kubernetes-action", osb_json_new_str(action));
    osb_json_set(op, "x-kubernetes-group-version-kind", kind_mark(&r->kind));
    if (is_write) {
        struct osb_json *parameters = osb_json_new_array();
        add_parameter(parameters, "dryRun", "string");
        add_parameter(parameters, "fieldManager", "string");
        add_parameter(parameters, "fieldValidation", "string");
        osb_json_set(op, "parameters", parameters);
    }
    add_response(op, component);
    return op;
}

static void add_paths(struct osb_json *paths, const struct resource *r, const char *component)
{
    _cleanup_free_ char *version = version_path(&r->kind);
    _cleanup_free_ char *collection =
        osb_asprintf("/%s/%s%s", version, r->kind.is_namespaced ? "namespaces/{namespace}/" : "",
                     r->kind.plural);
    _cleanup_free_ char *one = osb_asprintf("%s/{name}", collection);
    struct osb_json *all = osb_json_ensure_object(paths, collection);
    osb_json_set(all, "get", operation(r, "list", component, false));
    if (!r->is_fixed) {
        struct osb_json *post = operation(r, "post", component, true);
        add_body(post, "application/json", reference(component));
        osb_json_set(all, "post", post);
    }
    struct osb_json *single = osb_json_ensure_object(paths, one);
    osb_json_set(single, "get", operation(r, "get", component, false));
    struct osb_json *put = operation(r, "put", component, true);
    add_body(put, "application/json", reference(component));
    osb_json_set(single, "put", put);
    struct osb_json *patch = operation(r, "patch", component, true);
    add_body(patch, "application/json-patch+json", free_object());
    add_body(patch, "application/merge-patch+json", free_object());
    if (!r->is_custom)
        add_body(patch, "application/strategic-merge-patch+json", free_object());
    osb_json_set(single, "patch", patch);
}

/* apiVersion and kind, which the type tables do not repeat. */
static void add_type_meta(struct osb_json *schema)
{
    static const char *const names[] = {"apiVersion", "kind"};
    struct osb_json *properties = osb_json_ensure_object(schema, "properties");
    for (int i = 0; i < 2; i++)
        if (!osb_json_get(properties, names[i]))
            osb_json_set(osb_json_ensure_object(properties, names[i]), "type",
                         osb_json_new_str("string"));
}

static void mark_root(struct osb_json *schema, const struct osb_api_kind *kind)
{
    struct osb_json *marks = osb_json_new_array();
    osb_json_append(marks, kind_mark(kind));
    osb_json_set(schema, "x-kubernetes-group-version-kind", marks);
    add_type_meta(schema);
}

static void add_schemas(struct osb_json *schemas, const struct resource *r, const char *component)
{
    if (!r->is_custom) {
        size_t prefix_len = strlen(component) - strlen(r->kind.kind);
        _cleanup_free_ char *prefix = osb_strndup(component, prefix_len);
        core_components(r->kind.kind, prefix, schemas);
    } else {
        core_components("ObjectMeta", CORE_PREFIX "core.v1.", schemas);
        struct osb_json *schema = osb_json_copy(r->schema);
        osb_json_set(osb_json_ensure_object(schema, "properties"), "metadata",
                     reference(CORE_PREFIX "core.v1.ObjectMeta"));
        osb_json_set(schemas, component, schema);
    }
    mark_root(osb_json_get(schemas, component), &r->kind);
}

static bool write_version(const struct registry *registry, struct osb_slice wanted,
                          struct osb_buf *out)
{
    _cleanup_json_ struct osb_json *document = osb_json_new_object();
    osb_json_set(document, "openapi", osb_json_new_str("3.0.0"));
    struct osb_json *info = osb_json_ensure_object(document, "info");
    osb_json_set(info, "title", osb_json_new_str("Kubernetes"));
    osb_json_set(info, "version", osb_json_new_str("unversioned"));
    struct osb_json *paths = osb_json_ensure_object(document, "paths");
    struct osb_json *components = osb_json_ensure_object(document, "components");
    struct osb_json *schemas = osb_json_ensure_object(components, "schemas");
    bool is_found = false;
    for (int i = 0; i < registry->count; i++) {
        const struct resource *r = registry->items[i];
        _cleanup_free_ char *path = version_path(&r->kind);
        if (!osb_slice_eq_str(wanted, path))
            continue;
        _cleanup_free_ char *component = component_name(&r->kind);
        is_found = true;
        add_paths(paths, r, component);
        add_schemas(schemas, r, component);
    }
    if (is_found)
        osb_json_print(document, out);
    return is_found;
}

bool openapi_document(const struct registry *registry, struct osb_slice path, struct osb_buf *out)
{
    if (osb_slice_eq_str(path, "/openapi/v3")) {
        write_index(registry, out);
        return true;
    }
    if (!osb_slice_starts(path, OSB_SLICE("/openapi/v3/")))
        return false;
    return write_version(registry, osb_slice_from(path, 12), out);
}

/* Document {swagger = 1, info = 2 {title = 1, version = 2}, paths = 8} of the openapi.v2 package.
 */
struct osb_slice openapi_v2_document(bool is_protobuf)
{
    if (is_protobuf)
        return OSB_SLICE("\n\003"
                         "2.0"
                         "\022\031"
                         "\n\012Kubernetes"
                         "\022\013unversioned"
                         "B\000");
    return OSB_SLICE("{\"swagger\":\"2.0\",\"info\":{\"title\":\"Kubernetes\","
                     "\"version\":\"unversioned\"},\"paths\":{}}");
}
