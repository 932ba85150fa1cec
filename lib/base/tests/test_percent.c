// SPDX-License-Identifier: Apache-2.0
#include <osb/err.h>
#include <osb/text.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void decodes(const char *in, bool plus_is_space, struct osb_slice expected)
{
    _cleanup_buf_ struct osb_buf out = {0};
    assert_int_equal(osb_percent_decode(&out, osb_slice_str(in), plus_is_space), 0);
    assert_true(osb_slice_eq(osb_buf_slice(&out), expected));
}

static void triplets_are_decoded(void **state)
{
    (void)state;
    decodes("", false, OSB_SLICE(""));
    decodes("a%20b%2Fc%2f", false, OSB_SLICE("a b/c/"));
    decodes("%00%ff", false, OSB_SLICE("\0\xff"));
    decodes("a+b", false, OSB_SLICE("a+b"));
    decodes("a+b%2B", true, OSB_SLICE("a b+"));
    decodes("%25%41", false, OSB_SLICE("%A"));
}

static void broken_triplets_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"%", "%4", "%4g", "%g4", "abc%", "%%41", "% 4", "%+4"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        _cleanup_buf_ struct osb_buf out = {0};
        assert_int_equal(osb_percent_decode(&out, osb_slice_str(bad[i]), true), -OSB_E_SYNTAX);
        assert_int_equal(out.len, 0);
    }
}

static void only_unreserved_characters_stay(void **state)
{
    (void)state;
    _cleanup_buf_ struct osb_buf out = {0};
    osb_percent_encode(&out, OSB_SLICE("AZaz09-._~ /?\xff\0"));
    assert_string_equal(osb_buf_cstr(&out), "AZaz09-._~%20%2F%3F%FF%00");
}

static void every_byte_comes_back(void **state)
{
    (void)state;
    char bytes[256];
    for (int i = 0; i < 256; i++)
        bytes[i] = (char)i;
    _cleanup_buf_ struct osb_buf text = {0}, plain = {0};
    osb_percent_encode(&text, osb_slice(bytes, sizeof(bytes)));
    assert_int_equal(osb_percent_decode(&plain, osb_buf_slice(&text), true), 0);
    assert_true(osb_slice_eq(osb_buf_slice(&plain), osb_slice(bytes, sizeof(bytes))));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triplets_are_decoded),
        cmocka_unit_test(broken_triplets_are_refused),
        cmocka_unit_test(only_unreserved_characters_stay),
        cmocka_unit_test(every_byte_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
