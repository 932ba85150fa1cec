// SPDX-License-Identifier: Apache-2.0
/* The checks of a create, in the order in which the public server makes them. */
#include "rest_create_spec.h"

#include <osb/api_meta.h>

#include <string.h>

#include "rest_labels.h"
#include "rest_resources.h"
#include "rest_sandbox.h"
#include "rest_schema.h"

#define RENEW_KEY     "access.renew.extend.seconds"
#define ISOLATION_KEY "bootstrap.execd.isolation"

/* ---- extensions ---- */

static int check_extension(struct osb_slice key, struct osb_slice value, struct rest_error *error)
{
    uint64_t seconds;
    if (osb_slice_eq_str(key, RENEW_KEY)) {
        if (osb_slice_to_u64(osb_slice_trim(value), &seconds) < 0 || seconds < REST_MIN_RENEW_S ||
            seconds > REST_MAX_RENEW_S)
            return rest_error_set(error, 400, REST_INVALID_PARAMETER,
                                  "extensions: " RENEW_KEY " must be 300 to 86400");
    } else if (osb_slice_eq_str(key, ISOLATION_KEY) && osb_slice_eq_str(value, "enable")) {
        return rest_error_set(error, 400, REST_INVALID_PARAMETER,
                              "extensions: " ISOLATION_KEY " is not allowed by this server");
    } else if (osb_slice_starts(key, OSB_SLICE(EXTENSION_PREFIX))) {
        struct osb_slice name = osb_slice_from(key, sizeof(EXTENSION_PREFIX) - 1);
        enum { PREFIX_LEN = sizeof("extensions.") - 1, NAME_MAX_LEN = 63 };
        if (name.len + PREFIX_LEN > NAME_MAX_LEN || !osb_api_is_qualified_name(name) ||
            osb_slice_find(name, '/') >= 0)
            return rest_error_set(error, 400, REST_INVALID_PARAMETER,
                                  "extensions: the name behind " EXTENSION_PREFIX
                                  " must be at most 52 letters, digits, '-', '_' and '.'");
    }
    return 0;
}

static int read_extensions(const struct osb_json *body, struct create_spec *spec,
                           struct rest_error *error)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    spec->extensions = rest_field(body, "extensions");
    while (osb_json_next_member(spec->extensions, &cursor, &key, &value))
        if (check_extension(key, osb_json_str(value), error) < 0)
            return -OSB_E_INVALID;
    return 0;
}

/* ---- what is known but not built ---- */

static int check_sources(const struct osb_json *body, struct rest_error *error)
{
    if (rest_text_field(body, "templateId"))
        return rest_error_set(error, 501, "FSB::API_NOT_SUPPORTED",
                              "templateId: templates are not built into this server");
    if (rest_text_field(body, "snapshotId"))
        return rest_error_set(error, 501, "SNAPSHOT::NOT_IMPLEMENTED",
                              "snapshotId: snapshots are not built into this server");
    if (rest_text_field(rest_field(body, "extensions"), "poolRef"))
        return rest_error_set(error, 501, "KUBERNETES::POOL_NOT_SUPPORTED",
                              "extensions: poolRef: pools are not built into this server");
    return 0;
}

static int check_features(const struct osb_json *body, struct rest_error *error)
{
    if (osb_json_bool_or(rest_field(body, "secureAccess"), false))
        return rest_error_set(error, 400, REST_INVALID_PARAMETER,
                              "secureAccess needs an ingress gateway, and none is configured");
    if (rest_field(body, "networkPolicy"))
        return rest_error_set(error, 400, REST_INVALID_PARAMETER,
                              "networkPolicy: no egress image is configured, a policy would not be "
                              "enforced");
    if (rest_field(body, "lifecycle"))
        return rest_error_set(error, 400, REST_INVALID_PARAMETER,
                              "lifecycle: hooks are not built into this server");
    if (rest_field(rest_field(body, "image"), "auth"))
        return rest_error_set(error, 400, REST_INVALID_PARAMETER,
                              "image.auth: registries with credentials are not built into this "
                              "server; load the image on the node instead");
    return 0;
}

static int check_volumes(const struct osb_json *body, struct rest_error *error)
{
    const struct osb_json *first = osb_json_at(rest_field(body, "volumes"), 0);
    if (!first)
        return 0;
    if (rest_field(first, "host"))
        return rest_error_set(error, 400, "VOLUME::HOST_PATH_NOT_ALLOWED",
                              "volumes: no host path is allowed by this server");
    if (rest_field(first, "pvc"))
        return rest_error_set(error, 400, "VOLUME::UNSUPPORTED_BACKEND",
                              "volumes: persistent volume claims are not built into this server");
    if (rest_field(first, "ossfs"))
        return rest_error_set(error, 400, REST_INVALID_PARAMETER,
                              "volumes: ossfs is not built into this server");
    return rest_error_set(error, 400, "VOLUME::INVALID_BACKEND",
                          "volumes: exactly one of host, pvc and ossfs must be given");
}

/* ---- the rest ---- */

static int read_metadata(const struct osb_json *body, struct create_spec *spec,
                         struct rest_error *error)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    spec->metadata = rest_field(body, "metadata");
    while (osb_json_next_member(spec->metadata, &cursor, &key, &value)) {
        const char *problem = rest_label_problem(key, osb_json_str(value));
        if (problem)
            return rest_error_set(error, 400, "SANDBOX::INVALID_METADATA_LABEL", "metadata: %s",
                                  problem);
    }
    return 0;
}

static const char *choose(struct osb_slice text, const char *const words[2])
{
    text = osb_slice_trim(text);
    for (int i = 0; i < 2; i++)
        if (osb_slice_ieq_str(text, words[i]))
            return words[i];
    return NULL;
}

static int read_platform(const struct osb_json *body, struct create_spec *spec,
                         struct rest_error *error)
{
    static const char *const systems[2] = {"linux", "windows"};
    static const char *const archs[2] = {"amd64", "arm64"};
    const struct osb_json *platform = rest_field(body, "platform");
    if (!platform)
        return 0;
    spec->os = choose(osb_json_str(osb_json_get(platform, "os")), systems);
    spec->arch = choose(osb_json_str(osb_json_get(platform, "arch")), archs);
    if (!spec->os || !spec->arch)
        return rest_error_set(error, 400, REST_INVALID_PARAMETER,
                              "platform: os must be linux or windows, arch amd64 or arm64");
    if (strcmp(spec->os, "windows") == 0)
        return rest_error_set(error, 400, REST_INVALID_PARAMETER,
                              "platform: windows is not built into this server");
    return 0;
}

static int read_timeout(const struct osb_json *body, const struct config *config,
                        struct create_spec *spec, struct rest_error *error)
{
    int64_t limit = config->server.max_sandbox_timeout_s;
    spec->timeout_s = osb_json_i64_or(rest_field(body, "timeout"), 0);
    if (limit > 0 && spec->timeout_s > limit)
        return rest_error_set(error, 400, REST_INVALID_PARAMETER,
                              "timeout must be at most %lld seconds", (long long)limit);
    if (spec->timeout_s > REST_MAX_TIMEOUT_S)
        return rest_error_set(error, 400, REST_INVALID_PARAMETER,
                              "timeout is too far in the future");
    return 0;
}

int create_spec_read(const struct osb_json *body, const struct config *config,
                     struct create_spec *spec, struct rest_error *error)
{
    *spec = (struct create_spec){0};
    rest_schema_check(body, &error->problems);
    int r = rest_error_from_problems(error);
    if (r < 0 || (r = read_extensions(body, spec, error)) < 0 ||
        (r = check_sources(body, error)) < 0 || (r = read_metadata(body, spec, error)) < 0 ||
        (r = read_platform(body, spec, error)) < 0 ||
        (r = read_timeout(body, config, spec, error)) < 0 ||
        (r = check_features(body, error)) < 0 || (r = check_volumes(body, error)) < 0)
        return r;
    spec->image = osb_json_cstr(osb_json_get_path(body, "image.uri"));
    spec->entrypoint = rest_field(body, "entrypoint");
    spec->env = rest_field(body, "env");
    spec->limits = rest_field(body, "resourceLimits");
    spec->requests = rest_field(body, "resourceRequests");
    return rest_resources_check(spec->limits, spec->requests, error);
}
