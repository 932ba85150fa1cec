// SPDX-License-Identifier: Apache-2.0
#include "cmocka_all.h"
#include "usage.h"

#include <osb/clock.h>

static void version_2_gives_quota_usage_and_memory_without_cache(void **state)
{
    struct usage usage;

    (void)state;
    usage_read(OSB_TESTDATA "/usage/v2", &usage);
    assert_true(usage.cpu_count > 0.49 && usage.cpu_count < 0.51);
    assert_int_equal(usage.cpu_used_ns, 1234567000);
    assert_int_equal(usage.memory_total, 268435456);
    assert_int_equal(usage.memory_used, 100000000 - 30000000);
}

static void version_1_does_too_and_its_large_number_is_no_limit(void **state)
{
    struct usage usage;

    (void)state;
    usage_read(OSB_TESTDATA "/usage/v1", &usage);
    assert_int_equal(usage.cpu_used_ns, 987654321);
    assert_int_equal(usage.memory_total, 16000000ULL * 1024);
    assert_int_equal(usage.memory_used, 50000000 - 10000000);
}

static void without_a_group_the_machine_counts(void **state)
{
    struct usage usage;

    (void)state;
    usage_read(OSB_TESTDATA "/usage/machine", &usage);
    assert_true(usage.cpu_count >= 1);
    assert_true(usage.cpu_used_ns > 0);
    assert_int_equal(usage.memory_total, 16000000ULL * 1024);
    assert_int_equal(usage.memory_used, 6000000ULL * 1024);
}

static void the_share_of_cpu_is_taken_between_two_readings(void **state)
{
    struct usage a = {.cpu_count = 2, .cpu_used_ns = 100, .taken_ns = 1000};
    struct usage b = {
        .cpu_count = 2, .cpu_used_ns = 100 + OSB_NS_PER_S, .taken_ns = 1000 + OSB_NS_PER_S};

    (void)state;
    assert_true(usage_cpu_percent(&a, &b) > 49.9 && usage_cpu_percent(&a, &b) < 50.1);
    assert_true(usage_cpu_percent(&a, &a) == 0);
    assert_true(usage_cpu_percent(&b, &a) == 0);
    b.cpu_used_ns *= 10;
    assert_true(usage_cpu_percent(&a, &b) == 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_2_gives_quota_usage_and_memory_without_cache),
        cmocka_unit_test(version_1_does_too_and_its_large_number_is_no_limit),
        cmocka_unit_test(without_a_group_the_machine_counts),
        cmocka_unit_test(the_share_of_cpu_is_taken_between_two_readings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
