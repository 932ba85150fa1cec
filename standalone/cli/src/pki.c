// SPDX-License-Identifier: Apache-2.0
#include "pki.h"

#include <osb/buf.h>
#include <osb/ca.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <osb/text.h>
#include <string.h>
#include <unistd.h>

enum { PEM_MAX = 64 * 1024, API_KEY_MAX = 1024 };

/* One certificate: who it is for, and the kubeconfig that goes with it. */
struct identity {
    const char *name; /* of the files in pki/ */
    const char *common_name;
    const char *organization;
    const char *kubeconfig; /* below the state folder; NULL for none */
    bool is_server;
    bool is_inline; /* certificates inside the kubeconfig, so that it can be copied away */
};

static const struct identity identities[] = {
    {"apiserver", "opensandbox-apiserver", NULL, NULL, true, false},
    {"admin", "opensandbox-admin", "system:masters", "kubeconfig", false, true},
    {"operator", "opensandbox-operator", "opensandbox:operator", "operator.kubeconfig", false,
     false},
    {"node", "system:node:embedded", "system:nodes", "node.kubeconfig", false, false},
};

static void append_file_base64(const char *path, struct osb_buf *out)
{
    _cleanup_buf_ struct osb_buf text = {0};
    int r = osb_read_file(path, PEM_MAX, &text, NULL);
    if (r < 0)
        out->err = r;
    osb_base64_encode(out, osb_buf_slice(&text));
    explicit_bzero(text.base, text.cap);
}

/* '  KEY: "PATH"' or "  KEY-data: BASE64". */
static void append_credential(struct osb_buf *out, const char *key, const char *path,
                              bool is_inline)
{
    osb_buf_appendf(out, "    %s%s: ", key, is_inline ? "-data" : "");
    if (is_inline)
        append_file_base64(path, out);
    else
        osb_buf_appendf(out, "\"%s\"",
                        path); /* instance_state_folder() has seen to its characters */
    osb_buf_append_char(out, '\n');
}

static int write_kubeconfig(const struct instance *instance, const struct identity *identity,
                            const char *certificate, const char *key, struct osb_err *err)
{
    _cleanup_free_ char *ca = instance_state_path(instance, "pki/ca.crt");
    _cleanup_free_ char *file = instance_state_path(instance, identity->kubeconfig);
    _cleanup_buf_ struct osb_buf text = {0};
    osb_buf_appendf(&text,
                    "apiVersion: v1\nkind: Config\ncurrent-context: opensandbox\n"
                    "clusters:\n- name: opensandbox\n  cluster:\n"
                    "    server: https://127.0.0.1:%d\n",
                    instance->api_port);
    append_credential(&text, "certificate-authority", ca, identity->is_inline);
    osb_buf_appendf(&text, "users:\n- name: %s\n  user:\n", identity->name);
    append_credential(&text, "client-certificate", certificate, identity->is_inline);
    append_credential(&text, "client-key", key, identity->is_inline);
    osb_buf_appendf(&text,
                    "contexts:\n- name: opensandbox\n  context:\n    cluster: opensandbox\n"
                    "    user: %s\n    namespace: default\n",
                    identity->name);
    int r = text.err;
    if (r < 0)
        return osb_fail(err, r, "certificates for %s cannot be read", file);
    r = osb_write_file(file, osb_buf_slice(&text), 0600, err);
    explicit_bzero(text.base, text.cap);
    return r;
}

static int ensure_identity(const struct instance *instance, const struct identity *identity,
                           struct osb_err *err)
{
    static const char *const names[] = {"localhost", "kubernetes", "kubernetes.default", NULL};
    static const char *const addresses[] = {"127.0.0.1", "::1", NULL};
    _cleanup_free_ char *folder = instance_state_path(instance, "pki");
    _cleanup_buf_ struct osb_buf certificate = {0}, key = {0};
    osb_buf_appendf(&certificate, "%s/%s.crt", folder, identity->name);
    osb_buf_appendf(&key, "%s/%s.key", folder, identity->name);
    struct osb_leaf leaf = {
        .common_name = identity->common_name,
        .organization = identity->organization,
        .dns_names = identity->is_server ? names : NULL,
        .ip_addresses = identity->is_server ? addresses : NULL,
        .is_server = identity->is_server,
        .is_client = !identity->is_server,
    };
    int r = osb_ca_issue(folder, &leaf, osb_buf_cstr(&certificate), osb_buf_cstr(&key), err);
    if (r < 0 || !identity->kubeconfig)
        return r;
    return write_kubeconfig(instance, identity, osb_buf_cstr(&certificate), osb_buf_cstr(&key),
                            err);
}

static int ensure_api_key(const struct instance *instance, struct osb_err *err)
{
    _cleanup_secret_ struct osb_secret key = {0};
    _cleanup_free_ char *file = instance_state_path(instance, "api-key");
    if (access(file, F_OK) == 0)
        return pki_api_key(instance, &key, err); /* whoever wrote it meant something by it */
    osb_secret_generate(&key);
    return osb_write_file(file, osb_secret_reveal(&key), 0600, err);
}

int pki_ensure(const struct instance *instance, struct osb_err *err)
{
    _cleanup_free_ char *folder = instance_state_path(instance, "pki");
    int r = osb_ca_ensure(folder, "opensandbox", err);
    for (size_t i = 0; r >= 0 && i < sizeof(identities) / sizeof(identities[0]); i++)
        r = ensure_identity(instance, &identities[i], err);
    if (r >= 0)
        r = ensure_api_key(instance, err);
    return osb_wrap(err, r, "certificates and keys");
}

/* Who writes the file by hand leaves a line end behind. */
static struct osb_slice trim_key(struct osb_slice key)
{
    while (key.len && strchr(" \t\r\n", key.data[0]))
        key = osb_slice_from(key, 1);
    while (key.len && strchr(" \t\r\n", key.data[key.len - 1]))
        key.len--;
    return key;
}

/* It goes into a header, into a TOML string and into a shell's single quotes. */
static bool is_key(struct osb_slice key)
{
    for (size_t i = 0; i < key.len; i++) {
        if (key.data[i] <= ' ' || key.data[i] >= 0x7f || strchr("\"'\\", key.data[i]))
            return false;
    }
    return key.len > 0;
}

int pki_api_key(const struct instance *instance, struct osb_secret *ret, struct osb_err *err)
{
    _cleanup_free_ char *file = instance_state_path(instance, "api-key");
    _cleanup_buf_ struct osb_buf text = {0};
    int r = osb_read_file(file, API_KEY_MAX, &text, err);
    if (r < 0)
        return r;
    struct osb_slice key = trim_key(osb_buf_slice(&text));
    if (is_key(key))
        osb_secret_set(ret, key);
    else
        r = osb_fail(err, -OSB_E_INVALID,
                     "%s holds no key: visible ASCII without quotes and backslashes", file);
    explicit_bzero(text.base, text.cap);
    return r;
}
