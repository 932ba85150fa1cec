// SPDX-License-Identifier: Apache-2.0
/* kubeconfig files and the files of a service account. */
#include <osb/alloc.h>
#include <osb/fd.h>
#include <osb/json_tree.h>
#include <osb/kube_config.h>
#include <osb/text.h>
#include <osb/yaml.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "config_in_cluster.h"

enum { MAX_KUBECONFIG = 1024 * 1024 };

#define SERVICE_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

void osb_kube_config_done(struct osb_kube_config *config)
{
    free(config->server);
    free(config->namespace_);
    free(config->ca_file);
    free(config->client_certificate_file);
    free(config->client_key_file);
    free(config->token_file);
    osb_secret_done(&config->token);
    for (size_t i = 0; i < config->memory_fd_count; i++)
        close(config->memory_fds[i]);
    free(config->memory_fds);
    *config = (struct osb_kube_config){0};
}

/* The member OF (an object) of the entry of LIST whose name is NAME; NULL when absent. */
static struct osb_json *find_named(const struct osb_json *list, const char *name, const char *of)
{
    for (size_t i = 0; i < osb_json_count(list); i++) {
        struct osb_json *entry = osb_json_at(list, i);
        const char *entry_name = osb_json_cstr(osb_json_get(entry, "name"));
        if (entry_name && strcmp(entry_name, name) == 0)
            return osb_json_get(entry, of);
    }
    return NULL;
}

/* Puts bytes into a file that only this process can open; nothing to clean up after a crash. */
static int keep_in_memory(struct osb_kube_config *config, struct osb_slice bytes, char **ret_path,
                          struct osb_err *err)
{
    int fd = memfd_create("kubeconfig", MFD_CLOEXEC);
    if (fd < 0)
        return osb_fail(err, -errno, "memfd_create: %s", strerror(errno));
    osb_grow(config->memory_fds, config->memory_fd_count, config->memory_fd_cap);
    config->memory_fds[config->memory_fd_count++] = fd;
    int r = osb_write_all(fd, bytes.data, bytes.len);
    if (r < 0)
        return osb_fail(err, r, "memory file: %s", strerror(-r));
    *ret_path = osb_asprintf("/proc/self/fd/%d", fd);
    return 0;
}

/* Reads KEY-data (base64) or KEY (a path) of OBJECT into *RET_PATH; absent leaves it. */
static int read_file_or_data(struct osb_kube_config *config, const struct osb_json *object,
                             const char *key, const char *folder, char **ret_path,
                             struct osb_err *err)
{
    _cleanup_free_ char *data_key = osb_asprintf("%s-data", key);
    struct osb_slice data = osb_json_str(osb_json_get(object, data_key));
    const char *path = osb_json_cstr(osb_json_get(object, key));
    if (data.len > 0) {
        _cleanup_buf_ struct osb_buf bytes = {0};
        int r = osb_base64_decode(&bytes, data);
        if (r < 0)
            return osb_fail(err, -OSB_E_INVALID, "%s is no base64", data_key);
        r = keep_in_memory(config, osb_buf_slice(&bytes), ret_path, err);
        explicit_bzero(bytes.base, bytes.cap);
        return r;
    }
    if (path && path[0])
        *ret_path = path[0] == '/' ? osb_strdup(path) : osb_path_join(folder, path);
    return 0;
}

/* A member that would change who we are or how we connect must not be passed over. */
static int refuse(const struct osb_json *object, const char *const *keys, struct osb_err *err)
{
    for (; *keys; keys++) {
        enum osb_json_type type = osb_json_type(osb_json_get(object, *keys));
        if (type != OSB_JSON_NONE && type != OSB_JSON_NULL)
            return osb_fail(err, -OSB_E_UNSUPPORTED, "%s is not supported", *keys);
    }
    return 0;
}

static int read_cluster(struct osb_kube_config *config, const struct osb_json *cluster,
                        const char *folder, struct osb_err *err)
{
    static const char *const unsupported[] = {"proxy-url", "tls-server-name", NULL};
    const char *server = osb_json_cstr(osb_json_get(cluster, "server"));
    if (!server)
        return osb_fail(err, -OSB_E_INVALID, "cluster without server");
    size_t len = strlen(server);
    while (len > 0 && server[len - 1] == '/')
        len--;
    config->server = osb_strndup(server, len);
    config->is_insecure =
        osb_json_bool_or(osb_json_get(cluster, "insecure-skip-tls-verify"), false);
    int r = refuse(cluster, unsupported, err);
    if (r < 0)
        return r;
    return read_file_or_data(config, cluster, "certificate-authority", folder, &config->ca_file,
                             err);
}

static int read_user(struct osb_kube_config *config, const struct osb_json *user,
                     const char *folder, struct osb_err *err)
{
    static const char *const unsupported[] = {"exec", "auth-provider", "username", "password", "as",
                                              NULL};
    int r = refuse(user, unsupported, err);
    if (r < 0)
        return r;
    r = read_file_or_data(config, user, "client-certificate", folder,
                          &config->client_certificate_file, err);
    if (r < 0)
        return r;
    r = read_file_or_data(config, user, "client-key", folder, &config->client_key_file, err);
    if (r < 0)
        return r;
    osb_secret_set(&config->token, osb_json_str(osb_json_get(user, "token")));
    const char *token_file = osb_json_cstr(osb_json_get(user, "tokenFile"));
    if (token_file)
        config->token_file =
            token_file[0] == '/' ? osb_strdup(token_file) : osb_path_join(folder, token_file);
    return 0;
}

int osb_kube_config_parse(struct osb_slice text, const char *folder, struct osb_kube_config *ret,
                          struct osb_err *err)
{
    _cleanup_json_ struct osb_json *root = NULL;
    int r = osb_yaml_parse(text, &root, err);
    if (r < 0)
        return r;
    const char *current = osb_json_cstr(osb_json_get(root, "current-context"));
    if (!current || !current[0])
        return osb_fail(err, -OSB_E_INVALID, "no current-context");
    const struct osb_json *context = find_named(osb_json_get(root, "contexts"), current, "context");
    if (!context)
        return osb_fail(err, -OSB_E_INVALID, "no context %s", current);
    const char *cluster_name = osb_json_cstr(osb_json_get(context, "cluster"));
    const char *user_name = osb_json_cstr(osb_json_get(context, "user"));
    const char *namespace_ = osb_json_cstr(osb_json_get(context, "namespace"));
    const struct osb_json *cluster =
        cluster_name ? find_named(osb_json_get(root, "clusters"), cluster_name, "cluster") : NULL;
    const struct osb_json *user =
        user_name ? find_named(osb_json_get(root, "users"), user_name, "user") : NULL;
    if (!cluster)
        return osb_fail(err, -OSB_E_INVALID, "context %s has no cluster", current);
    ret->namespace_ = osb_strdup(namespace_ && namespace_[0] ? namespace_ : "default");
    r = read_cluster(ret, cluster, folder, err);
    if (r < 0)
        return osb_wrap(err, r, "cluster %s", cluster_name);
    if (!user)
        return 0;
    r = read_user(ret, user, folder, err);
    return osb_wrap(err, r, "user %s", user_name);
}

static int load_file(const char *path, struct osb_kube_config *ret, struct osb_err *err)
{
    _cleanup_buf_ struct osb_buf text = {0};
    int r = osb_read_file(path, MAX_KUBECONFIG, &text, err);
    if (r < 0)
        return r;
    const char *slash = strrchr(path, '/');
    _cleanup_free_ char *folder =
        slash ? osb_strndup(path, (size_t)(slash - path)) : osb_strdup(".");
    r = osb_kube_config_parse(osb_buf_slice(&text), folder, ret, err);
    explicit_bzero(text.base, text.cap);
    return osb_wrap(err, r, "%s", path);
}

char *kube_config_in_cluster_server(const char *host, const char *port)
{
    bool is_ipv6 = strchr(host, ':') != NULL;
    return is_ipv6 ? osb_asprintf("https://[%s]:%s", host, port)
                   : osb_asprintf("https://%s:%s", host, port);
}

static int load_in_cluster(const char *host, const char *port, struct osb_kube_config *ret,
                           struct osb_err *err)
{
    _cleanup_buf_ struct osb_buf namespace_ = {0};
    int r = osb_read_file(SERVICE_ACCOUNT "/namespace", 256, &namespace_, err);
    if (r < 0)
        return osb_wrap(err, r, "in-cluster configuration");
    ret->server = kube_config_in_cluster_server(host, port);
    ret->namespace_ = osb_buf_take(&namespace_);
    ret->namespace_[strcspn(ret->namespace_, "\r\n ")] = '\0';
    ret->ca_file = osb_strdup(SERVICE_ACCOUNT "/ca.crt");
    ret->token_file = osb_strdup(SERVICE_ACCOUNT "/token");
    return 0;
}

int osb_kube_config_load(const char *path, struct osb_kube_config *ret, struct osb_err *err)
{
    if (!path || !path[0])
        path = getenv("KUBECONFIG");
    if (path && path[0])
        return load_file(path, ret, err);
    const char *host = getenv("KUBERNETES_SERVICE_HOST");
    const char *port = getenv("KUBERNETES_SERVICE_PORT");
    if (host && port)
        return load_in_cluster(host, port, ret, err);
    const char *home = getenv("HOME");
    if (!home)
        return osb_fail(err, -OSB_E_NOT_FOUND, "no kubeconfig: no KUBECONFIG, no HOME");
    _cleanup_free_ char *file = osb_path_join(home, ".kube/config");
    return load_file(file, ret, err);
}
