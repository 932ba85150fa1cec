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

/* The reference key 00 01 .. 0f over the inputs "", 00, 00 01, ... */
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
        cmocka_unit_test(keys_and_lengths_change_the_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
