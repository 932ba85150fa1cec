// SPDX-License-Identifier: Apache-2.0
#include "parts.h"

#include <limits.h>
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AFTER(part) (1U << (part))

/* Where containerd and its client are looked for, beside PATH. */
static const char *const system_path =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

static void add(struct part_command *command, char *owned)
{
    osb_assert(command->count < PART_MAX_ARGS);
    command->argv[command->count++] = owned;
}

static void add_str(struct part_command *command, const char *text)
{
    add(command, osb_strdup(text));
}

/* "--NAME VALUE"; takes VALUE. */
static void add_option(struct part_command *command, const char *name, char *value)
{
    add_str(command, name);
    add(command, value);
}

static char *own_folder(void)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (n < 0)
        n = 0;
    path[n] = '\0';
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
    return osb_strdup(path);
}

char *part_program(const char *name)
{
    _cleanup_free_ char *folder = own_folder();
    return osb_path_join(folder, name);
}

/*
 * What goes into sandboxes. $OPENSANDBOX_EXECD_FOLDER lets an instrumented build, whose execd would
 * not start in an image, take the one of another build.
 */
static char *sandbox_program(const char *name)
{
    const char *folder = getenv("OPENSANDBOX_EXECD_FOLDER");
    return folder && *folder ? osb_path_join(folder, name) : part_program(name);
}

char *part_share(const char *name)
{
    _cleanup_free_ char *folder = own_folder();
    return osb_asprintf("%s/../share/opensandbox/%s", folder, name);
}

static char *system_program(const char *name)
{
    struct osb_slice rest = osb_slice_str(system_path), folder;
    while (osb_slice_split(&rest, ':', &folder)) {
        char *path = osb_asprintf("%.*s/%s", OSB_SLICE_ARG(folder), name);
        if (access(path, X_OK) == 0)
            return path;
        free(path);
    }
    return osb_strdup(name);
}

static char *cri_endpoint(const struct instance *instance)
{
    return osb_asprintf("unix://%s/containerd.sock", instance->run);
}

static void net_command(const struct instance *instance, const char *verb,
                        struct part_command *command)
{
    add(command, part_program("opensandbox-net"));
    add_str(command, verb);
    add_option(command, "--table", osb_strdup(instance->table));
    add_option(command, "--bridge", osb_strdup(instance->bridge));
    add_option(command, "--undo", osb_strdup("/run/opensandbox/forwarding.json"));
}

static void net_up(const struct instance *instance, struct part_command *command)
{
    net_command(instance, "up", command);
    add_option(command, "--subnet", osb_strdup(instance->subnet));
}

void part_net_down(const struct instance *instance, struct part_command *command)
{
    net_command(instance, "down", command);
}

static void containerd(const struct instance *instance, struct part_command *command)
{
    add(command, system_program("containerd"));
    add_option(command, "--config", instance_state_path(instance, "containerd/config.toml"));
    command->socket = instance_run_path(instance, "containerd.sock");
}

static void ctr(const struct instance *instance, struct part_command *command)
{
    add(command, system_program("ctr"));
    add_option(command, "--address", instance_run_path(instance, "containerd.sock"));
    add_option(command, "--namespace", osb_strdup("k8s.io"));
}

static void images(const struct instance *instance, struct part_command *command)
{
    ctr(instance, command);
    add_str(command, "images");
    add_str(command, "import");
    add(command, part_share("images/pause.tar"));
}

static void apiserver(const struct instance *instance, struct part_command *command)
{
    add(command, part_program("opensandbox-apiserver"));
    add_option(command, "--listen", osb_asprintf("127.0.0.1:%d", instance->api_port));
    add_option(command, "--database", instance_state_path(instance, "db/store.sqlite"));
    add_option(command, "--crds", part_share("crds"));
    add_option(command, "--tls-cert", instance_state_path(instance, "pki/apiserver.crt"));
    add_option(command, "--tls-key", instance_state_path(instance, "pki/apiserver.key"));
    add_option(command, "--client-ca", instance_state_path(instance, "pki/ca.crt"));
    add_option(command, "--node-socket", instance_run_path(instance, "node.sock"));
    add_option(command, "--node-name", osb_strdup(instance->node));
    add_option(command, "--ready-fd", osb_asprintf("%d", PART_READY_FD));
}

static void node(const struct instance *instance, struct part_command *command)
{
    add(command, part_program("opensandbox-node"));
    add_option(command, "--kubeconfig", instance_state_path(instance, "node.kubeconfig"));
    add_option(command, "--node-name", osb_strdup(instance->node));
    add_option(command, "--cri", cri_endpoint(instance));
    add_option(command, "--root", instance_state_path(instance, "node"));
    add_option(command, "--socket", instance_run_path(instance, "node.sock"));
    add_option(command, "--execd", sandbox_program("execd"));
    add_option(command, "--bootstrap", sandbox_program("bootstrap.sh"));
    add_option(command, "--cgroup-parent", osb_strdup(instance->cgroup));
    add_option(command, "--ready-fd", osb_asprintf("%d", PART_READY_FD));
}

void part_node_purge(const struct instance *instance, struct part_command *command)
{
    add(command, part_program("opensandbox-node"));
    add_str(command, "purge");
    add_option(command, "--cri", cri_endpoint(instance));
}

static void operator_command(const struct instance *instance, struct part_command *command)
{
    add(command, part_program("opensandbox-operator"));
    add_option(command, "--kubeconfig", instance_state_path(instance, "operator.kubeconfig"));
    add_option(command, "--config", instance_state_path(instance, "operator.toml"));
    add_option(command, "--ready-fd", osb_asprintf("%d", PART_READY_FD));
}

const struct part parts[PART_COUNT] = {
    [PART_NET] = {"net", "network", 0, READY_BY_END, 10, net_up},
    [PART_CONTAINERD] = {"containerd", "containerd", 0, READY_BY_SOCKET, 30, containerd},
    [PART_IMAGES] = {"images", "pause image", AFTER(PART_CONTAINERD), READY_BY_END, 60, images},
    [PART_APISERVER] = {"apiserver", "API server", 0, READY_BY_FD, 30, apiserver},
    [PART_NODE] = {"node", "node runner",
                   AFTER(PART_NET) | AFTER(PART_IMAGES) | AFTER(PART_APISERVER), READY_BY_FD, 30,
                   node},
    [PART_OPERATOR] = {"operator", "operator", AFTER(PART_APISERVER), READY_BY_FD, 30,
                       operator_command},
};

void part_command_done(struct part_command *command)
{
    for (int i = 0; i < command->count; i++)
        free(command->argv[i]);
    free(command->socket);
    memset(command, 0, sizeof(*command));
}

const struct part *part_by_name(const char *name)
{
    for (int i = 0; i < PART_COUNT; i++) {
        if (!strcmp(parts[i].name, name))
            return &parts[i];
    }
    return NULL;
}

static int check_file(char *owned_path, int mode, const char *hint, struct osb_err *err)
{
    _cleanup_free_ char *path = owned_path;
    if (access(path, mode) == 0)
        return 0;
    return osb_fail(err, -ENOENT, "%s is missing: %s", path, hint);
}

int parts_check_files(struct osb_err *err)
{
    static const char *const own[] = {
        "opensandbox-net", "opensandbox-apiserver", "opensandbox-node", "opensandbox-operator",
        "execd",           "bootstrap.sh"};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        int r = check_file(part_program(own[i]), X_OK, "build it, or install all programs together",
                           err);
        if (r < 0)
            return r;
    }
    int r;
    (void)((r = check_file(system_program("containerd"), X_OK, "install package containerd", err)) <
               0 ||
           (r = check_file(system_program("runc"), X_OK, "install package runc", err)) < 0 ||
           (r = check_file(osb_strdup("/usr/lib/cni/bridge"), X_OK,
                           "install package containernetworking-plugins", err)) < 0 ||
           (r = check_file(part_share("crds"), R_OK, "it comes with the build", err)) < 0 ||
           (r = check_file(part_share("images/pause.tar"), R_OK,
                           "run images/build, which puts it there", err)) < 0);
    return r;
}
