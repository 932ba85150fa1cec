// SPDX-License-Identifier: Apache-2.0
/* What needs no mount; tmpfs and secrets on it are cases of the suite `node`. */
#include "volumes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "node_fixture.h"
#include "pod_fixture.h"

#define V(volume) "\"volumes\":[" volume "],\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]"

static mode_t mode_of(const char *root, const char *path)
{
    char full[256];
    struct stat st;
    snprintf(full, sizeof(full), "%s/%s", root, path);
    return stat(full, &st) < 0 ? 0 : st.st_mode;
}

static void the_folders_of_a_pod_are_made_and_removed(void **state)
{
    struct fixture_node f;
    (void)state;
    fixture_node_init(&f);
    struct pod_spec *spec = fixture_pod(V("{\"name\":\"v\",\"emptyDir\":{}}"));
    mode_t before = umask(077);
    assert_int_equal(volumes_prepare(&f.node, spec, &fixture_secrets, NULL), 0);
    assert_int_equal(volumes_prepare(&f.node, spec, &fixture_secrets, NULL), 0); /* again */
    (void)umask(before);
    /* Open to whatever user the image has, whatever our umask is. */
    assert_int_equal(mode_of(f.root, "pods/u-1/volumes/v"), S_IFDIR | 0777);
    assert_true(S_ISDIR(mode_of(f.root, "logs/default_web_u-1/c")));
    assert_int_equal(volumes_remove(&f.node, spec, NULL), 0);
    assert_int_equal(mode_of(f.root, "pods/u-1"), 0);
    assert_int_equal(mode_of(f.root, "logs/default_web_u-1"), 0);
    assert_int_equal(volumes_remove(&f.node, spec, NULL), 0); /* again */
    pod_spec_free(spec);
    fixture_node_done(&f);
}

static void removal_leaves_what_is_on_the_machine(void **state)
{
    struct fixture_node f;
    char text[256];
    (void)state;
    fixture_node_init(&f);
    snprintf(
        text, sizeof(text),
        V("{\"name\":\"v\",\"hostPath\":{\"path\":\"%s/own\",\"type\":\"DirectoryOrCreate\"}}"),
        f.root);
    struct pod_spec *spec = fixture_pod(text);
    assert_int_equal(volumes_prepare(&f.node, spec, &fixture_secrets, NULL), 0);
    assert_int_equal(volumes_remove(&f.node, spec, NULL), 0);
    assert_true(S_ISDIR(mode_of(f.root, "own")));
    pod_spec_free(spec);
    fixture_node_done(&f);
}

static void a_host_path_of_another_type_is_refused(void **state)
{
    static const struct {
        const char *type, *path;
        bool is_taken;
    } cases[] = {
        {"Directory", "", true},        {"File", "", false},        {"Socket", "", false},
        {"CharDevice", "", false},      {"Directory", "/f", false}, {"File", "/f", true},
        {"FileOrCreate", "/new", true}, {"File", "/none", false},   {"Directory", "/none", false},
    };
    struct fixture_node f;
    char text[256], file[128];
    (void)state;
    fixture_node_init(&f);
    snprintf(file, sizeof(file), "%s/f", f.root);
    assert_int_equal(osb_write_file(file, OSB_SLICE("x"), 0600, NULL), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct osb_err err = {0};
        snprintf(text, sizeof(text),
                 V("{\"name\":\"v\",\"hostPath\":{\"path\":\"%s%s\",\"type\":\"%s\"}}"), f.root,
                 cases[i].path, cases[i].type);
        struct pod_spec *spec = fixture_pod(text);
        int r = volumes_prepare(&f.node, spec, &fixture_secrets, &err);
        assert_int_equal(r >= 0, cases[i].is_taken);
        if (r < 0)
            assert_non_null(strstr(err.message, "volume v"));
        pod_spec_free(spec);
    }
    fixture_node_done(&f);
}

static void a_pod_with_execd_has_a_folder_open_to_all_for_it(void **state)
{
    struct fixture_node f;
    struct pod_spec *spec = NULL;
    (void)state;
    fixture_node_init(&f);
    assert_int_equal(
        fixture_parse(",\"annotations\":{\"" POD_INJECT_ANNOTATION "\":\"" POD_INJECT_EXECD
                      "\",\"" POD_INJECT_VERSION_ANNOTATION "\":\"" POD_INJECT_VERSION
                      "\",\"" POD_INJECT_CONTAINER_ANNOTATION "\":\"c\"}",
                      "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]", &spec, NULL),
        0);
    assert_int_equal(volumes_prepare(&f.node, spec, &fixture_secrets, NULL), 0);
    assert_int_equal(mode_of(f.root, "pods/u-1/opensandbox"), S_IFDIR | 01777);
    pod_spec_free(spec);
    fixture_node_done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_folders_of_a_pod_are_made_and_removed),
        cmocka_unit_test(removal_leaves_what_is_on_the_machine),
        cmocka_unit_test(a_host_path_of_another_type_is_refused),
        cmocka_unit_test(a_pod_with_execd_has_a_folder_open_to_all_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
