// SPDX-License-Identifier: Apache-2.0
#include "cri_build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pod_fixture.h"

#define C(fields) "\"containers\":[{\"name\":\"c\",\"image\":\"i:1\"" fields "}]"

static const struct node node = {
    .options = {.root = "/state/node", .cgroup_parent = "/opensandbox-1"}};

static Runtime__V1__ContainerConfig *container_of(struct osb_arena *arena,
                                                  const struct pod_spec *spec, uint32_t attempt)
{
    static const struct resolved_container nothing;
    return cri_build_container(arena, spec, 0, &nothing, attempt);
}

static const char *label_of(const Runtime__V1__PodSandboxConfig *config, const char *key)
{
    for (size_t i = 0; i < config->n_labels; i++) {
        if (!strcmp(config->labels[i]->key, key))
            return config->labels[i]->value;
    }
    return NULL;
}

static void a_sandbox_is_found_again_by_its_labels(void **state)
{
    struct osb_arena arena = {0};
    struct pod_spec *spec = NULL;
    (void)state;
    assert_int_equal(fixture_parse(",\"labels\":{\"opensandbox.io/id\":\"sb-1\","
                                   "\"io.kubernetes.pod.uid\":\"somebody-else\"}",
                                   C(""), &spec, NULL),
                     0);
    const Runtime__V1__PodSandboxConfig *config = cri_build_sandbox(&arena, &node, spec, 2);
    assert_string_equal(label_of(config, CRI_LABEL_POD_UID), "u-1");
    assert_string_equal(label_of(config, CRI_LABEL_POD_NAME), "web");
    assert_string_equal(label_of(config, CRI_LABEL_POD_NAMESPACE), "default");
    assert_string_equal(label_of(config, CRI_LABEL_SANDBOX), "sb-1");
    assert_int_equal(config->metadata->attempt, 2);
    assert_string_equal(config->linux_config->cgroup_parent, "/opensandbox-1/podu-1");
    assert_string_equal(config->log_directory, "/state/node/logs/default_web_u-1");
    pod_spec_free(spec);
    osb_arena_done(&arena);
}

static void namespaces_are_the_pods_own_unless_it_asks_for_the_machines(void **state)
{
    static const struct {
        const char *spec;
        int network, pid, ipc;
    } cases[] = {
        {C(""), RUNTIME__V1__NAMESPACE_MODE__POD, RUNTIME__V1__NAMESPACE_MODE__CONTAINER,
         RUNTIME__V1__NAMESPACE_MODE__POD},
        {"\"shareProcessNamespace\":true," C(""), RUNTIME__V1__NAMESPACE_MODE__POD,
         RUNTIME__V1__NAMESPACE_MODE__POD, RUNTIME__V1__NAMESPACE_MODE__POD},
        {"\"hostNetwork\":true,\"hostPID\":true,\"hostIPC\":true," C(""),
         RUNTIME__V1__NAMESPACE_MODE__NODE, RUNTIME__V1__NAMESPACE_MODE__NODE,
         RUNTIME__V1__NAMESPACE_MODE__NODE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct osb_arena arena = {0};
        struct pod_spec *spec = fixture_pod(cases[i].spec);
        const Runtime__V1__NamespaceOption *options =
            cri_build_sandbox(&arena, &node, spec, 0)
                ->linux_config->security_context->namespace_options;
        assert_int_equal(options->network, cases[i].network);
        assert_int_equal(options->pid, cases[i].pid);
        assert_int_equal(options->ipc, cases[i].ipc);
        pod_spec_free(spec);
        osb_arena_done(&arena);
    }
}

static void cpu_and_memory_become_shares_quota_and_bytes(void **state)
{
    static const struct {
        const char *resources;
        int64_t shares, quota, memory;
    } cases[] = {
        {"", 2, 0, 0},
        {",\"resources\":{\"requests\":{\"cpu\":\"500m\"},\"limits\":{\"cpu\":\"2\","
         "\"memory\":\"64Mi\"}}",
         512, 200000, 64 << 20},
        {",\"resources\":{\"limits\":{\"cpu\":\"1m\"}}", 2, 1000, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct osb_arena arena = {0};
        char text[256];
        snprintf(text, sizeof(text), "\"containers\":[{\"name\":\"c\",\"image\":\"i\"%s}]",
                 cases[i].resources);
        struct pod_spec *spec = fixture_pod(text);
        const Runtime__V1__LinuxContainerResources *r =
            container_of(&arena, spec, 0)->linux_config->resources;
        assert_int_equal(r->cpu_period, 100000);
        assert_int_equal(r->cpu_shares, cases[i].shares);
        assert_int_equal(r->cpu_quota, cases[i].quota);
        assert_int_equal(r->memory_limit_in_bytes, cases[i].memory);
        pod_spec_free(spec);
        osb_arena_done(&arena);
    }
}

static void who_asked_for_more_memory_is_killed_later(void **state)
{
    struct osb_arena arena = {0};
    (void)state;
    struct pod_spec *none = fixture_pod(C(""));
    struct pod_spec *some = fixture_pod(C(",\"resources\":{\"requests\":{\"memory\":\"256Mi\"}}"));
    int64_t without = container_of(&arena, none, 0)->linux_config->resources->oom_score_adj;
    int64_t with = container_of(&arena, some, 0)->linux_config->resources->oom_score_adj;
    assert_int_equal(without, 1000);
    assert_in_range(with, 2, 999);
    pod_spec_free(none);
    pod_spec_free(some);
    osb_arena_done(&arena);
}

static void proc_is_masked_unless_the_container_is_privileged(void **state)
{
    struct osb_arena arena = {0};
    (void)state;
    struct pod_spec *plain = fixture_pod(C(""));
    struct pod_spec *free_ = fixture_pod(C(",\"securityContext\":{\"privileged\":true}"));
    const Runtime__V1__LinuxContainerSecurityContext *a =
        container_of(&arena, plain, 0)->linux_config->security_context;
    const Runtime__V1__LinuxContainerSecurityContext *b =
        container_of(&arena, free_, 0)->linux_config->security_context;
    assert_true(a->n_masked_paths > 0 && a->n_readonly_paths > 0 && !a->privileged);
    assert_true(!b->n_masked_paths && !b->n_readonly_paths && b->privileged);
    assert_true(
        cri_build_sandbox(&arena, &node, free_, 0)->linux_config->security_context->privileged);
    pod_spec_free(plain);
    pod_spec_free(free_);
    osb_arena_done(&arena);
}

static void a_security_context_is_carried_over(void **state)
{
    struct osb_arena arena = {0};
    (void)state;
    struct pod_spec *spec = fixture_pod(
        C(",\"securityContext\":{\"runAsUser\":0,\"runAsGroup\":7,\"readOnlyRootFilesystem\":true,"
          "\"allowPrivilegeEscalation\":false,\"capabilities\":{\"drop\":[\"ALL\"],"
          "\"add\":[\"NET_ADMIN\"]}}"));
    const Runtime__V1__LinuxContainerSecurityContext *security =
        container_of(&arena, spec, 0)->linux_config->security_context;
    assert_non_null(security->run_as_user); /* zero is a user, not the absence of one */
    assert_int_equal(security->run_as_user->value, 0);
    assert_int_equal(security->run_as_group->value, 7);
    assert_true(security->readonly_rootfs && security->no_new_privs);
    assert_int_equal(security->capabilities->n_drop_capabilities, 1);
    assert_string_equal(security->capabilities->drop_capabilities[0], "ALL");
    assert_string_equal(security->capabilities->add_capabilities[0], "NET_ADMIN");
    pod_spec_free(spec);
    osb_arena_done(&arena);
}

static void each_run_has_a_log_of_its_own(void **state)
{
    struct osb_arena arena = {0};
    (void)state;
    struct pod_spec *spec = fixture_pod(C(""));
    const Runtime__V1__ContainerConfig *config = container_of(&arena, spec, 3);
    assert_string_equal(config->log_path, "c/3.log");
    assert_int_equal(config->metadata->attempt, 3);
    assert_string_equal(config->image->image, "i:1");
    pod_spec_free(spec);
    osb_arena_done(&arena);
}

static void with_the_machines_network_the_machines_name_stays(void **state)
{
    struct osb_arena arena = {0};
    (void)state;
    struct pod_spec *own = fixture_pod(C("")), *host = fixture_pod("\"hostNetwork\":true," C(""));
    assert_string_equal(cri_build_sandbox(&arena, &node, own, 0)->hostname, "web");
    assert_string_equal(cri_build_sandbox(&arena, &node, host, 0)->hostname, "");
    pod_spec_free(own);
    pod_spec_free(host);
    osb_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sandbox_is_found_again_by_its_labels),
        cmocka_unit_test(namespaces_are_the_pods_own_unless_it_asks_for_the_machines),
        cmocka_unit_test(cpu_and_memory_become_shares_quota_and_bytes),
        cmocka_unit_test(who_asked_for_more_memory_is_killed_later),
        cmocka_unit_test(proc_is_masked_unless_the_container_is_privileged),
        cmocka_unit_test(a_security_context_is_carried_over),
        cmocka_unit_test(each_run_has_a_log_of_its_own),
        cmocka_unit_test(with_the_machines_network_the_machines_name_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
