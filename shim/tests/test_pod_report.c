// SPDX-License-Identifier: Apache-2.0
/* What the API server is told of a pod sandbox. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the ones above first
#include <cmocka.h>

#include "pod_report.h"

struct sample {
    Runtime__V1__PodSandboxStatusResponse answer;
    Runtime__V1__PodSandboxStatus status;
    Runtime__V1__PodSandboxMetadata metadata;
    Runtime__V1__PodSandboxNetworkStatus network;
    Runtime__V1__PodIP second;
    Runtime__V1__PodIP *more[1];
};

static void fill(struct sample *s)
{
    *s = (struct sample){
        .answer = RUNTIME__V1__POD_SANDBOX_STATUS_RESPONSE__INIT,
        .status = RUNTIME__V1__POD_SANDBOX_STATUS__INIT,
        .metadata = RUNTIME__V1__POD_SANDBOX_METADATA__INIT,
        .network = RUNTIME__V1__POD_SANDBOX_NETWORK_STATUS__INIT,
        .second = RUNTIME__V1__POD_IP__INIT,
    };
    s->answer.status = &s->status;
    s->status.metadata = &s->metadata;
    s->status.network = &s->network;
    s->metadata.uid = "u";
    s->network.ip = "10.0.0.1";
}

static void test_address_and_uid_are_told_and_nothing_else(void **state)
{
    _cleanup_buf_ struct osb_buf out = {0};
    struct sample s;
    (void)state;
    fill(&s);
    assert_true(pod_report_patch(&s.answer, &out));
    assert_string_equal(
        osb_buf_cstr(&out),
        "{\"metadata\":{\"uid\":\"u\"},\"status\":{\"podIP\":\"10.0.0.1\",\"podIPs\":"
        "[{\"ip\":\"10.0.0.1\"}]}}");
}

static void test_both_addresses_of_a_dual_stack_pod_are_told(void **state)
{
    _cleanup_buf_ struct osb_buf out = {0};
    struct sample s;
    (void)state;
    fill(&s);
    s.second.ip = "fd00::1";
    s.more[0] = &s.second;
    s.network.additional_ips = s.more;
    s.network.n_additional_ips = 1;
    assert_true(pod_report_patch(&s.answer, &out));
    assert_string_equal(
        osb_buf_cstr(&out),
        "{\"metadata\":{\"uid\":\"u\"},\"status\":{\"podIP\":\"10.0.0.1\",\"podIPs\":"
        "[{\"ip\":\"10.0.0.1\"},{\"ip\":\"fd00::1\"}]}}");
}

static void test_without_an_address_or_a_uid_nothing_is_told(void **state)
{
    _cleanup_buf_ struct osb_buf out = {0};
    struct sample s;
    (void)state;
    fill(&s);
    s.network.ip = ""; /* of the node's network */
    assert_false(pod_report_patch(&s.answer, &out));
    fill(&s);
    s.status.network = NULL;
    assert_false(pod_report_patch(&s.answer, &out));
    fill(&s);
    s.metadata.uid = "";
    assert_false(pod_report_patch(&s.answer, &out));
    fill(&s);
    s.answer.status = NULL;
    assert_false(pod_report_patch(&s.answer, &out));
    assert_int_equal(osb_buf_slice(&out).len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_address_and_uid_are_told_and_nothing_else),
        cmocka_unit_test(test_both_addresses_of_a_dual_stack_pod_are_told),
        cmocka_unit_test(test_without_an_address_or_a_uid_nothing_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
