// SPDX-License-Identifier: Apache-2.0
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <osb/kube_config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// cmocka needs the ones above first
#include <cmocka.h>

#include "config_in_cluster.h"

static int parse(const char *text, struct osb_kube_config *config, struct osb_err *err)
{
    return osb_kube_config_parse(osb_slice_str(text), "/etc/kube", config, err);
}

static const char full[] = "apiVersion: v1\n"
                           "kind: Config\n"
                           "current-context: here\n"
                           "contexts:\n"
                           "- name: there\n"
                           "  context: {cluster: b, user: bob}\n"
                           "- name: here\n"
                           "  context: {cluster: a, user: alice, namespace: boxes}\n"
                           "clusters:\n"
                           "- name: a\n"
                           "  cluster: {server: 'https://127.0.0.1:6443/',\n"
                           "            certificate-authority-data: Q0E=}\n"
                           "- name: b\n"
                           "  cluster: {server: 'https://b'}\n"
                           "users:\n"
                           "- name: alice\n"
                           "  user: {client-certificate: pki/a.crt, client-key: /abs/a.key,\n"
                           "         token: s3cret}\n";

static void test_the_current_context_decides(void **state)
{
    (void)state;
    _cleanup_kube_config_ struct osb_kube_config config = {0};
    assert_int_equal(parse(full, &config, NULL), 0);
    assert_string_equal(config.server, "https://127.0.0.1:6443");
    assert_string_equal(config.namespace_, "boxes");
    assert_string_equal(config.client_certificate_file, "/etc/kube/pki/a.crt");
    assert_string_equal(config.client_key_file, "/abs/a.key");
    assert_true(osb_secret_eq(&config.token, OSB_SLICE("s3cret")));
    assert_false(config.is_insecure);
}

static void test_inline_data_can_be_read_as_a_file_and_goes_with_the_configuration(void **state)
{
    (void)state;
    struct osb_kube_config config = {0};
    assert_int_equal(parse(full, &config, NULL), 0);
    _cleanup_free_ char *path = osb_strdup(config.ca_file);
    _cleanup_buf_ struct osb_buf text = {0};
    assert_int_equal(osb_read_file(path, 100, &text, NULL), 0);
    assert_string_equal(osb_buf_cstr(&text), "CA");
    osb_kube_config_done(&config);
    assert_true(osb_read_file(path, 100, &text, NULL) < 0);
}

static void test_what_is_not_done_is_refused_not_ignored(void **state)
{
    static const struct {
        const char *user;
        const char *cluster;
        const char *word;
    } cases[] = {
        {"{exec: {command: x}}", "{server: 'https://a'}", "exec"},
        {"{auth-provider: {name: x}}", "{server: 'https://a'}", "auth-provider"},
        {"{username: x, password: y}", "{server: 'https://a'}", "username"},
        {"{as: root}", "{server: 'https://a'}", "as is"},
        {"{}", "{server: 'https://a', proxy-url: 'http://p'}", "proxy-url"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        _cleanup_kube_config_ struct osb_kube_config config = {0};
        struct osb_err err = {0};
        _cleanup_free_ char *text = osb_asprintf(
            "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
            "clusters: [{name: k, cluster: %s}]\nusers: [{name: u, user: %s}]\n",
            cases[i].cluster, cases[i].user);
        assert_int_equal(parse(text, &config, &err), -OSB_E_UNSUPPORTED);
        assert_non_null(strstr(err.message, cases[i].word));
    }
}

static void test_broken_files_are_errors_that_say_what_is_wrong(void **state)
{
    static const struct {
        const char *text;
        const char *word;
    } cases[] = {
        {"{", ""},
        {"a: b", "current-context"},
        {"current-context: c", "no context c"},
        {"current-context: c\ncontexts: [{name: c, context: {cluster: k}}]", "no cluster"},
        {"current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n"
         "clusters: [{name: k, cluster: {}}]",
         "without server"},
        {"current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n"
         "clusters: [{name: k, cluster: {server: x, certificate-authority-data: '!'}}]",
         "base64"},
        {"current-context: 7\ncontexts: 8", "current-context"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        _cleanup_kube_config_ struct osb_kube_config config = {0};
        struct osb_err err = {0};
        assert_true(parse(cases[i].text, &config, &err) < 0);
        assert_non_null(strstr(err.message, cases[i].word));
    }
}

static void test_the_address_of_a_pods_api_server_has_brackets_for_ipv6(void **state)
{
    static const struct {
        const char *host;
        const char *server;
    } cases[] = {
        {"10.96.0.1", "https://10.96.0.1:443"},
        {"fd00:10:96::1", "https://[fd00:10:96::1]:443"},
        {"kubernetes.default.svc", "https://kubernetes.default.svc:443"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        _cleanup_free_ char *server = kube_config_in_cluster_server(cases[i].host, "443");
        assert_string_equal(server, cases[i].server);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_current_context_decides),
        cmocka_unit_test(test_inline_data_can_be_read_as_a_file_and_goes_with_the_configuration),
        cmocka_unit_test(test_what_is_not_done_is_refused_not_ignored),
        cmocka_unit_test(test_broken_files_are_errors_that_say_what_is_wrong),
        cmocka_unit_test(test_the_address_of_a_pods_api_server_has_brackets_for_ipv6),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
