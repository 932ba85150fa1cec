// SPDX-License-Identifier: Apache-2.0
#include <osb/clock.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void monotonic_time_does_not_go_back(void **state)
{
    (void)state;
    uint64_t last = osb_monotonic_ns();
    for (int i = 0; i < 1000; i++) {
        uint64_t now = osb_monotonic_ns();
        assert_true(now >= last);
        last = now;
    }
    assert_true(osb_realtime_ns() > 1700000000 * (int64_t)OSB_NS_PER_S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(monotonic_time_does_not_go_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
