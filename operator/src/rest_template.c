// SPDX-License-Identifier: Apache-2.0
#include "rest_template.h"

#include <osb/alloc.h>
#include <osb/fd.h>
#include <osb/yaml.h>

#include <stdlib.h>
#include <string.h>

#include "pod.h"

/* ---- reading ---- */

static char *expand_home(const char *path)
{
    const char *home = getenv("HOME");
    if (strncmp(path, "~/", 2) == 0 && home)
        return osb_asprintf("%s%s", home, path + 1);
    return osb_strdup(path);
}

int rest_template_load(const char *path, struct osb_json **ret, struct osb_err *err)
{
    _cleanup_free_ char *expanded = expand_home(path);
    _cleanup_buf_ struct osb_buf text = {0};
    _cleanup_json_ struct osb_json *tree = NULL;
    int r = osb_read_file(expanded, REST_MAX_TEMPLATE, &text, err);
    if (r >= 0)
        r = osb_yaml_parse(osb_buf_slice(&text), &tree, err);
    if (r >= 0 && osb_json_type(tree) != OSB_JSON_OBJECT)
        r = osb_fail(err, -OSB_E_INVALID, "must be a mapping");
    if (r < 0)
        return osb_wrap(err, r, "kubernetes.batchsandbox_template_file %s", expanded);
    *ret = osb_take_ptr(tree);
    return 0;
}

/* ---- laying beneath ---- */

/* What OBJECT has wins, lists as a whole; mappings are merged. */
static void lay_beneath(struct osb_json *object, const struct osb_json *below)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    while (osb_json_next_member(below, &cursor, &key, &value)) {
        struct osb_json *own = osb_json_get_slice(object, key);
        if (osb_json_type(value) == OSB_JSON_NULL)
            continue;
        if (!own)
            osb_json_set_slice(object, key, osb_json_copy(value));
        else if (osb_json_type(own) == OSB_JSON_OBJECT && osb_json_type(value) == OSB_JSON_OBJECT)
            lay_beneath(own, value);
    }
}

static bool has_named(const struct osb_json *list, size_t count, struct osb_slice name)
{
    for (size_t i = 0; i < count; i++)
        if (osb_slice_eq(osb_json_str(osb_json_get(osb_json_at(list, i), "name")), name))
            return true;
    return false;
}

/* Appends the items of FROM whose names the list KEY of OBJECT did not have before. */
static void append_unnamed(struct osb_json *object, const char *key, const struct osb_json *from)
{
    if (osb_json_type(from) != OSB_JSON_ARRAY || osb_json_count(from) == 0)
        return;
    struct osb_json *list = osb_json_get(object, key);
    if (osb_json_type(list) != OSB_JSON_ARRAY) {
        list = osb_json_new_array();
        osb_json_set(object, key, list);
    }
    size_t own_count = osb_json_count(list);
    for (size_t i = 0; i < osb_json_count(from); i++) {
        const struct osb_json *item = osb_json_at(from, i);
        if (!has_named(list, own_count, osb_json_str(osb_json_get(item, "name"))))
            osb_json_append(list, osb_json_copy(item));
    }
}

static const struct osb_json *container_of(const struct osb_json *pod)
{
    const struct osb_json *containers = osb_json_get(pod, "containers");
    for (size_t i = 0; i < osb_json_count(containers); i++) {
        const struct osb_json *container = osb_json_at(containers, i);
        if (osb_slice_eq_str(osb_json_str(osb_json_get(container, "name")), MAIN_CONTAINER))
            return container;
    }
    return osb_json_at(containers, 0);
}

/* Lists are not merged above; these two are what a template can add to the main container. */
static void add_to_container(struct osb_json *container, const struct osb_json *below)
{
    const struct osb_json *context = osb_json_get(below, "securityContext");
    append_unnamed(container, "volumeMounts", osb_json_get(below, "volumeMounts"));
    if (osb_json_type(context) == OSB_JSON_OBJECT)
        lay_beneath(osb_json_ensure_object(container, "securityContext"), context);
}

void rest_template_apply(const struct osb_json *template_, struct osb_json *object)
{
    if (!template_)
        return;
    struct osb_json *spec = osb_json_get(object, "spec");
    bool has_expiry = osb_json_get(spec, "expireTime");
    const struct osb_json *below = osb_json_get_path(template_, "spec.template.spec");
    lay_beneath(object, template_);
    if (!has_expiry)
        osb_json_del(spec, OSB_SLICE("expireTime"));
    struct osb_json *pod = osb_json_get_path(object, "spec.template.spec");
    append_unnamed(pod, "volumes", osb_json_get(below, "volumes"));
    add_to_container((struct osb_json *)container_of(pod), container_of(below));
}
