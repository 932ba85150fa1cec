// SPDX-License-Identifier: Apache-2.0
#include "pod_execd.h"

#include <osb/alloc.h>
#include <osb/secret.h>
#include <osb/text.h>

#include <string.h>

#include "operator.h"
#include "pod_build.h"
#include "pod_inject.h"

#define TOKEN_VARIABLE "EXECD_ACCESS_TOKEN"

static struct osb_slice annotation_of(const struct osb_json *pod, const char *key)
{
    const struct osb_json *annotations = osb_json_get_path(pod, "metadata.annotations");
    return osb_json_str(osb_json_get(annotations, key));
}

static struct osb_json *find_container(const struct osb_json *containers, struct osb_slice name)
{
    for (size_t i = 0; i < osb_json_count(containers); i++) {
        struct osb_json *container = osb_json_at(containers, i);
        if (osb_slice_eq(osb_json_str(osb_json_get(container, "name")), name))
            return container;
    }
    return NULL;
}

static int find_main(const struct osb_json *pod, struct osb_json **ret, struct osb_err *err)
{
    const struct osb_json *containers = osb_json_get_path(pod, "spec.containers");
    struct osb_slice named = annotation_of(pod, ANNOTATION_INJECT_CONTAINER);
    struct osb_json *container =
        find_container(containers, named.len > 0 ? named : OSB_SLICE(MAIN_CONTAINER));
    if (!container && named.len > 0)
        return osb_fail(err, -OSB_E_INVALID,
                        "annotation " ANNOTATION_INJECT_CONTAINER
                        " names no container of the template");
    *ret = container ? container : osb_json_at(containers, 0);
    if (osb_json_type(*ret) != OSB_JSON_OBJECT)
        return osb_fail(err, -OSB_E_INVALID, "the template has no container");
    return 0;
}

/* An image's own entrypoint is known to the node only, so the launcher needs a named command. */
static int add_launcher(struct osb_json *container, struct osb_err *err)
{
    struct osb_json *command = osb_json_get(container, "command");
    if (osb_json_type(command) != OSB_JSON_ARRAY || osb_json_count(command) == 0)
        return osb_fail(err, -OSB_E_INVALID,
                        "a template with " ANNOTATION_INJECT
                        ": execd must name the command of its main container");
    if (!osb_slice_eq_str(osb_json_str(osb_json_at(command, 0)), LAUNCHER))
        osb_json_insert(command, 0, osb_json_new_str(LAUNCHER));
    return 0;
}

/* The token is ours to give: what a template says of this variable is dropped. */
static void add_token(struct osb_json *container, const char *secret)
{
    struct osb_json *env = osb_json_get(container, "env");
    if (osb_json_type(env) != OSB_JSON_ARRAY) {
        env = osb_json_new_array();
        osb_json_set(container, "env", env);
    }
    for (size_t i = osb_json_count(env); i-- > 0;) {
        struct osb_slice name = osb_json_str(osb_json_get(osb_json_at(env, i), "name"));
        if (osb_slice_eq_str(name, TOKEN_VARIABLE))
            osb_json_remove_at(env, i);
    }
    struct osb_json *variable = osb_json_new_object();
    osb_json_set(variable, "name", osb_json_new_str(TOKEN_VARIABLE));
    struct osb_json *key =
        osb_json_ensure_object(osb_json_ensure_object(variable, "valueFrom"), "secretKeyRef");
    osb_json_set(key, "name", osb_json_new_str(secret));
    osb_json_set(key, "key", osb_json_new_str("execd"));
    osb_json_append(env, variable);
}

int pod_add_execd(struct osb_json *pod, const char *secret, const struct config *config,
                  struct osb_err *err)
{
    struct osb_json *container = NULL;
    if (!osb_slice_eq_str(annotation_of(pod, ANNOTATION_INJECT), "execd"))
        return 0;
    int r = find_main(pod, &container, err);
    if (r >= 0)
        r = add_launcher(container, err);
    if (r >= 0)
        r = pod_inject(pod, container, config, err);
    if (r < 0)
        return r;
    add_token(container, secret);
    return 0;
}
