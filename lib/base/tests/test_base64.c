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

/* RFC 4648 section 10. */
static const struct {
    const char *plain, *text;
} vectors[] = {{"", ""},
               {"f", "Zg=="},
               {"fo", "Zm8="},
               {"foo", "Zm9v"},
               {"foob", "Zm9vYg=="},
               {"fooba", "Zm9vYmE="},
               {"foobar", "Zm9vYmFy"}};

static void the_standard_vectors_hold_both_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        _cleanup_buf_ struct osb_buf text = {0}, plain = {0};
        osb_base64_encode(&text, osb_slice_str(vectors[i].plain));
        assert_string_equal(osb_buf_cstr(&text), vectors[i].text);
        assert_int_equal(osb_base64_decode(&plain, osb_slice_str(vectors[i].text)), 0);
        assert_string_equal(osb_buf_cstr(&plain), vectors[i].plain);
    }
}

static void all_bytes_come_back(void **state)
{
    (void)state;
    char bytes[256];
    for (int i = 0; i < 256; i++)
        bytes[i] = (char)i;
    for (size_t len = 0; len <= sizeof(bytes); len++) {
        _cleanup_buf_ struct osb_buf text = {0}, plain = {0};
        osb_base64_encode(&text, osb_slice(bytes, len));
        assert_int_equal(osb_base64_decode(&plain, osb_buf_slice(&text)), 0);
        assert_true(osb_slice_eq(osb_buf_slice(&plain), osb_slice(bytes, len)));
    }
}

static void loose_forms_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"Z",    "Zg",   "Zg=",       "Zg===",    "Zh==",   "Zm9=",
                                      "====", "Z===", "Zg==Zg==",  "Zm9v\n",   "Zm 9",   "Zm-_",
                                      "=Zg=", "Zg=v", "Zm9vYmFy=", "Zm9v====", "Zm9\xff"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        _cleanup_buf_ struct osb_buf out = {0};
        osb_buf_append_str(&out, "kept");
        if (osb_base64_decode(&out, osb_slice_str(bad[i])) != -OSB_E_SYNTAX)
            fail_msg("%s was accepted", bad[i]);
        assert_string_equal(osb_buf_cstr(&out), "kept");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_standard_vectors_hold_both_ways),
        cmocka_unit_test(all_bytes_come_back),
        cmocka_unit_test(loose_forms_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
