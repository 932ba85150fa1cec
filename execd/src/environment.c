// SPDX-License-Identifier: Apache-2.0
#include "environment.h"

#include "env_file.h"

#include <osb/fd.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Variables that are execd's business and nobody else's. EXECD_ENVS is not among them: clients
 * append to the file that it names by a command.
 */
static const char *const own_variables[] = {
    "EXECD_ACCESS_TOKEN", "EXECD_ISOLATION_CONFIG", "EXECD_LIFECYCLE_CONFIG", "EXECD_RUNTIME_INIT",
    "JUPYTER_HOST",       "JUPYTER_TOKEN",          "OPENSANDBOX_LIFECYCLE",
};

static bool is_own(struct osb_slice name)
{
    for (size_t i = 0; i < sizeof(own_variables) / sizeof(own_variables[0]); i++)
        if (osb_slice_eq_str(name, own_variables[i]))
            return true;
    return false;
}

void environment_set(struct environment *env, struct osb_slice name, struct osb_slice value)
{
    char *text = osb_arena_alloc(&env->arena, name.len + value.len + 2);

    memcpy(text, name.data, name.len);
    text[name.len] = '=';
    if (value.len > 0)
        memcpy(text + name.len + 1, value.data, value.len);
    osb_map_set(&env->vars, name, text);
}

const char *environment_get(const struct environment *env, struct osb_slice name)
{
    const char *text = osb_map_get(&env->vars, name);

    return text ? text + name.len + 1 : NULL;
}

const char *environment_lookup(struct osb_slice name, void *arg)
{
    return environment_get(arg, name);
}

const char *environment_lookup_own(struct osb_slice name, void *arg)
{
    char text[256];

    (void)arg;
    if (name.len >= sizeof(text))
        return NULL;
    memcpy(text, name.data, name.len);
    text[name.len] = '\0';
    return getenv(text);
}

static void set_from_file(struct osb_slice name, struct osb_slice value, void *arg)
{
    environment_set(arg, name, value);
}

void environment_load(struct environment *env)
{
    _cleanup_buf_ struct osb_buf text = {0};
    const char *path = getenv("EXECD_ENVS");

    *env = (struct environment){0};
    for (char **var = environ; *var; var++) {
        struct osb_slice whole = osb_slice_str(*var);
        ptrdiff_t equals = osb_slice_find(whole, '=');
        if (equals > 0 && !is_own(osb_slice_first(whole, (size_t)equals)))
            environment_set(env, osb_slice_first(whole, (size_t)equals),
                            osb_slice_from(whole, (size_t)equals + 1));
    }
    if (path && *path && osb_read_file(path, ENV_FILE_MAX, &text, NULL) == 0)
        env_file_parse(osb_buf_slice(&text), environment_lookup_own, NULL, set_from_file, env);
}

const char *const *environment_list(struct environment *env)
{
    const char **list = osb_arena_calloc(&env->arena, env->vars.count + 1, sizeof(*list));
    struct osb_map_entry *cursor = NULL;
    struct osb_slice name;
    void *text;
    size_t count = 0;

    while (osb_map_next(&env->vars, &cursor, &name, &text))
        list[count++] = text;
    return list;
}

void environment_done(struct environment *env)
{
    osb_map_done(&env->vars, NULL);
    osb_arena_done(&env->arena);
}
