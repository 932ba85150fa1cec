// SPDX-License-Identifier: Apache-2.0
#include "pod_inject.h"

#include "operator.h"

/* Where the init container sees the volume: not where its own files are. */
#define INSTALL_FOLDER "/mnt/opensandbox"

enum { INSTALLER_USER = 65532 }; /* any but root: the volume is writable for all */

static struct osb_json *ensure_array(struct osb_json *object, const char *key)
{
    struct osb_json *array = osb_json_get(object, key);
    if (osb_json_type(array) != OSB_JSON_ARRAY) {
        array = osb_json_new_array();
        osb_json_set(object, key, array);
    }
    return array;
}

static void set_str(struct osb_json *object, const char *key, const char *value)
{
    if (value)
        osb_json_set(object, key, osb_json_new_str(value));
}

/* ---- by the node ---- */

/* The node sees containers one by one, so it is told which one is meant. */
static void ask_node(struct osb_json *pod, const struct osb_json *container)
{
    struct osb_json *annotations =
        osb_json_ensure_object(osb_json_ensure_object(pod, "metadata"), "annotations");
    set_str(annotations, ANNOTATION_INJECT_VERSION, INJECT_VERSION);
    osb_json_set(annotations, ANNOTATION_INJECT_CONTAINER,
                 osb_json_new_string(osb_json_str(osb_json_get(container, "name"))));
}

/* ---- by an init container ---- */

static bool has_item(const struct osb_json *list, const char *key, const char *value)
{
    for (size_t i = 0; i < osb_json_count(list); i++)
        if (osb_slice_eq_str(osb_json_str(osb_json_get(osb_json_at(list, i), key)), value))
            return true;
    return false;
}

static int check_room(const struct osb_json *spec, const struct osb_json *container,
                      struct osb_err *err)
{
    if (has_item(osb_json_get(spec, "volumes"), "name", INJECT_VOLUME))
        return osb_fail(err, -OSB_E_INVALID,
                        "the template has a volume " INJECT_VOLUME ": that name is the operator's");
    if (has_item(osb_json_get(spec, "initContainers"), "name", INJECT_CONTAINER))
        return osb_fail(err, -OSB_E_INVALID,
                        "the template has an init container " INJECT_CONTAINER
                        ": that name is the operator's");
    if (has_item(osb_json_get(container, "volumeMounts"), "mountPath", INJECT_FOLDER))
        return osb_fail(err, -OSB_E_INVALID,
                        "the main container has a mount at " INJECT_FOLDER ", where execd is put");
    return 0;
}

/* What the pod security standard "restricted" asks for, and no more than copying needs. */
static struct osb_json *build_security(void)
{
    struct osb_json *security = osb_json_new_object();
    osb_json_set(security, "allowPrivilegeEscalation", osb_json_new_bool(false));
    osb_json_set(security, "readOnlyRootFilesystem", osb_json_new_bool(true));
    osb_json_set(security, "runAsNonRoot", osb_json_new_bool(true));
    osb_json_set(security, "runAsUser", osb_json_new_i64(INSTALLER_USER));
    osb_json_set(security, "runAsGroup", osb_json_new_i64(INSTALLER_USER));
    struct osb_json *drop = ensure_array(osb_json_ensure_object(security, "capabilities"), "drop");
    osb_json_append(drop, osb_json_new_str("ALL"));
    set_str(osb_json_ensure_object(security, "seccompProfile"), "type", "RuntimeDefault");
    return security;
}

/*
 * Those of the main container where nothing is configured: init containers have ended before it
 * starts, so the pod costs nothing more, keeps its quality of service, and passes each quota that
 * the main container passes.
 */
static struct osb_json *build_resources(const struct osb_json *container,
                                        const struct osb_json *configured)
{
    static const char *const kinds[] = {"limits", "requests"};
    static const char *const names[] = {"cpu", "memory", "ephemeral-storage"};
    if (configured)
        return osb_json_copy(configured);
    struct osb_json *resources = osb_json_new_object();
    const struct osb_json *from = osb_json_get(container, "resources");
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++) {
            const struct osb_json *amount = osb_json_get(osb_json_get(from, kinds[i]), names[j]);
            if (amount)
                osb_json_set(osb_json_ensure_object(resources, kinds[i]), names[j],
                             osb_json_copy(amount));
        }
    }
    return resources;
}

static void add_mount(struct osb_json *container, const char *path, const char *sub_path)
{
    struct osb_json *mount = osb_json_new_object();
    set_str(mount, "name", INJECT_VOLUME);
    set_str(mount, "mountPath", path);
    set_str(mount, "subPath", sub_path);
    if (sub_path)
        osb_json_set(mount, "readOnly", osb_json_new_bool(true));
    osb_json_append(ensure_array(container, "volumeMounts"), mount);
}

static struct osb_json *build_installer(const struct osb_json *container,
                                        const struct config *config)
{
    struct osb_json *installer = osb_json_new_object();
    struct osb_json *command = osb_json_new_array();
    osb_json_append(command, osb_json_new_str(LAUNCHER));
    osb_json_append(command, osb_json_new_str("--install"));
    osb_json_append(command, osb_json_new_str(INSTALL_FOLDER));
    set_str(installer, "name", INJECT_CONTAINER);
    set_str(installer, "image", config->runtime.execd_image);
    set_str(installer, "imagePullPolicy", config->kubernetes.image_pull_policy);
    osb_json_set(installer, "command", command);
    add_mount(installer, INSTALL_FOLDER, NULL);
    osb_json_set(installer, "resources",
                 build_resources(container, config->kubernetes.execd_init_resources));
    osb_json_set(installer, "securityContext", build_security());
    return installer;
}

static int add_installer(struct osb_json *spec, struct osb_json *container,
                         const struct config *config, struct osb_err *err)
{
    int r = check_room(spec, container, err);
    if (r < 0)
        return r;
    struct osb_json *volume = osb_json_new_object();
    set_str(volume, "name", INJECT_VOLUME);
    osb_json_ensure_object(volume, "emptyDir");
    osb_json_append(ensure_array(spec, "volumes"), volume);
    osb_json_insert(ensure_array(spec, "initContainers"), 0, build_installer(container, config));
    add_mount(container, INJECT_FOLDER, NULL);
    add_mount(container, INJECT_FOLDER "/execd", "execd");
    add_mount(container, INJECT_FOLDER "/bootstrap.sh", "bootstrap.sh");
    return 0;
}

/* ---- either ---- */

const char *pod_inject_lacks(const struct config *config)
{
    if (config->kubernetes.is_injected_by_node || config->runtime.execd_image)
        return NULL;
    return "this operator has no image to take execd from: set runtime.execd_image, or "
           "kubernetes.execd_injection = \"shim\" where the nodes inject it";
}

int pod_inject(struct osb_json *pod, struct osb_json *container, const struct config *config,
               struct osb_err *err)
{
    const char *lack = pod_inject_lacks(config);
    if (lack)
        return osb_fail(err, -OSB_E_UNSUPPORTED, "%s", lack);
    if (!config->kubernetes.is_injected_by_node)
        return add_installer(osb_json_get(pod, "spec"), container, config, err);
    ask_node(pod, container);
    return 0;
}
