// SPDX-License-Identifier: Apache-2.0
#include "inject.h"

#include "runtime_v1.pb-c.h"

#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <stdio.h>

typedef Runtime__V1__CreateContainerRequest create_request;

/* The volume of the operator's init container, as the kubelet names its folder. */
#define INSTALLER_VOLUME "/volumes/kubernetes.io~empty-dir/opensandbox-bin"

static void cleanup_request(create_request **request)
{
    if (*request)
        runtime__v1__create_container_request__free_unpacked(*request, NULL);
}

const char *inject_outcome_name(enum inject_outcome outcome)
{
    static const char *const names[INJECT_OUTCOME_COUNT] = {
        [INJECT_NOT_ASKED] = "not_asked",   [INJECT_DONE] = "injected",
        [INJECT_PRESENT] = "present",       [INJECT_UNREADABLE] = "unreadable",
        [INJECT_NO_VERSION] = "no_version", [INJECT_NO_FILES] = "no_files",
    };

    return names[outcome];
}

/* ---- reading ---- */

static const char *annotation(const Runtime__V1__PodSandboxConfig *pod, const char *key)
{
    for (size_t i = 0; pod && i < pod->n_annotations; i++)
        if (strcmp(pod->annotations[i]->key, key) == 0)
            return pod->annotations[i]->value;
    return NULL;
}

static const char *container_name(const create_request *request)
{
    const Runtime__V1__ContainerConfig *config = request->config;

    return config && config->metadata ? config->metadata->name : "";
}

static void describe(const create_request *request, struct inject_subject *ret)
{
    const Runtime__V1__PodSandboxConfig *pod = request->sandbox_config;

    snprintf(ret->sandbox_id, INJECT_NAME_MAX, "%s", request->pod_sandbox_id);
    snprintf(ret->container, INJECT_NAME_MAX, "%s", container_name(request));
    if (!pod || !pod->metadata)
        return;
    snprintf(ret->namespace_, INJECT_NAME_MAX, "%s", pod->metadata->namespace_);
    snprintf(ret->pod, INJECT_NAME_MAX, "%s", pod->metadata->name);
}

/*
 * A pod with the mark but no version gets its execd from an init container. Which container is
 * the first of its pod cannot be seen from here, so without a name it is the one named `sandbox`.
 */
static bool is_asked(const create_request *request)
{
    const char *inject = annotation(request->sandbox_config, INJECT_ANNOTATION);
    const char *version = annotation(request->sandbox_config, INJECT_VERSION_ANNOTATION);
    const char *named = annotation(request->sandbox_config, INJECT_CONTAINER_ANNOTATION);

    return *container_name(request) && inject && version && strcmp(inject, INJECT_EXECD) == 0 &&
           strcmp(container_name(request), named ? named : INJECT_DEFAULT_CONTAINER) == 0;
}

static bool is_one_of_ours(const char *path)
{
    return strcmp(path, INJECT_EXECD_PATH) == 0 || strcmp(path, INJECT_BOOTSTRAP_PATH) == 0;
}

/* A volume of the user's own at the folder stays what it is: the files are bound over it. */
static bool is_present(const Runtime__V1__ContainerConfig *config)
{
    for (size_t i = 0; i < config->n_mounts; i++) {
        const Runtime__V1__Mount *mount = config->mounts[i];

        if (is_one_of_ours(mount->container_path))
            return true;
        if (strcmp(mount->container_path, INJECT_FOLDER) == 0 &&
            osb_slice_ends(osb_slice_str(mount->host_path), OSB_SLICE(INSTALLER_VOLUME)))
            return true;
    }
    return false;
}

static enum inject_outcome decide(const create_request *request, const struct inject_files *files)
{
    const char *version;

    if (!is_asked(request))
        return INJECT_NOT_ASKED;
    version = annotation(request->sandbox_config, INJECT_VERSION_ANNOTATION);
    if (strcmp(version, INJECT_VERSION) != 0)
        return INJECT_NO_VERSION;
    if (is_present(request->config))
        return INJECT_PRESENT;
    return files->execd ? INJECT_DONE : INJECT_NO_FILES;
}

/* ---- writing ---- */

static void append_packed(struct osb_buf *out, const ProtobufCMessage *message)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    char *room = osb_buf_reserve(out, size);

    if (!room)
        return;
    protobuf_c_message_pack(message, (uint8_t *)room);
    osb_buf_commit(out, size);
}

static Runtime__V1__Mount bind_of(const char *host_path, const char *container_path)
{
    Runtime__V1__Mount mount = RUNTIME__V1__MOUNT__INIT;

    mount.host_path = (char *)host_path;
    mount.container_path = (char *)container_path;
    mount.readonly = true;
    return mount;
}

static void append_mounts(const struct inject_files *files, struct osb_buf *out)
{
    create_request added = RUNTIME__V1__CREATE_CONTAINER_REQUEST__INIT;
    Runtime__V1__ContainerConfig config = RUNTIME__V1__CONTAINER_CONFIG__INIT;
    Runtime__V1__Mount execd = bind_of(files->execd, INJECT_EXECD_PATH);
    Runtime__V1__Mount bootstrap = bind_of(files->bootstrap, INJECT_BOOTSTRAP_PATH);
    Runtime__V1__Mount *mounts[] = {&execd, &bootstrap};

    config.mounts = mounts;
    config.n_mounts = sizeof(mounts) / sizeof(*mounts);
    added.config = &config;
    append_packed(out, &added.base);
}

static int refuse(enum inject_outcome outcome, const create_request *request, struct osb_err *err)
{
    if (outcome == INJECT_NO_FILES)
        return osb_fail(err, -OSB_E_PRECONDITION,
                        INJECT_WORDS "this node has no execd to put into %s: the shim was started "
                                     "without --execd and --bootstrap",
                        container_name(request));
    return osb_fail(err, -OSB_E_PRECONDITION,
                    INJECT_WORDS "the pod asks for " INJECT_VERSION_ANNOTATION
                                 " %.32s, this node has " INJECT_VERSION,
                    annotation(request->sandbox_config, INJECT_VERSION_ANNOTATION));
}

int inject_create_container(struct osb_slice bytes, const struct inject_files *files,
                            struct osb_buf *out, enum inject_outcome *ret_outcome,
                            struct inject_subject *ret_subject, struct osb_err *err)
{
    __attribute__((cleanup(cleanup_request))) create_request *request = NULL;

    *ret_outcome = INJECT_NOT_ASKED;
    *ret_subject = (struct inject_subject){0};
    /* Most containers are none of ours: their requests are not even read. */
    if (osb_slice_find_slice(bytes, OSB_SLICE(INJECT_VERSION_ANNOTATION)) < 0)
        return 0;
    request =
        runtime__v1__create_container_request__unpack(NULL, bytes.len, (const uint8_t *)bytes.data);
    if (!request) {
        *ret_outcome = INJECT_UNREADABLE;
        return 0;
    }
    describe(request, ret_subject);
    *ret_outcome = decide(request, files);
    if (*ret_outcome == INJECT_NO_VERSION || *ret_outcome == INJECT_NO_FILES)
        return refuse(*ret_outcome, request, err);
    if (*ret_outcome == INJECT_DONE) {
        osb_buf_append_slice(out, bytes);
        append_mounts(files, out);
    }
    return 0;
}
