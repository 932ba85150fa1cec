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
#include "toml.h"

static int read_text(const char *toml, struct config *config, struct osb_err *err)
{
    _cleanup_json_ struct osb_json *tree = NULL;
    assert_int_equal(toml_parse(osb_slice_str(toml), &tree, NULL), 0);
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
    assert_false(config.kubernetes.is_injected_by_node);
    assert_null(config.kubernetes.execd_init_resources);
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

static void test_how_execd_gets_in_is_read(void **state)
{
    (void)state;
    struct config config = {0};
    assert_int_equal(read_text("[kubernetes]\nexecd_injection = \"shim\"\n"
                               "[kubernetes.execd_init_resources]\n"
                               "limits = {cpu = 1, memory = \"64Mi\"}\n",
                               &config, NULL),
                     0);
    assert_true(config.kubernetes.is_injected_by_node);
    assert_string_equal(
        osb_json_cstr(osb_json_get_path(config.kubernetes.execd_init_resources, "limits.memory")),
        "64Mi");
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
        {"[kubernetes]\nexecd_injection = \"initcontainer\"",
         "kubernetes.execd_injection must be \"init-container\" or \"shim\""},
        {"[kubernetes]\nexecd_injection = true", "kubernetes.execd_injection"},
        {"[kubernetes]\nexecd_init_resources = 1", "kubernetes.execd_init_resources"},
        {"[kubernetes.execd_init_resources]\nlimit = {cpu = \"1\"}", "execd_init_resources"},
        {"[kubernetes.execd_init_resources]\nlimits = {cpu = \"much\"}", "execd_init_resources"},
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

static void test_toml_reads_as_json(void **state)
{
    static const struct {
        const char *toml;
        const char *json;
    } cases[] = {
        {"", "{}"},
        {"\xEF\xBB\xBF# comment\r\na = 1 # more\r\n", "{\"a\":1}"},
        {"a=true\nb = false", "{\"a\":true,\"b\":false}"},
        {"a = \"x\\ty\\u00e9\\\"\\U0001F600\"\nb = 'c:\\x'",
         "{\"a\":\"x\\ty\xC3\xA9\\\"\xF0\x9F\x98\x80\",\"b\":\"c:\\\\x\"}"},
        {"a = +1_000\nb = -17\nc = 0xff\nd = 0o17\ne = 0b101\nf = 0",
         "{\"a\":1000,\"b\":-17,\"c\":255,\"d\":15,\"e\":5,\"f\":0}"},
        {"a = 1.5\nb = -2.5e3", "{\"a\":1.5,\"b\":-2500.0}"},
        {"a = [1, [2, 3], # c\n 'x',\n]", "{\"a\":[1,[2,3],\"x\"]}"},
        {"a = {x = 1, y.z = 'q'}\nb = {}", "{\"a\":{\"x\":1,\"y\":{\"z\":\"q\"}},\"b\":{}}"},
        {"a.b.c = 1\na.b.d = 2", "{\"a\":{\"b\":{\"c\":1,\"d\":2}}}"},
        {"[a.b]\nx = 1\n[a]\ny = 2\n[ \"q r\" . s ]\nz=3",
         "{\"a\":{\"b\":{\"x\":1},\"y\":2},\"q r\":{\"s\":{\"z\":3}}}"},
        {"[[k]]\na = 1\n[[k]]\na = 2\n[k.sub]\nb = 3",
         "{\"k\":[{\"a\":1},{\"a\":2,\"sub\":{\"b\":3}}]}"},
        {"a = 2026-01-01T00:00:00Z\nb = 07:32:00",
         "{\"a\":\"2026-01-01T00:00:00Z\",\"b\":\"07:32:00\"}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        _cleanup_json_ struct osb_json *tree = NULL;
        _cleanup_json_ struct osb_json *expected = NULL;
        assert_int_equal(toml_parse(osb_slice_str(cases[i].toml), &tree, NULL), 0);
        assert_int_equal(osb_json_parse(osb_slice_str(cases[i].json), &expected, NULL), 0);
        if (!osb_json_equal(tree, expected))
            print_error("%s\n", cases[i].toml);
        assert_true(osb_json_equal(tree, expected));
    }
}

static void test_what_is_no_toml_is_refused_with_its_line(void **state)
{
    static const char *const bad[] = {
        "x = [",
        "[a",
        "a = 1\na = 2",
        "= 1",
        "\x01",
        "[$[ser",
        "x",
        "x =",
        "x = 1 2",
        "x = 01",
        "x = 1__0",
        "x = _1",
        "x = 1_",
        "x = 0x",
        "x = inf",
        "x = nan",
        "x = 1.",
        "x = .5",
        "x = 1e999",
        "x = \"a",
        "x = \"a\nb\"",
        "x = \"\\q\"",
        "x = '''a'''",
        "x = \"\"\"a\"\"\"",
        "x = \"\\ud800\"",
        "x = \"\\u12\"",
        "x = {a = 1",
        "x = {a = 1,}",
        "x = [1 2]",
        "x = @",
        "[a]\nb = 1\n[a.b]",
        "a = 1\n[[a]]",
        "[a]\n[[a]]",
        "a.b = 1\na = 2",
        "x = 99999999999999999999",
        "x = --1",
        "x = 0x-1",
        "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q = 1",
        "# \x02",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct osb_json *tree = NULL;
        struct osb_err err = {0};
        int r = toml_parse(osb_slice_str(bad[i]), &tree, &err);
        if (r >= 0)
            print_error("%s\n", bad[i]);
        assert_int_equal(r, -OSB_E_INVALID);
        assert_int_equal(strncmp(err.message, "line ", 5), 0);
    }
    struct osb_json *tree = NULL;
    assert_int_equal(toml_parse(OSB_SLICE("x = \"\xff\""), &tree, NULL), -OSB_E_INVALID);
    assert_int_equal(toml_parse(OSB_SLICE("x = \"a\0b\""), &tree, NULL), -OSB_E_INVALID);
    char deep[TOML_MAX_DEPTH + 8];
    memset(deep, '[', sizeof(deep));
    memcpy(deep, "x = ", 4);
    assert_int_equal(toml_parse(osb_slice(deep, sizeof(deep)), &tree, NULL), -OSB_E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_empty_file_gives_the_defaults),
        cmocka_unit_test(test_keys_are_read),
        cmocka_unit_test(test_how_execd_gets_in_is_read),
        cmocka_unit_test(test_unknown_keys_are_warned_about_and_bounded),
        cmocka_unit_test(test_wrong_values_name_their_key),
        cmocka_unit_test(test_toml_reads_as_json),
        cmocka_unit_test(test_what_is_no_toml_is_refused_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
