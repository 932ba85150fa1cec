// SPDX-License-Identifier: Apache-2.0
/* The keys of the configuration are one table; the rest walks it. */
#include "config.h"

#include <osb/alloc.h>
#include <osb/api_quantity.h>
#include <osb/fd.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "toml.h"

enum kind {
    IGNORED, /* a key of the public server that has no use here */
    STRING,
    SECRET,
    INTEGER,   /* an int field */
    INTEGER64, /* an int64_t field */
    SECONDS,   /* seconds on the page, milliseconds in the field */
    FRACTION,
    BOOLEAN,
    LOG_LEVEL,
    WORD,     /* one of two words: the field says whether it is the second */
    RESOURCES /* tables `limits` and `requests` of quantities */
};

struct key {
    const char *section;
    const char *name; /* NULL: the whole section */
    enum kind kind;
    size_t offset;
    double min; /* of numbers */
    double max;
    const char *words[2];
};

#define FIELD(member) offsetof(struct config, member)

static const struct key keys[] = {
    {"server", "host", STRING, FIELD(server.host)},
    {"server", "port", INTEGER, FIELD(server.port), 0, 65535},
    {"server", "api_key", SECRET, FIELD(server.api_key)},
    {"server", "proxy_open", BOOLEAN, FIELD(server.is_proxy_open)},
    {"server", "eip", STRING, FIELD(server.eip)},
    {"server", "max_sandbox_timeout_seconds", INTEGER64, FIELD(server.max_sandbox_timeout_s), 60,
     1e12},
    {"server", "timeout_keep_alive", INTEGER, FIELD(server.keep_alive_s), 1, 86400},
    {"server", "limit_concurrency", INTEGER, FIELD(server.max_connections), 0, 1000000},
    {"server", "timeout_graceful_shutdown", INTEGER, FIELD(server.drain_s), 1, 3600},
    {"server", "backlog", IGNORED},
    {"server", "thread_pool_size", IGNORED},
    {"server", "loop", IGNORED},
    {"server", "http", IGNORED},
    {"log", "level", LOG_LEVEL, FIELD(log_level)},
    {"log", "file_enabled", IGNORED},
    {"log", "file_path", IGNORED},
    {"log", "access_file_path", IGNORED},
    {"log", "file_max_bytes", IGNORED},
    {"log", "file_backup_count", IGNORED},
    {"runtime", "type", WORD, 0, 0, 0, {"kubernetes", NULL}},
    {"runtime", "execd_image", STRING, FIELD(runtime.execd_image)},
    {"runtime", "execd_run_as_init", BOOLEAN, FIELD(runtime.runs_execd_as_init)},
    {"kubernetes", "kubeconfig_path", STRING, FIELD(kubernetes.kubeconfig)},
    {"kubernetes", "namespace", STRING, FIELD(kubernetes.namespace_)},
    {"kubernetes", "image_pull_policy", STRING, FIELD(kubernetes.image_pull_policy)},
    {"kubernetes", "batchsandbox_template_file", STRING, FIELD(kubernetes.template_file)},
    {"kubernetes",
     "execd_injection",
     WORD,
     FIELD(kubernetes.is_injected_by_node),
     0,
     0,
     {"init-container", "shim"}},
    {"kubernetes", "execd_init_resources", RESOURCES, FIELD(kubernetes.execd_init_resources)},
    {"kubernetes", "create_wait_seconds", SECONDS, FIELD(kubernetes.create_wait_ms), 0, 3600},
    {"kubernetes", "endpoint_wait_seconds", SECONDS, FIELD(kubernetes.endpoint_wait_ms), 0, 3600},
    {"kubernetes", "request_fraction_of_limits", FRACTION, FIELD(kubernetes.request_fraction), 0,
     1},
    {"kubernetes", "workload_provider", WORD, 0, 0, 0, {"batchsandbox", NULL}},
    {"kubernetes", "service_account", IGNORED},
    {"kubernetes", "informer_enabled", IGNORED},
    {"kubernetes", "informer_resync_seconds", IGNORED},
    {"kubernetes", "informer_watch_timeout_seconds", IGNORED},
    {"kubernetes", "sandbox_create_timeout_seconds", IGNORED},
    {"kubernetes", "sandbox_create_poll_interval_seconds", IGNORED},
    {"kubernetes", "read_qps", IGNORED},
    {"kubernetes", "write_qps", IGNORED},
    {"kubernetes", "read_burst", IGNORED},
    {"kubernetes", "write_burst", IGNORED},
    {"health", "host", STRING, FIELD(health.host)},
    {"health", "port", INTEGER, FIELD(health.port), 0, 65535},
    {"operator", "concurrency", INTEGER, FIELD(concurrency), 1, 1024},
    {"docker", NULL, IGNORED},
    {"proxy", NULL, IGNORED},
};

enum { KEY_COUNT = sizeof(keys) / sizeof(keys[0]) };

__attribute__((format(printf, 2, 3))) static void warn(struct config *config, const char *format,
                                                       ...)
{
    struct osb_buf text = {0};
    va_list args;
    if (config->warning_count == CONFIG_MAX_WARNINGS)
        return;
    va_start(args, format);
    osb_buf_vappendf(&text, format, args);
    va_end(args);
    config->warnings[config->warning_count++] = osb_buf_take(&text);
}

static void set_defaults(struct config *config)
{
    config->server.host = osb_strdup("0.0.0.0");
    config->server.port = 8080;
    config->server.keep_alive_s = 30;
    config->server.max_connections = 1024;
    config->server.drain_s = 5;
    config->kubernetes.image_pull_policy = osb_strdup("IfNotPresent");
    config->kubernetes.create_wait_ms = 20000;
    config->kubernetes.endpoint_wait_ms = 20000;
    config->kubernetes.request_fraction = 0.1;
    config->health.host = osb_strdup("127.0.0.1");
    config->log_level = OSB_LOG_INFO;
    config->concurrency = 32;
}

void config_done(struct config *config)
{
    for (int i = 0; i < KEY_COUNT; i++)
        if (keys[i].kind == STRING)
            free(*(char **)((char *)config + keys[i].offset));
    osb_json_free(config->kubernetes.execd_init_resources);
    osb_secret_done(&config->server.api_key);
    for (int i = 0; i < config->warning_count; i++)
        free(config->warnings[i]);
    *config = (struct config){0};
}

/* ---- one value ---- */

static int wrong(const struct key *key, const char *must, struct osb_err *err)
{
    return osb_fail(err, -OSB_E_INVALID, "%s.%s must be %s", key->section, key->name, must);
}

static int set_string(const struct key *key, const struct osb_json *value, void *field,
                      struct osb_err *err)
{
    const char *text = osb_json_cstr(value);
    if (!text)
        return wrong(key, "a string", err);
    if (key->kind == SECRET) {
        osb_secret_set(field, osb_slice_str(text));
        return 0;
    }
    char **string = field;
    free(*string);
    *string = osb_strdup(text);
    return 0;
}

static int set_number(const struct key *key, const struct osb_json *value, void *field,
                      struct osb_err *err)
{
    bool is_whole = key->kind == INTEGER || key->kind == INTEGER64;
    double number = osb_json_double_or(value, -1);
    if (osb_json_type(value) != OSB_JSON_NUMBER || number < key->min || number > key->max ||
        (is_whole && number != (double)(int64_t)number))
        return osb_fail(err, -OSB_E_INVALID, "%s.%s must be a%s number from %.0f to %.0f",
                        key->section, key->name, is_whole ? " whole" : "", key->min, key->max);
    if (key->kind == INTEGER)
        *(int *)field = (int)number;
    else if (key->kind == INTEGER64)
        *(int64_t *)field = (int64_t)number;
    else if (key->kind == SECONDS)
        *(int *)field = (int)(number * 1000);
    else
        *(double *)field = number;
    return 0;
}

/* A word with one choice only is checked and not kept. */
static int set_word(const struct key *key, const struct osb_json *value, void *field,
                    struct osb_err *err)
{
    struct osb_slice text = osb_json_str(value);
    for (int i = 0; i < 2 && key->words[i]; i++) {
        if (!osb_slice_ieq_str(text, key->words[i]))
            continue;
        if (key->words[1])
            *(bool *)field = i == 1;
        return 0;
    }
    return osb_fail(err, -OSB_E_INVALID, "%s.%s must be \"%s\"%s%s%s", key->section, key->name,
                    key->words[0], key->words[1] ? " or \"" : "",
                    key->words[1] ? key->words[1] : "", key->words[1] ? "\"" : "");
}

/* The public server's words are upper-case, and it has more of them. */
static int set_log_level(const struct key *key, const struct osb_json *value, void *field,
                         struct osb_err *err)
{
    static const struct {
        const char *word;
        enum osb_log_level level;
    } levels[] = {{"debug", OSB_LOG_DEBUG},  {"info", OSB_LOG_INFO},   {"warn", OSB_LOG_WARN},
                  {"warning", OSB_LOG_WARN}, {"error", OSB_LOG_ERROR}, {"critical", OSB_LOG_ERROR}};
    struct osb_slice text = osb_json_str(value);
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        if (osb_slice_ieq_str(text, levels[i].word)) {
            *(enum osb_log_level *)field = levels[i].level;
            return 0;
        }
    }
    return wrong(key, "debug, info, warn or error", err);
}

static bool are_quantities(const struct osb_json *map)
{
    void *cursor = NULL;
    struct osb_slice name;
    struct osb_json *value;
    int64_t milli;
    while (osb_json_next_member(map, &cursor, &name, &value)) {
        bool is_number = osb_json_type(value) == OSB_JSON_NUMBER;
        if (!is_number && osb_quantity_milli(osb_json_str(value), &milli) < 0)
            return false;
    }
    return osb_json_type(map) == OSB_JSON_OBJECT;
}

static int set_resources(const struct key *key, const struct osb_json *value,
                         struct osb_json **field, struct osb_err *err)
{
    void *cursor = NULL;
    struct osb_slice name;
    struct osb_json *map;
    if (osb_json_type(value) != OSB_JSON_OBJECT)
        return wrong(key, "a table", err);
    while (osb_json_next_member(value, &cursor, &name, &map)) {
        bool is_known = osb_slice_eq_str(name, "limits") || osb_slice_eq_str(name, "requests");
        if (!is_known || !are_quantities(map))
            return wrong(key, "tables `limits` and `requests` of quantities", err);
    }
    osb_json_free(*field);
    *field = osb_json_copy(value);
    return 0;
}

static int set(const struct key *key, const struct osb_json *value, struct config *config,
               struct osb_err *err)
{
    void *field = (char *)config + key->offset;
    switch (key->kind) {
    case IGNORED:
        return 0;
    case STRING:
    case SECRET:
        return set_string(key, value, field, err);
    case INTEGER:
    case INTEGER64:
    case SECONDS:
    case FRACTION:
        return set_number(key, value, field, err);
    case BOOLEAN:
        if (osb_json_type(value) != OSB_JSON_BOOL)
            return wrong(key, "true or false", err);
        *(bool *)field = osb_json_bool_or(value, false);
        return 0;
    case LOG_LEVEL:
        return set_log_level(key, value, field, err);
    case WORD:
        return set_word(key, value, field, err);
    case RESOURCES:
        return set_resources(key, value, field, err);
    }
    return 0;
}

/* ---- the whole ---- */

static const struct key *find_key(struct osb_slice section, struct osb_slice name)
{
    for (int i = 0; i < KEY_COUNT; i++)
        if (osb_slice_eq_str(section, keys[i].section) &&
            (!keys[i].name || osb_slice_eq_str(name, keys[i].name)))
            return &keys[i];
    return NULL;
}

static int read_section(struct osb_slice section, const struct osb_json *members,
                        struct config *config, struct osb_err *err)
{
    void *cursor = NULL;
    struct osb_slice name;
    struct osb_json *value;
    while (osb_json_next_member(members, &cursor, &name, &value)) {
        const struct key *key = find_key(section, name);
        if (!key) {
            warn(config, "unknown key %.*s.%.*s", OSB_SLICE_ARG(section), OSB_SLICE_ARG(name));
            continue;
        }
        int r = set(key, value, config, err);
        if (r < 0)
            return r;
    }
    return 0;
}

int config_read(const struct osb_json *tree, struct config *config, struct osb_err *err)
{
    void *cursor = NULL;
    struct osb_slice section;
    struct osb_json *members;
    set_defaults(config);
    while (osb_json_next_member(tree, &cursor, &section, &members)) {
        if (osb_json_type(members) != OSB_JSON_OBJECT) {
            warn(config, "unknown key %.*s", OSB_SLICE_ARG(section));
            continue;
        }
        int r = read_section(section, members, config, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int parse_file(const char *path, struct osb_json **ret, struct osb_err *err)
{
    _cleanup_buf_ struct osb_buf text = {0};
    int r = osb_read_file(path, CONFIG_MAX_FILE, &text, err);
    if (r < 0)
        return r;
    r = toml_parse(osb_buf_slice(&text), ret, err);
    return osb_wrap(err, r, "%s", path);
}

static void read_environment(struct config *config)
{
    const char *key = getenv("OPENSANDBOX_SERVER_API_KEY");
    const char *insecure = getenv("OPENSANDBOX_INSECURE_SERVER");
    if (key && key[0])
        osb_secret_set(&config->server.api_key, osb_slice_str(key));
    config->server.is_insecure =
        insecure && insecure[0] && strcmp(insecure, "0") != 0 && strcasecmp(insecure, "false") != 0;
}

int config_load(const char *path, struct config *config, struct osb_err *err)
{
    _cleanup_json_ struct osb_json *tree = NULL;
    if (!path)
        path = getenv("SANDBOX_CONFIG_PATH");
    int r = path && path[0] ? parse_file(path, &tree, err) : 0;
    if (r < 0)
        return r;
    if (!tree)
        tree = osb_json_new_object();
    r = config_read(tree, config, err);
    read_environment(config);
    return r;
}
