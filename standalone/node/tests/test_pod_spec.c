// SPDX-License-Identifier: Apache-2.0
#include "pod_spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "pod_fixture.h"

#define C(fields) "\"containers\":[{\"name\":\"c\",\"image\":\"i:1\"" fields "}]"

static void what_is_not_built_is_refused_by_its_name(void **state)
{
    static const struct {
        const char *spec, *named;
    } cases[] = {
        {C(",\"livenessProbe\":{\"exec\":{}}"), "livenessProbe"},
        {C(",\"readinessProbe\":{\"exec\":{}}"), "readinessProbe"},
        {C(",\"startupProbe\":{\"exec\":{}}"), "startupProbe"},
        {C(",\"lifecycle\":{\"preStop\":{}}"), "lifecycle"},
        {C(",\"volumeDevices\":[{\"name\":\"x\"}]"), "volumeDevices"},
        {C(",\"envFrom\":[{\"prefix\":\"x\"}]"), "envFrom"},
        {C(",\"env\":[{\"name\":\"A\",\"valueFrom\":{\"configMapKeyRef\":{\"name\":\"m\"}}}]"),
         "env A"},
        {"\"volumes\":[{\"name\":\"v\",\"configMap\":{\"name\":\"m\"}}]," C(""), "volume v"},
        {"\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}]," C(
             ",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/m\",\"subPathExpr\":\"$(A)\"}]"),
         "subPathExpr"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pod_spec *pod = NULL;
        struct osb_err err = {0};
        assert_int_equal(fixture_parse("", cases[i].spec, &pod, &err), -OSB_E_UNSUPPORTED);
        assert_null(pod);
        assert_non_null(strstr(err.message, cases[i].named));
    }
}

static void what_is_no_pod_is_refused(void **state)
{
    static const char *const specs[] = {
        "",
        "\"containers\":[]",
        "\"containers\":[{\"name\":\"c\"}]",
        "\"containers\":[{\"image\":\"i\"}]",
        "\"initContainers\":[{\"name\":\"c\",\"image\":\"i\"}]",
        C(",\"env\":[{\"value\":\"x\"}]"),
        C(",\"env\":[{\"name\":\"A\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"s\"}}}]"),
        C(",\"volumeMounts\":[{\"name\":\"none\",\"mountPath\":\"/m\"}]"),
        C(",\"resources\":{\"limits\":{\"cpu\":\"much\"}}"),
        C(",\"resources\":{\"requests\":{\"memory\":\"1Qx\"}}"),
        "\"volumes\":[{\"emptyDir\":{}}]," C(""),
        "\"volumes\":[{\"name\":\"v\",\"hostPath\":{\"path\":\"relative\"}}]," C(""),
        "\"volumes\":[{\"name\":\"v\",\"secret\":{}}]," C(""),
        "\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}]," C(
            ",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/m\",\"subPath\":\"../x\"}]"),
        "\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}]," C(
            ",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/m\",\"subPath\":\"/x\"}]"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        struct pod_spec *pod = NULL;
        struct osb_err err = {0};
        assert_int_equal(fixture_parse("", specs[i], &pod, &err), -OSB_E_INVALID);
        assert_string_not_equal(err.message, "");
    }
}

static void more_containers_than_the_limit_are_refused(void **state)
{
    char spec[4096] = "\"containers\":[";
    struct pod_spec *pod = NULL;
    (void)state;
    for (int i = 0; i <= POD_MAX_CONTAINERS; i++)
        strcat(spec, i ? ",{\"name\":\"c\",\"image\":\"i\"}" : "{\"name\":\"c\",\"image\":\"i\"}");
    strcat(spec, "]");
    assert_int_equal(fixture_parse("", spec, &pod, NULL), -OSB_E_UNSUPPORTED);
}

static void what_is_not_said_has_kubernetes_defaults(void **state)
{
    struct pod_spec *pod = fixture_pod(C(""));
    (void)state;
    assert_int_equal(pod->restart, RESTART_ALWAYS);
    assert_int_equal(pod->grace_s, POD_DEFAULT_GRACE_S);
    assert_string_equal(pod->hostname, "web");
    assert_int_equal(pod->inject, -1);
    assert_int_equal(pod->deadline_s, 0);
    assert_false(pod->containers[0].security.must_not_escalate);
    pod_spec_free(pod);
}

static void the_pull_policy_follows_the_tag(void **state)
{
    static const struct {
        const char *image, *policy;
    } cases[] = {
        {"busybox", "Always"},
        {"busybox:latest", "Always"},
        {"busybox:1", "IfNotPresent"},
        {"host:5000/busybox", "Always"},
        {"host:5000/busybox:1", "IfNotPresent"},
        {"busybox@sha256:0", "IfNotPresent"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char spec[256];
        snprintf(spec, sizeof(spec), "\"containers\":[{\"name\":\"c\",\"image\":\"%s\"}]",
                 cases[i].image);
        struct pod_spec *pod = fixture_pod(spec);
        assert_string_equal(pod->containers[0].pull_policy, cases[i].policy);
        pod_spec_free(pod);
    }
}

static void requests_default_to_limits(void **state)
{
    struct pod_spec *pod =
        fixture_pod(C(",\"resources\":{\"limits\":{\"cpu\":\"1500m\",\"memory\":\"64Mi\"}}"));
    (void)state;
    assert_int_equal(pod->containers[0].cpu_request_milli, 1500);
    assert_int_equal(pod->containers[0].cpu_limit_milli, 1500);
    assert_int_equal(pod->containers[0].memory_request, 64 << 20);
    pod_spec_free(pod);
}

static void a_containers_own_security_wins_over_the_pods(void **state)
{
    struct pod_spec *pod =
        fixture_pod("\"securityContext\":{\"runAsUser\":1,\"runAsGroup\":2,\"fsGroup\":3,"
                    "\"supplementalGroups\":[4]}," C(",\"securityContext\":{\"runAsUser\":9}"));
    (void)state;
    assert_int_equal(pod->containers[0].security.user, 9);
    assert_int_equal(pod->containers[0].security.group, 2);
    assert_int_equal(pod->supplemental_count, 2);
    assert_int_equal(pod->supplemental_groups[0], 4);
    assert_int_equal(pod->supplemental_groups[1], 3);
    pod_spec_free(pod);
}

static void execd_goes_into_the_container_named_sandbox_or_the_first(void **state)
{
#define MARK(more)                                                                                 \
    ",\"annotations\":{\"opensandbox.io/inject\":\"execd\","                                       \
    "\"opensandbox.io/inject-version\":\"1\"" more "}"
    static const char mark[] = MARK("");
    static const char second[] = MARK(",\"opensandbox.io/inject-container\":\"b\"");
    /* An init container brings its execd. */
    static const char without_version[] = ",\"annotations\":{\"opensandbox.io/inject\":\"execd\"}";
    static const char other[] = ",\"annotations\":{\"opensandbox.io/inject\":\"nothing\"}";
    static const struct {
        const char *metadata, *spec;
        int index;
    } cases[] = {
        {"", C(""), -1},
        {other, C(""), -1},
        {without_version, C(""), -1},
        {mark, C(""), 0},
        {mark,
         "\"containers\":[{\"name\":\"a\",\"image\":\"i\"},{\"name\":\"sandbox\",\"image\":\"i\"}]",
         1},
        {mark,
         "\"initContainers\":[{\"name\":\"sandbox\",\"image\":\"i\"}],"
         "\"containers\":[{\"name\":\"a\",\"image\":\"i\"},{\"name\":\"b\",\"image\":\"i\"}]",
         1},
        {second,
         "\"containers\":[{\"name\":\"sandbox\",\"image\":\"i\"},{\"name\":\"b\",\"image\":\"i\"}]",
         1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pod_spec *pod = NULL;
        assert_int_equal(fixture_parse(cases[i].metadata, cases[i].spec, &pod, NULL), 0);
        assert_int_equal(pod->inject, cases[i].index);
        pod_spec_free(pod);
    }
}

static void an_injection_that_cannot_be_given_is_refused(void **state)
{
    static const struct {
        const char *metadata, *word;
    } cases[] = {
        {",\"annotations\":{\"opensandbox.io/inject\":\"execd\","
         "\"opensandbox.io/inject-version\":\"2\"}",
         "inject-version is not 1"},
        {MARK(",\"opensandbox.io/inject-container\":\"gone\""), "names no container"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pod_spec *pod = NULL;
        struct osb_err err = {0};
        assert_true(fixture_parse(cases[i].metadata, C(""), &pod, &err) < 0);
        assert_non_null(strstr(err.message, cases[i].word));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_built_is_refused_by_its_name),
        cmocka_unit_test(what_is_no_pod_is_refused),
        cmocka_unit_test(more_containers_than_the_limit_are_refused),
        cmocka_unit_test(what_is_not_said_has_kubernetes_defaults),
        cmocka_unit_test(the_pull_policy_follows_the_tag),
        cmocka_unit_test(requests_default_to_limits),
        cmocka_unit_test(a_containers_own_security_wins_over_the_pods),
        cmocka_unit_test(execd_goes_into_the_container_named_sandbox_or_the_first),
        cmocka_unit_test(an_injection_that_cannot_be_given_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
