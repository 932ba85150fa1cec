// SPDX-License-Identifier: Apache-2.0
#include "instance.h"

#include "free_net.h"

#include <limits.h>
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <osb/json_tree.h>
#include <osb/json_writer.h>
#include <osb/uuid.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INSTANCE_FILE_MAX = 64 * 1024 };

static const char *const default_state = "/var/lib/opensandbox";
static const char *const run_parent = "/run/opensandbox";

static bool is_usable_path(const char *path)
{
    for (const char *c = path; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f || strchr("\"'\\:,", *c))
            return false;
    }
    return true;
}

int instance_state_folder(const char *flag, char **ret_absolute, struct osb_err *err)
{
    const char *folder = flag;
    if (!folder)
        folder = getenv("OPENSANDBOX_STATE");
    if (!folder || !*folder)
        folder = default_state;
    char cwd[PATH_MAX] = "";
    if (folder[0] != '/' && !getcwd(cwd, sizeof(cwd)))
        return osb_fail(err, -errno, "the current folder has no path");
    if (!is_usable_path(cwd) || !is_usable_path(folder))
        return osb_fail(err, -OSB_E_INVALID,
                        "a state folder's path may have no quotes, backslashes, colons, commas or "
                        "control characters");
    *ret_absolute = folder[0] == '/' ? osb_strdup(folder) : osb_path_join(cwd, folder);
    /* A trailing '/' would make the same folder look like another one. */
    for (size_t n = strlen(*ret_absolute); n > 1 && (*ret_absolute)[n - 1] == '/'; n--)
        (*ret_absolute)[n - 1] = '\0';
    return 0;
}

char *instance_state_path(const struct instance *instance, const char *rest)
{
    return osb_path_join(instance->state, rest);
}

char *instance_run_path(const struct instance *instance, const char *rest)
{
    return osb_path_join(instance->run, rest);
}

static int take_string(const struct osb_json *object, const char *path, char **ret,
                       struct osb_err *err)
{
    const char *value = osb_json_cstr(osb_json_get_path(object, path));
    if (!value || !*value)
        return osb_fail(err, -OSB_E_INVALID, "instance.json: \"%s\" is missing", path);
    *ret = osb_strdup(value);
    return 0;
}

static int take_port(const struct osb_json *object, const char *path, int *ret, struct osb_err *err)
{
    int64_t port = osb_json_i64_or(osb_json_get_path(object, path), 0);
    if (port < 1 || port > 65535)
        return osb_fail(err, -OSB_E_INVALID, "instance.json: \"%s\" is no port", path);
    *ret = (int)port;
    return 0;
}

static int instance_parse(const struct osb_json *object, struct instance *ret, struct osb_err *err)
{
    const char *id = osb_json_cstr(osb_json_get(object, "id"));
    if (!id || strlen(id) != INSTANCE_ID_LEN || strspn(id, "0123456789abcdef") != INSTANCE_ID_LEN)
        return osb_fail(err, -OSB_E_INVALID, "instance.json: \"id\" is not 8 hex digits");
    if (osb_json_i64_or(osb_json_get(object, "version"), 0) != INSTANCE_VERSION)
        return osb_fail(err, -OSB_E_UNSUPPORTED,
                        "instance.json: this program knows version %d only", INSTANCE_VERSION);
    memcpy(ret->id, id, INSTANCE_ID_LEN + 1);
    int r;
    (void)((r = take_string(object, "rest.address", &ret->rest_address, err)) < 0 ||
           (r = take_port(object, "rest.port", &ret->rest_port, err)) < 0 ||
           (r = take_port(object, "api.port", &ret->api_port, err)) < 0 ||
           (r = take_string(object, "bridge", &ret->bridge, err)) < 0 ||
           (r = take_string(object, "subnet", &ret->subnet, err)) < 0 ||
           (r = take_string(object, "table", &ret->table, err)) < 0 ||
           (r = take_string(object, "cgroup", &ret->cgroup, err)) < 0 ||
           (r = take_string(object, "node", &ret->node, err)) < 0 ||
           (r = take_string(object, "run", &ret->run, err)) < 0);
    return r;
}

int instance_load(const char *state, struct instance *ret, struct osb_err *err)
{
    _cleanup_free_ char *file = osb_path_join(state, "instance.json");
    _cleanup_buf_ struct osb_buf text = {0};
    int r = osb_read_file(file, INSTANCE_FILE_MAX, &text, err);
    if (r == -ENOENT)
        return osb_fail(err, -OSB_E_NOT_FOUND, "%s holds no instance", state);
    if (r < 0)
        return r;
    _cleanup_json_ struct osb_json *object = NULL;
    r = osb_json_parse(osb_buf_slice(&text), &object, err);
    if (r < 0)
        return osb_wrap(err, r, "%s", file);
    struct instance instance = {.state = osb_strdup(state)};
    r = instance_parse(object, &instance, err);
    if (r < 0) {
        instance_done(&instance);
        return osb_wrap(err, r, "%s", file);
    }
    *ret = instance;
    return 0;
}

static int instance_write(const struct instance *instance, struct osb_err *err)
{
    _cleanup_buf_ struct osb_buf text = {0};
    struct osb_json_writer w;
    osb_json_writer_init(&w, &text);
    osb_json_begin_object(&w);
    osb_json_kv_string(&w, "id", instance->id);
    osb_json_kv_i64(&w, "version", INSTANCE_VERSION);
    osb_json_key(&w, "rest");
    osb_json_begin_object(&w);
    osb_json_kv_string(&w, "address", instance->rest_address);
    osb_json_kv_i64(&w, "port", instance->rest_port);
    osb_json_end_object(&w);
    osb_json_key(&w, "api");
    osb_json_begin_object(&w);
    osb_json_kv_string(&w, "address", "127.0.0.1");
    osb_json_kv_i64(&w, "port", instance->api_port);
    osb_json_end_object(&w);
    osb_json_kv_string(&w, "bridge", instance->bridge);
    osb_json_kv_string(&w, "subnet", instance->subnet);
    osb_json_kv_string(&w, "table", instance->table);
    osb_json_kv_string(&w, "cgroup", instance->cgroup);
    osb_json_kv_string(&w, "node", instance->node);
    osb_json_kv_string(&w, "run", instance->run);
    osb_json_end_object(&w);
    int r = osb_json_writer_finish(&w, err);
    if (r < 0)
        return r;
    _cleanup_free_ char *file = instance_state_path(instance, "instance.json");
    return osb_write_file(file, osb_buf_slice(&text), 0600, err);
}

static int make_state_folders(const struct instance *instance, struct osb_err *err)
{
    static const char *const folders[] = {
        "pki", "db", "containerd", "cni/net.d", "cni/data", "cni/cache", "node", "logs",
    };
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        _cleanup_free_ char *path = instance_state_path(instance, folders[i]);
        int r = osb_mkdir_p(path, 0700, err);
        if (r < 0)
            return r;
    }
    if (chmod(instance->state, 0700) < 0)
        return osb_fail(err, -errno, "mode of %s: %s", instance->state, strerror(errno));
    return 0;
}

int instance_create(const char *state, struct instance *ret, struct osb_err *err)
{
    struct instance instance = {.state = osb_strdup(state)};
    uint8_t random[INSTANCE_ID_LEN / 2];
    osb_random_bytes(random, sizeof(random));
    osb_hex(random, sizeof(random), instance.id);
    instance.run = osb_path_join(run_parent, instance.id);
    instance.rest_address = osb_strdup("127.0.0.1");
    instance.bridge = osb_asprintf("osb-%s", instance.id);
    instance.table = osb_asprintf("opensandbox_%s", instance.id);
    instance.cgroup = osb_asprintf("/opensandbox-%s", instance.id);
    instance.node = osb_strdup("embedded");
    int r;
    (void)((r = free_net_port(INSTANCE_REST_PORT, &instance.rest_port, err)) < 0 ||
           (r = free_net_port(0, &instance.api_port, err)) < 0 ||
           (r = free_net_subnet(&instance.subnet, err)) < 0 ||
           (r = make_state_folders(&instance, err)) < 0 ||
           (r = instance_write(&instance, err)) < 0);
    if (r < 0) {
        instance_done(&instance);
        return osb_wrap(err, r, "new instance in %s", state);
    }
    *ret = instance;
    return 0;
}

int instance_ensure_ports(struct instance *instance, struct osb_err *err)
{
    int rest_port = 0, api_port = 0, r;
    (void)((r = free_net_port(instance->rest_port, &rest_port, err)) < 0 ||
           (r = free_net_port(instance->api_port, &api_port, err)) < 0);
    if (r < 0 || (rest_port == instance->rest_port && api_port == instance->api_port))
        return r;
    instance->rest_port = rest_port;
    instance->api_port = api_port;
    return instance_write(instance, err);
}

int instance_make_run(const struct instance *instance, struct osb_err *err)
{
    int r = osb_mkdir_p(run_parent, 0755, err);
    if (r < 0)
        return r;
    return osb_mkdir_p(instance->run, 0700, err);
}

int instance_remove(const struct instance *instance, bool is_purge, struct osb_err *err)
{
    int r = osb_remove_tree(instance->run, err);
    if (r < 0)
        return r;
    (void)rmdir(run_parent); /* stays while other instances are there */
    if (is_purge)
        r = osb_remove_tree(instance->state, err);
    return r;
}

void instance_done(struct instance *instance)
{
    free(instance->state);
    free(instance->run);
    free(instance->rest_address);
    free(instance->bridge);
    free(instance->subnet);
    free(instance->table);
    free(instance->cgroup);
    free(instance->node);
    memset(instance, 0, sizeof(*instance));
}
