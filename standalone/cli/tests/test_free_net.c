// SPDX-License-Identifier: Apache-2.0
#include "free_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* The form of /proc/net/route: addresses in network order, printed as little-endian words. */
static const char *const table =
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
    "eth0\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
    "osb-1\t0005460A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
    "tun0\t0000500A\t00000000\t0001\t0\t0\t0\t0000F0FF\t0\t0\t0\n";

static uint32_t network(unsigned a, unsigned b, unsigned c)
{
    return a << 24 | b << 16 | c << 8;
}

static void the_default_route_takes_no_subnet(void **state)
{
    (void)state;
    assert_false(free_net_overlaps(network(10, 99, 1), table));
}

static void an_equal_subnet_is_taken(void **state)
{
    (void)state;
    assert_true(free_net_overlaps(network(10, 70, 5), table));
    assert_false(free_net_overlaps(network(10, 70, 6), table));
}

static void a_subnet_inside_a_wider_route_is_taken(void **state)
{
    (void)state;
    assert_true(free_net_overlaps(network(10, 80, 0), table));
    assert_true(free_net_overlaps(network(10, 95, 255), table));
    assert_false(free_net_overlaps(network(10, 96, 0), table));
}

static void a_route_to_one_host_takes_its_subnet(void **state)
{
    (void)state;
    assert_true(free_net_overlaps(network(10, 64, 3),
                                  "head\nlo\t0703400A\t0\t1\t0\t0\t0\tFFFFFFFF\t0\t0\t0\n"));
}

static void a_free_port_can_be_found_twice(void **state)
{
    int a = 0, b = 0;
    (void)state;
    assert_int_equal(free_net_port(0, &a, NULL), 0);
    assert_int_equal(free_net_port(a, &b, NULL), 0);
    assert_int_equal(a, b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_route_takes_no_subnet),
        cmocka_unit_test(an_equal_subnet_is_taken),
        cmocka_unit_test(a_subnet_inside_a_wider_route_is_taken),
        cmocka_unit_test(a_route_to_one_host_takes_its_subnet),
        cmocka_unit_test(a_free_port_can_be_found_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
