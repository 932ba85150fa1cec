// SPDX-License-Identifier: Apache-2.0
#include "discovery.h"

#include <osb/json_writer.h>
#include <stdio.h>
#include <sys/utsname.h>

/* The Kubernetes version whose conventions are followed; clients choose what they use by it. */
#define KUBERNETES_MAJOR "1"
#define KUBERNETES_MINOR "34"
#define KUBERNETES_TAG   "v1.34.0"

#ifndef OSB_VERSION
#define OSB_VERSION "0"
#endif

bool is_first_of_version(const struct registry *registry, int index)
{
    const struct osb_api_kind *kind = &registry->items[index]->kind;
    for (int i = 0; i < index; i++) {
        const struct osb_api_kind *other = &registry->items[i]->kind;
        if (!strcmp(other->group, kind->group) && !strcmp(other->version, kind->version))
            return false;
    }
    return true;
}

static void write_head(struct osb_json_writer *w, const char *kind, const char *version)
{
    osb_json_kv_string(w, "kind", kind);
    if (version)
        osb_json_kv_string(w, "apiVersion", version);
}

static void core_versions(struct osb_json_writer *w)
{
    osb_json_begin_object(w);
    write_head(w, "APIVersions", NULL);
    osb_json_key(w, "versions");
    osb_json_begin_array(w);
    osb_json_string(w, "v1");
    osb_json_end_array(w);
    osb_json_key(w, "serverAddressByClientCIDRs");
    osb_json_begin_array(w);
    osb_json_end_array(w);
    osb_json_end_object(w);
}

static void write_version(struct osb_json_writer *w, const struct osb_api_kind *kind)
{
    char version[128];
    osb_json_begin_object(w);
    osb_json_kv_string(w, "groupVersion", osb_api_kind_version(kind, version));
    osb_json_kv_string(w, "version", kind->version);
    osb_json_end_object(w);
}

/* Each group has one version here. */
static void write_group(struct osb_json_writer *w, const struct osb_api_kind *kind, bool is_root)
{
    osb_json_begin_object(w);
    if (is_root)
        write_head(w, "APIGroup", "v1");
    osb_json_kv_string(w, "name", kind->group);
    osb_json_key(w, "versions");
    osb_json_begin_array(w);
    write_version(w, kind);
    osb_json_end_array(w);
    osb_json_key(w, "preferredVersion");
    write_version(w, kind);
    osb_json_end_object(w);
}

static void group_list(const struct registry *registry, struct osb_json_writer *w)
{
    osb_json_begin_object(w);
    write_head(w, "APIGroupList", "v1");
    osb_json_key(w, "groups");
    osb_json_begin_array(w);
    for (int i = 0; i < registry->count; i++)
        if (registry->items[i]->kind.group[0] && is_first_of_version(registry, i))
            write_group(w, &registry->items[i]->kind, false);
    osb_json_end_array(w);
    osb_json_end_object(w);
}

static void write_strings(struct osb_json_writer *w, const char *key, const char *const *list)
{
    if (!list)
        return;
    osb_json_key(w, key);
    osb_json_begin_array(w);
    for (; *list; list++)
        osb_json_string(w, *list);
    osb_json_end_array(w);
}

static void write_subresource(struct osb_json_writer *w, const struct resource *r, const char *sub,
                              const char *kind, const char *const *verbs)
{
    char name[256];
    snprintf(name, sizeof(name), "%s/%s", r->kind.plural, sub);
    bool is_scale = !strcmp(kind, "Scale");
    osb_json_begin_object(w);
    osb_json_kv_string(w, "name", name);
    osb_json_kv_string(w, "singularName", "");
    osb_json_kv_bool(w, "namespaced", r->kind.is_namespaced);
    osb_json_kv_string_opt(w, "group", is_scale ? "autoscaling" : NULL);
    osb_json_kv_string_opt(w, "version", is_scale ? "v1" : NULL);
    osb_json_kv_string(w, "kind", kind);
    write_strings(w, "verbs", verbs);
    osb_json_end_object(w);
}

static void write_resource(struct osb_json_writer *w, const struct resource *r)
{
    /* In the order of a real server: one for its own kinds, one for custom ones. */
    static const char *const core[] = {
        "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch", NULL};
    static const char *const custom[] = {"delete", "deletecollection", "get",   "list", "patch",
                                         "create", "update",           "watch", NULL};
    static const char *const fixed[] = {"get", "list", "patch", "update", "watch", NULL};
    static const char *const change[] = {"get", "patch", "update", NULL};
    static const char *const read[] = {"get", NULL};
    osb_json_begin_object(w);
    osb_json_kv_string(w, "name", r->kind.plural);
    osb_json_kv_string(w, "singularName", r->kind.singular);
    osb_json_kv_bool(w, "namespaced", r->kind.is_namespaced);
    osb_json_kv_string(w, "kind", r->kind.kind);
    write_strings(w, "verbs", r->is_fixed ? fixed : r->is_custom ? custom : core);
    write_strings(w, "shortNames", r->kind.short_names);
    if (r->has_grace) {
        static const char *const categories[] = {"all", NULL};
        write_strings(w, "categories", categories);
    }
    osb_json_end_object(w);
    if (r->has_status)
        write_subresource(w, r, "status", r->kind.kind, change);
    if (r->has_scale)
        write_subresource(w, r, "scale", "Scale", change);
    if (r->has_grace)
        write_subresource(w, r, "log", r->kind.kind, read);
}

/* False when that group and version is not served. */
static bool resource_list(const struct registry *registry, struct osb_slice group,
                          struct osb_slice version, struct osb_json_writer *w)
{
    bool is_found = false;
    char group_version[128];
    for (int i = 0; i < registry->count; i++) {
        const struct resource *r = registry->items[i];
        if (!osb_slice_eq_str(group, r->kind.group) || !osb_slice_eq_str(version, r->kind.version))
            continue;
        if (!is_found) {
            osb_json_begin_object(w);
            write_head(w, "APIResourceList", "v1");
            osb_json_kv_string(w, "groupVersion", osb_api_kind_version(&r->kind, group_version));
            osb_json_key(w, "resources");
            osb_json_begin_array(w);
        }
        is_found = true;
        write_resource(w, r);
    }
    if (is_found) {
        osb_json_end_array(w);
        osb_json_end_object(w);
    }
    return is_found;
}

static bool one_group(const struct registry *registry, struct osb_slice group,
                      struct osb_json_writer *w)
{
    for (int i = 0; i < registry->count; i++) {
        const struct osb_api_kind *kind = &registry->items[i]->kind;
        if (kind->group[0] && osb_slice_eq_str(group, kind->group)) {
            write_group(w, kind, true);
            return true;
        }
    }
    return false;
}

bool discovery_document(const struct registry *registry, struct osb_slice path, struct osb_buf *out)
{
    struct osb_json_writer w;
    osb_json_writer_init(&w, out);
    if (osb_slice_eq_str(path, "/api"))
        core_versions(&w);
    else if (osb_slice_eq_str(path, "/apis"))
        group_list(registry, &w);
    else if (osb_slice_eq_str(path, "/api/v1"))
        return resource_list(registry, OSB_SLICE(""), OSB_SLICE("v1"), &w);
    else if (osb_slice_starts(path, OSB_SLICE("/apis/"))) {
        struct osb_slice rest = osb_slice_from(path, 6), group, version;
        osb_slice_split(&rest, '/', &group);
        if (!osb_slice_split(&rest, '/', &version))
            return one_group(registry, group, &w);
        return !rest.len && resource_list(registry, group, version, &w);
    } else {
        return false;
    }
    return true;
}

void version_document(struct osb_buf *out)
{
    struct utsname machine = {0};
    uname(&machine);
    struct osb_json_writer w;
    osb_json_writer_init(&w, out);
    osb_json_begin_object(&w);
    osb_json_kv_string(&w, "major", KUBERNETES_MAJOR);
    osb_json_kv_string(&w, "minor", KUBERNETES_MINOR);
    osb_json_kv_string(&w, "gitVersion", KUBERNETES_TAG "+opensandbox-" OSB_VERSION);
    osb_json_kv_string(&w, "gitCommit", "");
    osb_json_kv_string(&w, "gitTreeState", "clean");
    osb_json_kv_string(&w, "buildDate", "1970-01-01T00:00:00Z");
    osb_json_kv_string(&w, "goVersion", "");
    osb_json_kv_string(&w, "compiler", "");
    osb_json_kv_string(&w, "platform",
                       !strcmp(machine.machine, "aarch64") ? "linux/arm64" : "linux/amd64");
    osb_json_end_object(&w);
}
