// SPDX-License-Identifier: Apache-2.0
#include "cidr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void a_subnet_is_an_address_and_a_length(void **state)
{
    uint32_t address = 0;
    int prefix_len = 0;
    (void)state;
    assert_int_equal(cidr_parse("10.1.2.0/24", &address, &prefix_len), 0);
    assert_int_equal(address, 0x0a010200);
    assert_int_equal(prefix_len, 24);
    assert_int_equal(cidr_parse("192.0.2.7/32", &address, &prefix_len), 0);
    assert_int_equal(address, 0xc0000207);
    assert_int_equal(prefix_len, 32);
}

static void anything_else_is_refused_and_changes_nothing(void **state)
{
    static const char *const wrong[] = {
        "",
        "/",
        "10.1.2.0",
        "10.1.2.0/",
        "10.1.2.0/0",
        "10.1.2/24",
        "10.1.2.0/33",
        "10.1.2.0/24x",
        "10.1.2.0/ 24",
        "10.1.2.0/+24",
        "256.1.2.0/8",
        "fd00::/8",
        "10.1.2.0/24/8",
        "10.1.2.0 /24",
        "1111111111111111111111111111.1.1.1/8",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        uint32_t address = 7;
        int prefix_len = 7;
        assert_int_equal(cidr_parse(wrong[i], &address, &prefix_len), -OSB_E_INVALID);
        assert_true(address == 7 && prefix_len == 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_subnet_is_an_address_and_a_length),
        cmocka_unit_test(anything_else_is_refused_and_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
