// SPDX-License-Identifier: Apache-2.0
#include <osb/uuid.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void version_and_variant_are_stamped(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        char text[OSB_UUID_TEXT_MAX];
        osb_uuid_format(osb_uuid_v4(), text);
        assert_int_equal(strlen(text), 36);
        assert_int_equal(text[14], '4');
        assert_non_null(strchr("89ab", text[19]));
        assert_true(text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-');
        assert_int_equal(strspn(text, "0123456789abcdef-"), 36);
    }
}

static void random_ids_differ(void **state)
{
    (void)state;
    struct osb_uuid a = osb_uuid_v4(), b = osb_uuid_v4();
    assert_memory_not_equal(a.bytes, b.bytes, sizeof(a.bytes));
}

/* RFC 9562 appendix A.4: DNS namespace, "www.example.com". */
static void version_five_matches_the_standard(void **state)
{
    (void)state;
    static const uint8_t digest[20] = {0x2e, 0xd6, 0x65, 0x7d, 0xe9, 0x27, 0x46, 0x8b, 0x55, 0xe1,
                                       0x26, 0x65, 0xa8, 0xae, 0xa6, 0xa2, 0x2d, 0xee, 0x3e, 0x35};
    char text[OSB_UUID_TEXT_MAX], hex[OSB_UUID_HEX_MAX];
    struct osb_uuid uuid = osb_uuid_v5_from_sha1(digest);
    assert_string_equal(osb_uuid_format(uuid, text), "2ed6657d-e927-568b-95e1-2665a8aea6a2");
    assert_string_equal(osb_uuid_format_hex(uuid, hex), "2ed6657de927568b95e12665a8aea6a2");
}

static void hex_is_lower_case(void **state)
{
    (void)state;
    char text[9];
    assert_string_equal(osb_hex("\x00\xff\x1a\xa1", 4, text), "00ff1aa1");
    assert_string_equal(osb_hex("", 0, text), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_and_variant_are_stamped),
        cmocka_unit_test(random_ids_differ),
        cmocka_unit_test(version_five_matches_the_standard),
        cmocka_unit_test(hex_is_lower_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
