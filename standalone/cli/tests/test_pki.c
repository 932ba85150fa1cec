// SPDX-License-Identifier: Apache-2.0
#include "pki.h"

#include <osb/cleanup.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "state_fixture.h"

static const char *const files[] = {
    "pki/ca.crt",      "pki/ca.key",    "pki/apiserver.crt", "pki/apiserver.key",
    "pki/admin.crt",   "pki/admin.key", "pki/operator.crt",  "pki/operator.key",
    "pki/node.crt",    "pki/node.key",  "kubeconfig",        "operator.kubeconfig",
    "node.kubeconfig", "api-key",
};
enum { FILES = sizeof(files) / sizeof(files[0]) };

static void a_second_call_changes_nothing(void **state)
{
    const struct instance *instance = *state;
    char *before[FILES];
    assert_int_equal(pki_ensure(instance, NULL), 0);
    for (size_t i = 0; i < FILES; i++)
        assert_non_null(before[i] = fixture_read(instance, files[i]));
    assert_int_equal(pki_ensure(instance, NULL), 0);
    for (size_t i = 0; i < FILES; i++) {
        _cleanup_free_ char *after = fixture_read(instance, files[i]);
        assert_string_equal(after, before[i]);
        free(before[i]);
    }
}

static void keys_are_readable_by_their_owner_only(void **state)
{
    const struct instance *instance = *state;
    for (size_t i = 0; i < FILES; i++) {
        _cleanup_free_ char *path = instance_state_path(instance, files[i]);
        struct stat st;
        assert_int_equal(stat(path, &st), 0);
        if (!strstr(files[i], ".crt"))
            assert_int_equal(st.st_mode & 07777, 0600);
    }
}

static void a_lost_certificate_is_made_again(void **state)
{
    const struct instance *instance = *state;
    _cleanup_free_ char *path = instance_state_path(instance, "pki/node.crt");
    _cleanup_free_ char *ca = fixture_read(instance, "pki/ca.crt");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(pki_ensure(instance, NULL), 0);
    _cleanup_free_ char *ca_after = fixture_read(instance, "pki/ca.crt");
    assert_int_equal(access(path, R_OK), 0);
    assert_string_equal(ca, ca_after);
}

static void the_admins_kubeconfig_can_be_copied_away(void **state)
{
    const struct instance *instance = *state;
    _cleanup_free_ char *admin = fixture_read(instance, "kubeconfig");
    _cleanup_free_ char *node = fixture_read(instance, "node.kubeconfig");
    char place[256];
    assert_non_null(strstr(admin, "server: https://127.0.0.1:45123\n"));
    assert_non_null(strstr(admin, "client-key-data: "));
    assert_null(strstr(admin, instance->state));
    snprintf(place, sizeof(place), "client-key: \"%s/pki/node.key\"\n", instance->state);
    assert_non_null(strstr(node, place));
}

static int read_key(const struct instance *instance, const char *text, struct osb_secret *ret,
                    struct osb_err *err)
{
    _cleanup_free_ char *path = instance_state_path(instance, "api-key");
    assert_int_equal(osb_write_file(path, osb_slice_str(text), 0600, NULL), 0);
    return pki_api_key(instance, ret, err);
}

static void a_key_written_by_hand_is_taken_without_its_line_end(void **state)
{
    _cleanup_secret_ struct osb_secret key = {0};
    assert_int_equal(read_key(*state, "my-key\r\n", &key, NULL), 0);
    assert_true(osb_slice_eq_str(osb_secret_reveal(&key), "my-key"));
    assert_int_equal(pki_ensure(*state, NULL), 0); /* and stays */
    _cleanup_free_ char *after = fixture_read(*state, "api-key");
    assert_string_equal(after, "my-key\r\n");
}

static void what_is_no_key_is_an_error_that_names_its_file(void **state)
{
    static const char *const texts[] = {"",     " \n", "a b",  "a\nb",
                                        "a\"b", "a'b", "a\\b", "\xc3\xa9"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct osb_err err = {0};
        _cleanup_secret_ struct osb_secret key = {0};
        assert_int_equal(read_key(*state, texts[i], &key, &err), -OSB_E_INVALID);
        assert_non_null(strstr(err.message, "api-key"));
        assert_int_equal(pki_ensure(*state, NULL), -OSB_E_INVALID); /* not replaced in silence */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_call_changes_nothing),
        cmocka_unit_test(keys_are_readable_by_their_owner_only),
        cmocka_unit_test(a_lost_certificate_is_made_again),
        cmocka_unit_test(the_admins_kubeconfig_can_be_copied_away),
        cmocka_unit_test(a_key_written_by_hand_is_taken_without_its_line_end),
        cmocka_unit_test(what_is_no_key_is_an_error_that_names_its_file),
    };
    return cmocka_run_group_tests(tests, fixture_make, fixture_remove);
}
