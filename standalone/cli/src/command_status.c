// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "control_client.h"
#include "pki.h"

#include <errno.h>
#include <osb/cleanup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *command, const struct osb_err *err)
{
    fprintf(stderr, "opensandbox %s: %s\n", command, err->message);
    return 1;
}

static void print_parts(const struct osb_json *parts)
{
    printf("%-12s %-11s %8s %9s %s\n", "PART", "STATE", "PID", "RESTARTS", "READY FOR");
    for (size_t i = 0; i < osb_json_count(parts); i++) {
        const struct osb_json *part = osb_json_at(parts, i);
        char pid[24] = "-", age[24] = "-";
        int64_t number = osb_json_i64_or(osb_json_get(part, "pid"), 0);
        int64_t seconds = osb_json_i64_or(osb_json_get(part, "readySeconds"), -1);
        if (number)
            snprintf(pid, sizeof(pid), "%lld", (long long)number);
        if (seconds >= 0)
            snprintf(age, sizeof(age), "%llds", (long long)seconds);
        printf("%-12s %-11s %8s %9lld %s\n", osb_json_cstr(osb_json_get(part, "name")),
               osb_json_cstr(osb_json_get(part, "state")), pid,
               (long long)osb_json_i64_or(osb_json_get(part, "restarts"), 0), age);
    }
}

static void add_addresses(const struct instance *instance, struct osb_json *status)
{
    char url[128];
    snprintf(url, sizeof(url), "http://%s:%d", instance->rest_address, instance->rest_port);
    osb_json_set(status, "rest", osb_json_new_str(url));
    snprintf(url, sizeof(url), "https://127.0.0.1:%d", instance->api_port);
    osb_json_set(status, "api", osb_json_new_str(url));
    osb_json_set(status, "state", osb_json_new_str(instance->state));
}

int command_status(const char *state, bool is_json)
{
    struct instance instance = {0};
    struct osb_err err = {0};
    _cleanup_json_ struct osb_json *status = NULL;
    int r = instance_load(state, &instance, &err);
    if (r < 0 && r != -OSB_E_NOT_FOUND)
        return fail("status", &err);
    if (r >= 0)
        r = control_call(&instance, "GET", "/v1/status", &status, NULL);
    if (r < 0) {
        printf(is_json ? "{\"up\":false}\n" : "not running (state folder %s)\n", state);
        instance_done(&instance);
        return 1;
    }
    add_addresses(&instance, status);
    bool is_up = osb_json_bool_or(osb_json_get(status, "up"), false);
    if (is_json) {
        _cleanup_buf_ struct osb_buf text = {0};
        osb_json_print(status, &text);
        printf("%s\n", osb_buf_cstr(&text));
    } else {
        printf("opensandbox %s is %s in %s\nREST %s, Kubernetes API %s\n\n", instance.id,
               is_up ? "up" : "not up", instance.state, osb_json_cstr(osb_json_get(status, "rest")),
               osb_json_cstr(osb_json_get(status, "api")));
        print_parts(osb_json_get(status, "parts"));
    }
    instance_done(&instance);
    return is_up ? 0 : 1;
}

/* A value inside single quotes of a shell. */
static void print_export(const char *name, const char *value)
{
    printf("export %s='", name);
    for (; *value; value++)
        printf(*value == '\'' ? "'\\''" : "%c", *value);
    printf("'\n");
}

int command_env(const char *state)
{
    struct instance instance = {0};
    struct osb_err err = {0};
    _cleanup_secret_ struct osb_secret key = {0};
    int r = instance_load(state, &instance, &err);
    if (r >= 0)
        r = pki_api_key(&instance, &key, &err);
    if (r == -ENOENT)
        (void)osb_fail(&err, r, "%s has no key yet; start the engine with `opensandbox up`", state);
    if (r < 0) {
        instance_done(&instance);
        return fail("env", &err);
    }
    char domain[128];
    _cleanup_free_ char *kubeconfig = instance_state_path(&instance, "kubeconfig");
    snprintf(domain, sizeof(domain), "%s:%d", instance.rest_address, instance.rest_port);
    print_export("KUBECONFIG", kubeconfig);
    print_export("OPEN_SANDBOX_DOMAIN", domain);
    print_export("OPEN_SANDBOX_API_KEY", osb_secret_reveal(&key).data);
    print_export("OPEN_SANDBOX_PROTOCOL", "http");
    instance_done(&instance);
    return 0;
}
