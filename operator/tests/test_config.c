// SPDX-License-Identifier: Apache-2.0
#include <osb/cleanup.h>
#include <osb/json_tree.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// cmocka needs the ones above first
#include <cmocka.h>

#include "config.h"
#include "toml_to_json.h"

static int read_text(const char *toml, struct config *config, struct osb_err *err)
{
    char why[256];
    _cleanup_json_ struct osb_json *tree = NULL;
    _cleanup_free_ char *json = toml_to_json(toml, strlen(toml), why, sizeof(why));
    assert_non_null(json);
    assert_int_equal(osb_json_parse(osb_slice_str(json), &tree, NULL), 0);
    return config_read(tree, config, err);
}

static void test_an_empty_file_gives_the_defaults(void **state)
{
    (void)state;
    struct config config = {0};
    assert_int_equal(read_text("", &config, NULL), 0);
    assert_string_equal(config.server.host, "0.0.0.0");
    assert_int_equal(config.server.port, 8080);
    assert_true(osb_secret_is_empty(&config.server.api_key));
    assert_false(config.server.is_proxy_open);
    assert_int_equal(config.kubernetes.create_wait_ms, 20000);
    assert_string_equal(config.health.host, "127.0.0.1");
    assert_int_equal(config.warning_count, 0);
    config_done(&config);
}

static void test_keys_are_read(void **state)
{
    (void)state;
    struct config config = {0};
    assert_int_equal(read_text("[server]\nhost = \"::1\"\nport = 1\napi_key = 'k'\n"
                               "proxy_open = true\nmax_sandbox_timeout_seconds = 3600\n"
                               "[log]\nlevel = \"WARNING\"\n"
                               "[runtime]\ntype = \"kubernetes\"\nexecd_image = \"e:1\"\n"
                               "[kubernetes]\nnamespace = \"boxes\"\ncreate_wait_seconds = 1.5\n"
                               "request_fraction_of_limits = 0.25\n"
                               "workload_provider = \"BatchSandbox\"\n[docker]\nanything = 1\n",
                               &config, NULL),
                     0);
    assert_string_equal(config.server.host, "::1");
    assert_int_equal(config.server.port, 1);
    assert_true(osb_secret_eq(&config.server.api_key, OSB_SLICE("k")));
    assert_true(config.server.is_proxy_open);
    assert_int_equal(config.server.max_sandbox_timeout_s, 3600);
    assert_int_equal(config.log_level, OSB_LOG_WARN);
    assert_string_equal(config.runtime.execd_image, "e:1");
    assert_string_equal(config.kubernetes.namespace_, "boxes");
    assert_int_equal(config.kubernetes.create_wait_ms, 1500);
    assert_true(config.kubernetes.request_fraction == 0.25);
    assert_int_equal(config.warning_count, 0);
    config_done(&config);
}

static void test_unknown_keys_are_warned_about_and_bounded(void **state)
{
    (void)state;
    struct config config = {0};
    struct osb_buf text = {0};
    osb_buf_append_str(&text, "top = 1\n[server]\ntypo = 1\n[other]\n");
    for (int i = 0; i < 100; i++)
        osb_buf_appendf(&text, "k%d = 1\n", i);
    assert_int_equal(read_text(osb_buf_cstr(&text), &config, NULL), 0);
    assert_int_equal(config.warning_count, CONFIG_MAX_WARNINGS);
    osb_buf_done(&text);
    config_done(&config);
}

static void test_wrong_values_name_their_key(void **state)
{
    static const struct {
        const char *toml;
        const char *word;
    } cases[] = {
        {"[server]\nport = \"x\"", "server.port"},
        {"[server]\nport = 70000", "server.port"},
        {"[server]\nport = 1.5", "server.port"},
        {"[server]\nhost = 1", "server.host"},
        {"[server]\napi_key = 1", "server.api_key"},
        {"[server]\nproxy_open = \"yes\"", "server.proxy_open"},
        {"[runtime]\ntype = \"docker\"", "runtime.type"},
        {"[kubernetes]\nworkload_provider = \"agent-sandbox\"", "kubernetes.workload_provider"},
        {"[kubernetes]\nrequest_fraction_of_limits = 2", "request_fraction"},
        {"[log]\nlevel = \"LOUD\"", "log.level"},
        {"[operator]\nconcurrency = 0", "operator.concurrency"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct config config = {0};
        struct osb_err err = {0};
        assert_int_equal(read_text(cases[i].toml, &config, &err), -OSB_E_INVALID);
        assert_non_null(strstr(err.message, cases[i].word));
        config_done(&config);
    }
}

static void test_what_is_no_toml_is_refused_with_its_place(void **state)
{
    static const char *const bad[] = {"x = [", "[a", "a = 1\na = 2", "= 1", "x = \"\xff\"", "\x01"};
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char why[256] = "";
        assert_null(toml_to_json(bad[i], strlen(bad[i]), why, sizeof(why)));
        assert_int_equal(strncmp(why, "line ", 5), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_empty_file_gives_the_defaults),
        cmocka_unit_test(test_keys_are_read),
        cmocka_unit_test(test_unknown_keys_are_warned_about_and_bounded),
        cmocka_unit_test(test_wrong_values_name_their_key),
        cmocka_unit_test(test_what_is_no_toml_is_refused_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
