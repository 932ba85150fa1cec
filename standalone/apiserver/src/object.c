// SPDX-License-Identifier: Apache-2.0
#include "object.h"

#include <osb/alloc.h>
#include <osb/api_meta.h>
#include <osb/secret.h>
#include <stdio.h>

static void project_labels(struct object *o, const struct osb_json *tree)
{
    const struct osb_json *labels = osb_api_labels(tree);
    o->labels = osb_arena_calloc(&o->arena, osb_json_count(labels) + 1, sizeof(*o->labels));
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    while (osb_json_next_member(labels, &cursor, &key, &value)) {
        struct object_label *label = &o->labels[o->label_count++];
        label->key = osb_arena_slice_dup(&o->arena, key);
        label->value = osb_arena_slice_dup(&o->arena, osb_json_str(value));
    }
}

/* Selectable fields are strings, or booleans written out. */
static char *field_text(struct osb_arena *arena, const struct osb_json *value)
{
    if (osb_json_type(value) == OSB_JSON_BOOL)
        return osb_arena_strdup(arena, osb_json_bool_or(value, false) ? "true" : "false");
    return osb_arena_slice_dup(arena, osb_json_str(value));
}

static void project_fields(struct object *o, const struct osb_json *tree)
{
    o->fields = osb_arena_calloc(&o->arena, RESOURCE_MAX_FIELDS, sizeof(*o->fields));
    for (int i = 0; o->resource->fields[i]; i++) {
        const char *path = o->resource->fields[i];
        if (!strcmp(path, "source")) /* an event's source selects by its component */
            path = "source.component";
        o->fields[i] = field_text(&o->arena, osb_json_get_path(tree, path));
    }
}

static void project_owners(struct object *o, const struct osb_json *tree)
{
    const struct osb_json *list = osb_json_get_path(tree, "metadata.ownerReferences");
    size_t count = osb_json_count(list), n = 0;
    o->owners = osb_arena_calloc(&o->arena, count + 1, sizeof(*o->owners));
    for (size_t i = 0; i < count; i++) {
        struct osb_slice uid = osb_json_str(osb_json_get(osb_json_at(list, i), "uid"));
        if (uid.len)
            o->owners[n++] = osb_arena_slice_dup(&o->arena, uid);
    }
}

struct object *object_new(const struct resource *resource, struct osb_json *tree, uint64_t revision)
{
    char version[24];
    snprintf(version, sizeof(version), "%llu", (unsigned long long)revision);
    struct osb_json *metadata = osb_json_ensure_object(tree, "metadata");
    osb_json_set(metadata, "resourceVersion", osb_json_new_str(version));

    struct object *o = osb_new(struct object);
    o->refs = 1;
    o->resource = resource;
    o->revision = revision;
    const char *name = osb_api_name(tree), *ns = osb_api_namespace(tree);
    const char *uid = osb_api_uid(tree);
    o->name = osb_arena_strdup(&o->arena, name ? name : "");
    o->namespace_ = osb_arena_strdup(&o->arena, ns ? ns : "");
    o->uid = osb_arena_strdup(&o->arena, uid ? uid : "");
    o->key =
        o->namespace_[0] ? osb_arena_printf(&o->arena, "%s/%s", o->namespace_, o->name) : o->name;
    o->is_deleting = osb_api_is_deleting(tree);
    project_labels(o, tree);
    project_fields(o, tree);
    project_owners(o, tree);
    struct osb_buf text = {0};
    osb_json_print(tree, &text);
    o->text.len = text.len;
    o->text.data = osb_buf_take(&text);
    return o;
}

struct object *object_ref(struct object *object)
{
    if (object)
        object->refs++;
    return object;
}

void object_unref(struct object *object)
{
    if (!object || --object->refs)
        return;
    explicit_bzero((char *)(uintptr_t)object->text.data, object->text.len); /* may be a Secret */
    free((char *)(uintptr_t)object->text.data);
    osb_arena_done(&object->arena);
    free(object);
}

struct osb_json *object_tree(const struct object *object)
{
    struct osb_json *tree = NULL;
    int r = osb_json_parse(object->text, &tree, NULL);
    osb_assert(r >= 0); /* it was printed by us */
    return tree;
}

size_t object_size(const struct object *object)
{
    return sizeof(*object) + object->text.len + object->arena.used;
}

static const char *get_label(const char *key, void *arg)
{
    const struct object *o = arg;
    for (int i = 0; i < o->label_count; i++)
        if (!strcmp(o->labels[i].key, key))
            return o->labels[i].value;
    return NULL;
}

static const char *get_field(const char *key, void *arg)
{
    const struct object *o = arg;
    for (int i = 0; o->resource->fields[i]; i++)
        if (!strcmp(o->resource->fields[i], key))
            return o->fields[i];
    return "";
}

bool object_matches(const struct object *object, const struct filter *filter)
{
    void *arg = (void *)(uintptr_t)object;
    if (filter->namespace_ && strcmp(filter->namespace_, object->namespace_) != 0)
        return false;
    if (filter->name && strcmp(filter->name, object->name) != 0)
        return false;
    if (filter->labels && !osb_selector_matches(filter->labels, get_label, arg))
        return false;
    return !filter->fields || osb_selector_matches(filter->fields, get_field, arg);
}
