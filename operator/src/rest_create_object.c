// SPDX-License-Identifier: Apache-2.0
#include "rest_create_object.h"

#include <osb/api_kinds.h>
#include <osb/clock.h>

#include <string.h>

#include "operator.h"
#include "rest_resources.h"
#include "rest_sandbox.h"

#define RENEW_KEY     "access.renew.extend.seconds"
#define EGRESS_PREFIX "OPENSANDBOX_EGRESS_" /* variables of the egress sidecar */
#define EXECD_PATH    "/opt/opensandbox/execd"

static void set_str(struct osb_json *object, const char *key, const char *value)
{
    if (value)
        osb_json_set(object, key, osb_json_new_str(value));
}

/* ---- metadata ---- */

static void add_labels(struct osb_json *metadata, const struct create_spec *spec,
                       const struct create_identity *identity)
{
    struct osb_json *labels = osb_json_ensure_object(metadata, "labels");
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    set_str(labels, LABEL_ID, identity->id);
    if (spec->timeout_s == 0)
        set_str(labels, LABEL_MANUAL_CLEANUP, "true");
    while (osb_json_next_member(spec->metadata, &cursor, &key, &value))
        osb_json_set_slice(labels, key, osb_json_copy(value));
}

static void add_extensions(struct osb_json *annotations, const struct create_spec *spec)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    while (osb_json_next_member(spec->extensions, &cursor, &key, &value)) {
        _cleanup_buf_ struct osb_buf name = {0};
        if (osb_slice_eq_str(key, RENEW_KEY)) {
            struct osb_slice seconds = osb_slice_trim(osb_json_str(value));
            osb_json_set(annotations, ANNOTATION_RENEW, osb_json_new_string(seconds));
        } else if (osb_slice_starts(key, OSB_SLICE(EXTENSION_PREFIX))) {
            osb_buf_append_str(&name, ANNOTATION_EXTENSION);
            osb_buf_append_slice(&name, osb_slice_from(key, sizeof(EXTENSION_PREFIX) - 1));
            osb_json_set_slice(annotations, osb_buf_slice(&name), osb_json_copy(value));
        }
    }
}

static void add_metadata(struct osb_json *object, const struct create_spec *spec,
                         const struct create_identity *identity)
{
    struct osb_json *metadata = osb_json_ensure_object(object, "metadata");
    _cleanup_buf_ struct osb_buf entrypoint = {0};
    set_str(metadata, "name", identity->id);
    set_str(metadata, "namespace", identity->namespace_);
    add_labels(metadata, spec, identity);
    struct osb_json *annotations = osb_json_ensure_object(metadata, "annotations");
    osb_json_print(spec->entrypoint, &entrypoint);
    set_str(annotations, ANNOTATION_ENTRYPOINT, osb_buf_cstr(&entrypoint));
    set_str(annotations, ANNOTATION_REQUEST_ID, identity->request_id);
    set_str(annotations, ANNOTATION_TRACEPARENT, identity->traceparent);
    set_str(annotations, ANNOTATION_IDEMPOTENCY, identity->digest);
    add_extensions(annotations, spec);
}

/* ---- the container ---- */

/*
 * Kubernetes expands $(NAME) in commands and variables and reads "$$" as "$"; a caller of the REST
 * API means what it wrote, so each "$" is doubled.
 */
static struct osb_json *literal(const struct osb_json *text)
{
    _cleanup_buf_ struct osb_buf doubled = {0};
    struct osb_slice rest = osb_json_str(text);
    for (size_t i = 0; i < rest.len; i++) {
        if (rest.data[i] == '$')
            osb_buf_append_char(&doubled, '$');
        osb_buf_append_char(&doubled, rest.data[i]);
    }
    return osb_json_new_string(osb_buf_slice(&doubled));
}

static void add_variable(struct osb_json *env, struct osb_slice name, const struct osb_json *value)
{
    struct osb_json *variable = osb_json_new_object();
    osb_json_set(variable, "name", osb_json_new_string(name));
    if (osb_json_type(value) == OSB_JSON_STRING)
        osb_json_set(variable, "value", literal(value));
    osb_json_append(env, variable);
}

static void add_own_variable(struct osb_json *env, const char *name, const char *value)
{
    struct osb_json *text = osb_json_new_str(value);
    add_variable(env, osb_slice_str(name), text);
    osb_json_free(text);
}

/* The operator adds the token when it makes the pod. */
static struct osb_json *build_env(const struct create_spec *spec, const char *id,
                                  const struct config *config)
{
    struct osb_json *env = osb_json_new_array();
    void *cursor = NULL;
    struct osb_slice name;
    struct osb_json *value;
    while (osb_json_next_member(spec->env, &cursor, &name, &value)) {
        bool is_ours = osb_slice_eq_str(name, "OPENSANDBOX_ID") || osb_slice_eq_str(name, "EXECD");
        if (!is_ours && !osb_slice_starts(name, OSB_SLICE(EGRESS_PREFIX)))
            add_variable(env, name, value);
    }
    add_own_variable(env, "OPENSANDBOX_ID", id);
    if (config->runtime.runs_execd_as_init)
        add_own_variable(env, "EXECD_INIT", "1");
    add_own_variable(env, "EXECD", EXECD_PATH);
    return env;
}

static struct osb_json *build_command(const struct create_spec *spec)
{
    struct osb_json *command = osb_json_new_array();
    osb_json_append(command, osb_json_new_str(LAUNCHER));
    for (size_t i = 0; i < osb_json_count(spec->entrypoint); i++)
        osb_json_append(command, literal(osb_json_at(spec->entrypoint, i)));
    return command;
}

static struct osb_json *build_container(const struct create_spec *spec, const char *id,
                                        const struct config *config)
{
    struct osb_json *container = osb_json_new_object();
    struct osb_json *resources =
        rest_resources_build(spec->limits, spec->requests, config->kubernetes.request_fraction);
    set_str(container, "name", MAIN_CONTAINER);
    set_str(container, "image", spec->image);
    set_str(container, "imagePullPolicy", config->kubernetes.image_pull_policy);
    osb_json_set(container, "command", build_command(spec));
    osb_json_set(container, "env", build_env(spec, id, config));
    if (resources)
        osb_json_set(container, "resources", resources);
    return container;
}

/* ---- the template ---- */

static void add_pod_metadata(struct osb_json *template_, const struct create_spec *spec,
                             const struct create_identity *identity)
{
    struct osb_json *metadata = osb_json_ensure_object(template_, "metadata");
    add_labels(metadata, spec, identity);
    struct osb_json *annotations = osb_json_ensure_object(metadata, "annotations");
    set_str(annotations, ANNOTATION_INJECT, "execd");
    set_str(annotations, ANNOTATION_REQUEST_ID, identity->request_id);
    add_extensions(annotations, spec);
}

static void add_pod_spec(struct osb_json *template_, const struct create_spec *spec, const char *id,
                         const struct config *config)
{
    struct osb_json *pod = osb_json_ensure_object(template_, "spec");
    struct osb_json *containers = osb_json_new_array();
    osb_json_set(pod, "automountServiceAccountToken", osb_json_new_bool(false));
    set_str(pod, "restartPolicy", "Never"); /* its end is the sandbox's end */
    osb_json_append(containers, build_container(spec, id, config));
    osb_json_set(pod, "containers", containers);
    if (!spec->os)
        return;
    struct osb_json *selector = osb_json_ensure_object(pod, "nodeSelector");
    set_str(selector, "kubernetes.io/os", spec->os);
    set_str(selector, "kubernetes.io/arch", spec->arch);
}

static void add_expiry(struct osb_json *spec_, int64_t timeout_s, int64_t now_ns)
{
    enum { MICROSECONDS = 6 };
    char text[OSB_RFC3339_MAX];
    if (timeout_s == 0)
        return;
    int64_t expires_ns = now_ns + timeout_s * (int64_t)OSB_NS_PER_S;
    set_str(spec_, "expireTime", osb_rfc3339_format(text, expires_ns, MICROSECONDS));
}

struct osb_json *create_object(const struct create_spec *spec,
                               const struct create_identity *identity, const struct config *config,
                               int64_t now_ns)
{
    char version[128];
    struct osb_json *object = osb_json_new_object();
    set_str(object, "apiVersion", osb_api_kind_version(&osb_kind_batchsandbox, version));
    set_str(object, "kind", osb_kind_batchsandbox.kind);
    add_metadata(object, spec, identity);
    struct osb_json *inner = osb_json_ensure_object(object, "spec");
    osb_json_set(inner, "replicas", osb_json_new_i64(1));
    add_expiry(inner, spec->timeout_s, now_ns);
    struct osb_json *template_ = osb_json_ensure_object(inner, "template");
    add_pod_metadata(template_, spec, identity);
    add_pod_spec(template_, spec, identity->id, config);
    return object;
}
