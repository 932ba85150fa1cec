// SPDX-License-Identifier: Apache-2.0
#include <osb/secret.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void a_secret_is_copied_compared_and_forgotten(void **state)
{
    (void)state;
    struct osb_secret secret = {0};
    assert_true(osb_secret_is_empty(&secret));
    osb_secret_set(&secret, OSB_SLICE("hunter2"));
    assert_true(osb_secret_eq(&secret, OSB_SLICE("hunter2")));
    assert_false(osb_secret_eq(&secret, OSB_SLICE("hunter3")));
    assert_false(osb_secret_eq(&secret, OSB_SLICE("hunter")));
    assert_string_equal(secret.bytes, "hunter2");
    osb_secret_set(&secret, osb_slice_from(osb_secret_reveal(&secret), 6));
    assert_true(osb_secret_eq(&secret, OSB_SLICE("2")));
    osb_secret_done(&secret);
    assert_true(osb_secret_is_empty(&secret));
    assert_null(secret.bytes);
}

static void generated_secrets_are_url_safe_and_differ(void **state)
{
    (void)state;
    _cleanup_secret_ struct osb_secret a = {0}, b = {0};
    osb_secret_generate(&a);
    osb_secret_generate(&b);
    assert_int_equal(a.len, 43);
    assert_int_equal(strspn(a.bytes, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                     "0123456789-_"),
                     43);
    /* 256 bits fill 42 characters and four bits of the last, whose low two are zero. */
    assert_non_null(strchr("AEIMQUYcgkosw048", a.bytes[42]));
    assert_false(osb_secret_eq(&a, osb_secret_reveal(&b)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_secret_is_copied_compared_and_forgotten),
        cmocka_unit_test(generated_secrets_are_url_safe_and_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
