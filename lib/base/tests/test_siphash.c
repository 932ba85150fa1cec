// SPDX-License-Identifier: Apache-2.0
#include "siphash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The inputs are 00 01 02 ...; the values are those of other implementations, little endian. */
static void known_values_hold(void **state)
{
    (void)state;
    static const struct {
        uint64_t key[2];
        size_t len;
        uint64_t hash;
    } cases[] = {{{0, 0}, 1, 0x68a914128e01e473ULL},
                 {{0, 0}, 7, 0x2f098ab0c751325aULL},
                 {{0, 0}, 8, 0xead411e67ebe2eeaULL},
                 {{0, 0}, 9, 0x75927f9d95124362ULL},
                 {{0, 0}, 31, 0x169739443111d49bULL},
                 {{0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL}, 0, 0xabac0158050fc4dcULL}};
    char input[32];
    for (size_t i = 0; i < sizeof(input); i++)
        input[i] = (char)i;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_true(siphash13(cases[i].key, osb_slice(input, cases[i].len)) == cases[i].hash);
}

static void keys_and_lengths_change_the_hash(void **state)
{
    (void)state;
    const uint64_t key[2] = {0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL};
    const uint64_t other[2] = {0x0706050403020101ULL, 0x0f0e0d0c0b0a0908ULL};
    char input[64];
    uint64_t seen[64];
    for (size_t i = 0; i < sizeof(input); i++)
        input[i] = (char)i;
    for (size_t i = 0; i < 64; i++) {
        seen[i] = siphash13(key, osb_slice(input, i));
        assert_true(seen[i] != siphash13(other, osb_slice(input, i)));
        for (size_t k = 0; k < i; k++)
            assert_true(seen[k] != seen[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values_hold),
        cmocka_unit_test(keys_and_lengths_change_the_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
