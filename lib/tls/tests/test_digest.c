// SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include <osb/digest.h>
#include <osb/uuid.h>

static void assert_hex(const uint8_t *digest, size_t len, const char *expected)
{
    char text[2 * OSB_SHA256_LEN + 1];
    assert_string_equal(osb_hex(digest, len, text), expected);
}

/* FIPS 180-4 examples; RFC 4231 test case 2. */
static void digests_are_those_of_the_standards(void **state)
{
    uint8_t digest[OSB_SHA256_LEN];
    (void)state;
    osb_sha1(OSB_SLICE("abc"), digest);
    assert_hex(digest, OSB_SHA1_LEN, "a9993e364706816aba3e25717850c26c9cd0d89d");
    osb_sha256(OSB_SLICE("abc"), digest);
    assert_hex(digest, OSB_SHA256_LEN,
               "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    osb_hmac_sha256(OSB_SLICE("Jefe"), OSB_SLICE("what do ya want for nothing?"), digest);
    assert_hex(digest, OSB_SHA256_LEN,
               "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

static void the_empty_slice_has_a_digest(void **state)
{
    uint8_t digest[OSB_SHA256_LEN];
    (void)state;
    osb_sha256(OSB_SLICE_NULL, digest);
    assert_hex(digest, OSB_SHA256_LEN,
               "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    osb_hmac_sha256(OSB_SLICE_NULL, OSB_SLICE_NULL, digest);
    assert_hex(digest, OSB_SHA256_LEN,
               "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

static void a_streamed_digest_is_that_of_the_whole(void **state)
{
    uint8_t digest[OSB_SHA256_LEN];
    struct osb_sha256_stream *stream = osb_sha256_new();
    (void)state;
    osb_sha256_update(stream, OSB_SLICE("a"));
    osb_sha256_update(stream, OSB_SLICE_NULL);
    osb_sha256_update(stream, OSB_SLICE("bc"));
    osb_sha256_final(stream, digest);
    assert_hex(digest, OSB_SHA256_LEN,
               "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_those_of_the_standards),
        cmocka_unit_test(the_empty_slice_has_a_digest),
        cmocka_unit_test(a_streamed_digest_is_that_of_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
