// SPDX-License-Identifier: Apache-2.0
#include "container_view.h"

#include <errno.h>
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

#define C(fields) "\"containers\":[{\"name\":\"c\",\"image\":\"i\"" fields "}]"
struct fixture {
    struct fixture_node here;
    struct osb_arena arena;
    struct resolved_container view;
    struct osb_err err;
};

static int set_up(void **state)
{
    static struct fixture f;
    memset(&f, 0, sizeof(f));
    fixture_node_init(&f.here);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    osb_arena_done(&f->arena);
    fixture_node_done(&f->here);
    return 0;
}

static int resolve(struct fixture *f, const struct pod_spec *spec)
{
    memset(&f->view, 0, sizeof(f->view));
    return container_view_resolve(&f->arena, &f->here.node, spec, 0, "10.1.2.3", &fixture_secrets,
                                  &f->view, &f->err);
}

static const char *env_of(const struct fixture *f, const char *name)
{
    for (size_t i = 0; i < f->view.env_count; i++) {
        if (!strcmp(f->view.env[i].name, name))
            return f->view.env[i].value;
    }
    return NULL;
}

static void fields_of_the_pod_become_variables(void **state)
{
    static const struct {
        const char *path, *value;
    } cases[] = {
        {"metadata.name", "web"},        {"metadata.namespace", "default"},
        {"metadata.uid", "u-1"},         {"metadata.labels['a/b']", "one"},
        {"metadata.labels['none']", ""}, {"metadata.annotations['n']", "two"},
        {"spec.nodeName", "here"},       {"status.podIP", "10.1.2.3"},
        {"status.hostIP", "192.0.2.1"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pod_spec *spec = NULL;
        char text[256];
        snprintf(
            text, sizeof(text),
            C(",\"env\":[{\"name\":\"V\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"%s\"}}}]"),
            cases[i].path);
        assert_int_equal(
            fixture_parse(",\"labels\":{\"a/b\":\"one\"},\"annotations\":{\"n\":\"two\"}", text,
                          &spec, NULL),
            0);
        assert_int_equal(resolve(f, spec), 0);
        assert_string_equal(env_of(f, "V"), cases[i].value);
        pod_spec_free(spec);
    }
}

static void secrets_become_variables_and_are_not_expanded(void **state)
{
    struct fixture *f = *state;
    struct pod_spec *spec = fixture_pod(
        C(",\"env\":[{\"name\":\"P\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"s\","
          "\"key\":\"pass\"}}},{\"name\":\"Q\",\"value\":\"<$(P)>\"}],\"args\":[\"$(Q)\"]"));
    assert_int_equal(resolve(f, spec), 0);
    assert_string_equal(env_of(f, "P"), "x1");
    assert_string_equal(env_of(f, "Q"), "<x1>");
    assert_string_equal(f->view.args[0], "<x1>");
    pod_spec_free(spec);
}

static void a_missing_secret_is_named_unless_it_may_be_missing(void **state)
{
    struct fixture *f = *state;
    struct pod_spec *needed = fixture_pod(C(",\"env\":[{\"name\":\"P\",\"valueFrom\":{"
                                            "\"secretKeyRef\":{\"name\":\"s\",\"key\":\"no\"}}}]"));
    struct pod_spec *optional =
        fixture_pod(C(",\"env\":[{\"name\":\"P\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"s\","
                      "\"key\":\"no\",\"optional\":true}}}]"));
    assert_int_equal(resolve(f, needed), -OSB_E_NOT_FOUND);
    assert_non_null(strstr(f->err.message, "\"no\""));
    assert_int_equal(resolve(f, optional), 0);
    assert_null(env_of(f, "P"));
    pod_spec_free(needed);
    pod_spec_free(optional);
}

/* A pod with a hostPath volume at the test's folder, mounted by SUB_PATH. */
static struct pod_spec *sub_path_pod(const struct fixture *f, const char *sub_path)
{
    char text[512];
    snprintf(text, sizeof(text),
             "\"volumes\":[{\"name\":\"v\",\"hostPath\":{\"path\":\"%s\"}}]," C(
                 ",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/m\",\"subPath\":\"%s\"}]"),
             f->here.root, sub_path);
    return fixture_pod(text);
}

static void a_missing_sub_path_is_made_with_the_mode_of_its_volume(void **state)
{
    struct fixture *f = *state;
    char path[128];
    struct stat st;
    struct pod_spec *spec = sub_path_pod(f, "a/./b");
    assert_int_equal(chmod(f->here.root, 0750), 0);
    assert_int_equal(resolve(f, spec), 0);
    snprintf(path, sizeof(path), "%s/a/./b", f->here.root);
    assert_string_equal(f->view.mounts[0].host_path, path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode, S_IFDIR | 0750);
    pod_spec_free(spec);
}

static void a_link_in_a_sub_path_is_not_followed(void **state)
{
    static const char *const paths[] = {"out", "out/x", "in/out"};
    struct fixture *f = *state;
    char link_path[128], folder[128];
    snprintf(folder, sizeof(folder), "%s/in", f->here.root);
    assert_int_equal(mkdir(folder, 0755), 0);
    snprintf(link_path, sizeof(link_path), "%s/out", f->here.root);
    assert_int_equal(symlink("/etc", link_path), 0);
    snprintf(link_path, sizeof(link_path), "%s/in/out", f->here.root);
    assert_int_equal(symlink("..", link_path), 0);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct pod_spec *spec = sub_path_pod(f, paths[i]);
        assert_int_equal(resolve(f, spec), -ELOOP);
        pod_spec_free(spec);
    }
}

static void a_secret_is_never_mounted_writable(void **state)
{
    struct fixture *f = *state;
    struct pod_spec *spec =
        fixture_pod("\"volumes\":[{\"name\":\"v\",\"secret\":{\"secretName\":\"s\"}}]," C(
            ",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/m\",\"readOnly\":false}]"));
    assert_int_equal(resolve(f, spec), 0);
    assert_int_equal(f->view.mount_count, 1);
    assert_true(f->view.mounts[0].is_read_only);
    pod_spec_free(spec);
}

static void execd_and_launcher_are_read_only_in_a_writable_folder(void **state)
{
    struct fixture *f = *state;
    struct pod_spec *spec = NULL;
    assert_int_equal(fixture_parse(",\"annotations\":{\"" POD_INJECT_ANNOTATION
                                   "\":\"" POD_INJECT_EXECD "\",\"" POD_INJECT_VERSION_ANNOTATION
                                   "\":\"" POD_INJECT_VERSION
                                   "\",\"" POD_INJECT_CONTAINER_ANNOTATION "\":\"c\"}",
                                   C(""), &spec, NULL),
                     0);
    assert_int_equal(resolve(f, spec), 0);
    assert_int_equal(f->view.mount_count, 3);
    assert_string_equal(f->view.mounts[0].container_path, "/opt/opensandbox");
    assert_false(f->view.mounts[0].is_read_only);
    assert_string_equal(f->view.mounts[1].container_path, "/opt/opensandbox/execd");
    assert_string_equal(f->view.mounts[1].host_path, "/lib/execd");
    assert_true(f->view.mounts[1].is_read_only);
    assert_string_equal(f->view.mounts[2].container_path, "/opt/opensandbox/bootstrap.sh");
    assert_true(f->view.mounts[2].is_read_only);
    pod_spec_free(spec);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(fields_of_the_pod_become_variables),
        T(secrets_become_variables_and_are_not_expanded),
        T(a_missing_secret_is_named_unless_it_may_be_missing),
        T(a_missing_sub_path_is_made_with_the_mode_of_its_volume),
        T(a_link_in_a_sub_path_is_not_followed),
        T(a_secret_is_never_mounted_writable),
        T(execd_and_launcher_are_read_only_in_a_writable_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
