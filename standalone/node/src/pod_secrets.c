// SPDX-License-Identifier: Apache-2.0
#include "pod_secrets.h"

#include <osb/alloc.h>
#include <osb/json_tree.h>
#include <osb/secret.h>
#include <osb/text.h>
#include <stdlib.h>
#include <string.h>

struct value {
    struct value *next;
    char *key;
    struct osb_secret bytes;
};

struct fetch {
    struct pod_secrets *secrets;
    struct fetch *next;
    char *name;
    struct osb_kube_call *call;
    bool is_found;
    struct value *values;
};

struct pod_secrets {
    struct fetch *fetches;
    int pending;
    int r;
    struct osb_err err;
    struct osb_defer defer; /* for pods that name none */
    void (*done)(struct pod_secrets *secrets, int r, const struct osb_err *err, void *arg);
    void *arg;
};

static void add_value(struct fetch *fetch, struct osb_slice key, struct osb_slice base64)
{
    _cleanup_buf_ struct osb_buf bytes = {0};
    if (osb_base64_decode(&bytes, base64) < 0)
        return; /* the API server refuses such a Secret */
    struct value *value = osb_new(struct value);
    value->key = osb_slice_dup(key);
    osb_secret_set(&value->bytes, osb_buf_slice(&bytes));
    value->next = fetch->values;
    fetch->values = value;
    if (bytes.base)
        explicit_bzero(bytes.base, bytes.cap);
}

static int read_secret(struct fetch *fetch, struct osb_slice body, struct osb_err *err)
{
    _cleanup_arena_ struct osb_arena arena = {0};
    struct osb_json_reader r;
    struct osb_slice key, name, text;
    osb_json_reader_init(&r, body);
    osb_json_enter_object(&r);
    while (osb_json_next_key(&r, &key)) {
        if (!osb_slice_eq_str(key, "data") || osb_json_peek(&r) != OSB_JSON_OBJECT) {
            osb_json_skip(&r);
            continue;
        }
        osb_json_enter_object(&r);
        while (osb_json_next_key(&r, &name)) {
            text = OSB_SLICE_NULL;
            osb_json_read_string(&r, &arena, &text);
            add_value(fetch, name, text);
        }
    }
    return osb_json_reader_finish(&r, err);
}

static void finish_one(struct pod_secrets *secrets)
{
    if (--secrets->pending == 0)
        secrets->done(secrets, secrets->r, &secrets->err, secrets->arg);
}

static void on_secret(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct fetch *fetch = arg;
    struct pod_secrets *secrets = fetch->secrets;
    struct osb_err own = {0};
    fetch->call = NULL;
    if (r >= 0) {
        fetch->is_found = true;
        r = read_secret(fetch, body, &own);
        err = &own;
    }
    if (r < 0 && r != -OSB_E_NOT_FOUND && secrets->r >= 0) {
        secrets->r = r;
        secrets->err = *err;
    }
    finish_one(secrets);
}

static void on_nothing(struct osb_defer *defer)
{
    finish_one(defer->arg);
}

static struct fetch *find(const struct pod_secrets *secrets, const char *name)
{
    for (struct fetch *fetch = secrets->fetches; fetch; fetch = fetch->next) {
        if (!strcmp(fetch->name, name))
            return fetch;
    }
    return NULL;
}

static void add_name(struct pod_secrets *secrets, const char *name)
{
    if (find(secrets, name))
        return;
    struct fetch *fetch = osb_new(struct fetch);
    fetch->secrets = secrets;
    fetch->name = osb_strdup(name);
    fetch->next = secrets->fetches;
    secrets->fetches = fetch;
}

static void add_names(struct pod_secrets *secrets, const struct pod_spec *spec)
{
    for (size_t i = 0; i < spec->volume_count; i++) {
        if (spec->volumes[i].type == VOLUME_SECRET)
            add_name(secrets, spec->volumes[i].secret);
    }
    for (size_t i = 0; i < spec->container_count; i++) {
        const struct container_spec *container = &spec->containers[i];
        for (size_t e = 0; e < container->env_count; e++) {
            if (container->env[e].source == ENV_SECRET)
                add_name(secrets, container->env[e].secret);
        }
    }
}

bool pod_names_secrets(const struct pod_spec *spec)
{
    struct pod_secrets names = {0};
    add_names(&names, spec);
    bool is_any = names.fetches;
    while (names.fetches) {
        struct fetch *fetch = names.fetches;
        names.fetches = fetch->next;
        free(fetch->name);
        free(fetch);
    }
    return is_any;
}

int pod_secrets_fetch(struct node *node, const struct pod_spec *spec,
                      void (*done)(struct pod_secrets *secrets, int r, const struct osb_err *err,
                                   void *arg),
                      void *arg, struct pod_secrets **ret, struct osb_err *err)
{
    struct pod_secrets *secrets = osb_new(struct pod_secrets);
    secrets->done = done;
    secrets->arg = arg;
    add_names(secrets, spec);
    int r = 0;
    for (struct fetch *fetch = secrets->fetches; r >= 0 && fetch; fetch = fetch->next) {
        r = osb_kube_get(node->kube, &osb_kind_secret, spec->namespace_, fetch->name, on_secret,
                         fetch, &fetch->call, err);
        secrets->pending += r >= 0;
    }
    if (r < 0) {
        pod_secrets_free(secrets);
        return r;
    }
    if (!secrets->fetches) {
        secrets->pending = 1;
        osb_defer_init(&secrets->defer, node->loop, on_nothing, secrets);
        osb_defer_post(&secrets->defer);
    }
    *ret = secrets;
    return 0;
}

void pod_secrets_free(struct pod_secrets *secrets)
{
    if (!secrets)
        return;
    osb_defer_cancel(&secrets->defer);
    while (secrets->fetches) {
        struct fetch *fetch = secrets->fetches;
        secrets->fetches = fetch->next;
        if (fetch->call)
            osb_kube_cancel(fetch->call);
        while (fetch->values) {
            struct value *value = fetch->values;
            fetch->values = value->next;
            osb_secret_done(&value->bytes);
            free(value->key);
            free(value);
        }
        free(fetch->name);
        free(fetch);
    }
    free(secrets);
}

static bool get_value(const char *secret, const char *key, struct osb_slice *ret, void *arg)
{
    const struct fetch *fetch = find(arg, secret);
    for (const struct value *value = fetch ? fetch->values : NULL; value; value = value->next) {
        if (!strcmp(value->key, key)) {
            *ret = osb_secret_reveal(&value->bytes);
            return true;
        }
    }
    return false;
}

static bool each_value(const char *secret,
                       void (*fn)(const char *key, struct osb_slice value, void *fn_arg),
                       void *fn_arg, void *arg)
{
    const struct fetch *fetch = find(arg, secret);
    if (!fetch || !fetch->is_found)
        return false;
    for (const struct value *value = fetch->values; value; value = value->next)
        fn(value->key, osb_secret_reveal(&value->bytes), fn_arg);
    return true;
}

struct secret_source pod_secrets_source(struct pod_secrets *secrets)
{
    return (struct secret_source){.get = get_value, .each = each_value, .arg = secrets};
}
