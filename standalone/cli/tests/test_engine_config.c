// SPDX-License-Identifier: Apache-2.0
#include "engine_config.h"

#include "pki.h"

#include <osb/cleanup.h>
#include <osb/json_tree.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "state_fixture.h"

static int make(void **state)
{
    int r = fixture_make(state);
    if (r >= 0)
        r = pki_ensure(*state, NULL);
    return r < 0 ? r : engine_config_write(*state, NULL);
}

static void containerd_lives_in_folders_of_the_instance_alone(void **state)
{
    static const char *const wanted[] = {
        "root = \"%s/containerd/root\"\n",
        "conf_dir = \"%s/cni/net.d\"\n",
        "config_path = \"%s/containerd/certs.d\"\n",
        "path = \"%s/containerd/opt\"\n",
    };
    const struct instance *instance = *state;
    _cleanup_free_ char *text = fixture_read(instance, "containerd/config.toml");
    assert_non_null(text);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        char line[256];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(line, sizeof(line), wanted[i], instance->state);
#pragma GCC diagnostic pop
        assert_non_null(strstr(text, line));
    }
    assert_non_null(strstr(text, "address = \"/run/opensandbox/0123abcd/containerd.sock\"\n"));
    assert_non_null(strstr(text, "sandbox_image = \"" ENGINE_PAUSE_IMAGE "\"\n"));
}

/* Both plugins write rules into iptables that nobody takes back. */
static void the_network_makes_no_iptables_rules(void **state)
{
    const struct instance *instance = *state;
    _cleanup_free_ char *text = fixture_read(instance, "cni/net.d/10-opensandbox.conflist");
    _cleanup_json_ struct osb_json *list = NULL;
    assert_non_null(text);
    assert_int_equal(osb_json_parse(osb_slice_str(text), &list, NULL), 0);
    const struct osb_json *plugins = osb_json_get(list, "plugins");
    assert_int_equal(osb_json_count(plugins), 1);
    const struct osb_json *bridge = osb_json_at(plugins, 0);
    assert_string_equal(osb_json_cstr(osb_json_get(bridge, "type")), "bridge");
    assert_string_equal(osb_json_cstr(osb_json_get(bridge, "bridge")), "osb-0123abcd");
    assert_false(osb_json_bool_or(osb_json_get(bridge, "ipMasq"), true));
    const struct osb_json *range = osb_json_get_path(bridge, "ipam.ranges");
    assert_string_equal(
        osb_json_cstr(osb_json_get(osb_json_at(osb_json_at(range, 0), 0), "subnet")),
        "10.1.2.0/24");
}

static void the_operator_gets_address_and_key_and_nobody_else_can_read_them(void **state)
{
    const struct instance *instance = *state;
    _cleanup_free_ char *text = fixture_read(instance, "operator.toml");
    _cleanup_free_ char *key = fixture_read(instance, "api-key");
    _cleanup_free_ char *path = instance_state_path(instance, "operator.toml");
    char line[256];
    struct stat st;
    assert_true(text && key);
    snprintf(line, sizeof(line), "port = 8123\napi_key = \"%s\"\n", key);
    assert_non_null(strstr(text, line));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

static void written_again_they_are_the_same(void **state)
{
    static const char *const files[] = {"containerd/config.toml", "operator.toml",
                                        "cni/net.d/10-opensandbox.conflist"};
    const struct instance *instance = *state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        _cleanup_free_ char *before = fixture_read(instance, files[i]);
        assert_int_equal(engine_config_write(instance, NULL), 0);
        _cleanup_free_ char *after = fixture_read(instance, files[i]);
        assert_string_equal(before, after);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(containerd_lives_in_folders_of_the_instance_alone),
        cmocka_unit_test(the_network_makes_no_iptables_rules),
        cmocka_unit_test(the_operator_gets_address_and_key_and_nobody_else_can_read_them),
        cmocka_unit_test(written_again_they_are_the_same),
    };
    return cmocka_run_group_tests(tests, make, fixture_remove);
}
