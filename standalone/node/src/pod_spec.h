// SPDX-License-Identifier: Apache-2.0
/*
 * A pod as the node runner understands it: parsed once from the API object, in one arena. What the
 * runner does not do is refused here with a reason, so that no pod runs with less than it asked
 * for.
 */
#ifndef NODE_POD_SPEC_H
#define NODE_POD_SPEC_H

#include <osb/arena.h>
#include <osb/err.h>
#include <osb/json_tree.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POD_INJECT_ANNOTATION "opensandbox.io/inject"
#define POD_INJECT_EXECD      "execd"
/* A pod without a version has execd from elsewhere: nothing is asked of its node. */
#define POD_INJECT_VERSION_ANNOTATION   "opensandbox.io/inject-version"
#define POD_INJECT_VERSION              "1"
#define POD_INJECT_CONTAINER_ANNOTATION "opensandbox.io/inject-container"
#define POD_SANDBOX_CONTAINER           "sandbox"

enum {
    POD_MAX_CONTAINERS = 32, /* init containers included */
    POD_MAX_VOLUMES = 64,
    POD_DEFAULT_GRACE_S = 30,
};

struct env_spec {
    const char *name;
    enum { ENV_VALUE, ENV_SECRET, ENV_FIELD } source;
    const char *value;  /* ENV_VALUE; ENV_FIELD: the field path */
    const char *secret; /* ENV_SECRET */
    const char *key;
    bool is_optional;
};

struct mount_spec {
    const char *volume;
    const char *path;
    const char *sub_path; /* NULL for none */
    bool is_read_only;
};

struct volume_spec {
    const char *name;
    enum { VOLUME_EMPTY_DIR, VOLUME_HOST_PATH, VOLUME_SECRET } type;
    bool is_memory;        /* emptyDir in tmpfs */
    int64_t size_limit;    /* bytes of a tmpfs; 0 for none */
    const char *host_path; /* VOLUME_HOST_PATH */
    const char *host_type; /* "", DirectoryOrCreate, … */
    const char *secret;    /* VOLUME_SECRET */
    bool is_optional;
    int mode;                     /* of secret files */
    const struct osb_json *items; /* secret items, borrowed from the object; NULL: all keys */
};

struct security_spec {
    bool has_user;
    int64_t user;
    bool has_group;
    int64_t group;
    bool is_privileged;
    bool is_root_read_only;
    bool must_not_escalate; /* allowPrivilegeEscalation: false */
    const char *const *add_capabilities;
    size_t add_count;
    const char *const *drop_capabilities;
    size_t drop_count;
    bool is_seccomp_default; /* seccompProfile RuntimeDefault */
};

struct container_spec {
    const char *name;
    const char *image;
    const char *pull_policy; /* Always, IfNotPresent, Never */
    const char **command;
    size_t command_count;
    const char **args;
    size_t arg_count;
    const char *working_dir;
    struct env_spec *env;
    size_t env_count;
    struct mount_spec *mounts;
    size_t mount_count;
    struct security_spec security;
    int64_t cpu_request_milli;
    int64_t cpu_limit_milli; /* 0 for none */
    int64_t memory_request;  /* bytes */
    int64_t memory_limit;    /* bytes; 0 for none */
    bool has_stdin;
    bool has_stdin_once;
    bool has_tty;
    bool is_init;
};

struct pod_spec {
    struct osb_arena arena;
    struct osb_json *object; /* owned: items and labels are read from it */
    const char *uid;
    const char *namespace_;
    const char *name;
    const char *hostname;
    enum { RESTART_ALWAYS, RESTART_ON_FAILURE, RESTART_NEVER } restart;
    struct container_spec containers[POD_MAX_CONTAINERS]; /* init containers first */
    size_t container_count;
    size_t init_count;
    struct volume_spec volumes[POD_MAX_VOLUMES];
    size_t volume_count;
    const int64_t *supplemental_groups; /* fsGroup included */
    size_t supplemental_count;
    bool has_fs_group;
    int64_t fs_group;
    bool is_host_network;
    bool is_host_pid;
    bool is_host_ipc;
    bool shares_processes;
    const char *runtime_class;
    int64_t grace_s;
    int64_t deadline_s; /* activeDeadlineSeconds; 0 for none */
    int inject;         /* index of the container that gets execd; -1 for none */
};

/*
 * Parses OBJECT (taken in every case). -OSB_E_UNSUPPORTED: the pod asks for what is not built, the
 * message says what. -OSB_E_INVALID: it is no pod. Free with pod_spec_free().
 */
int pod_spec_parse(struct osb_json *object, struct pod_spec **ret, struct osb_err *err);
void pod_spec_free(struct pod_spec *spec);

#endif
