// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"
#include "protobuf.h"

/* A Namespace "n" with a label and the empty fields that encoders always send. */
static const unsigned char namespace_body[] = {
    'k', '8',  's',  0,   0x0a, 15,   0x0a, 2,    'v',  '1',  0x12, 9,    'N',
    'a', 'm',  'e',  's', 'p',  'a',  'c',  'e',  0x12, 25,   0x0a, 19,   0x0a,
    1,   'n',  0x12, 0,   0x38, 0,    0x42, 0,    0x5a, 8,    0x0a, 2,    'k',
    '1', 0x12, 2,    'v', '1',  0x12, 0,    0x1a, 0,    0x1a, 0,    0x22, 0};

/* A Secret with data {"k": "x"} and immutable false. */
static const unsigned char secret_body[] = {'k',  '8', 's',  0,   0x0a, 12,   0x0a, 2,   'v',  '1',
                                            0x12, 6,   'S',  'e', 'c',  'r',  'e',  't', 0x12, 10,
                                            0x12, 6,   0x0a, 1,   'k',  0x12, 1,    'x', 0x28, 0};

static struct osb_json *decode(const unsigned char *body, size_t len)
{
    struct osb_json *tree = NULL;
    struct osb_err err = {0};
    if (protobuf_decode(osb_slice(body, len), &tree, &err) < 0)
        fail_msg("%s", err.message);
    return tree;
}

static void an_object_is_read_and_empty_fields_are_absent(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *tree = decode(namespace_body, sizeof(namespace_body));
    _cleanup_buf_ struct osb_buf text = {0};
    osb_json_print(osb_json_get(tree, "metadata"), &text);
    assert_string_equal(osb_buf_cstr(&text), "{\"name\":\"n\",\"labels\":{\"k1\":\"v1\"}}");
    assert_string_equal(osb_json_cstr(osb_json_get(tree, "kind")), "Namespace");
    assert_string_equal(osb_json_cstr(osb_json_get(tree, "apiVersion")), "v1");
}

static void bytes_become_base64_and_optional_zeros_stay(void **state)
{
    (void)state;
    _cleanup_json_ struct osb_json *tree = decode(secret_body, sizeof(secret_body));
    assert_string_equal(osb_json_cstr(osb_json_get_path(tree, "data.k")), "eA==");
    assert_int_equal(osb_json_type(osb_json_get(tree, "immutable")), OSB_JSON_BOOL);
}

static void every_cut_is_an_error_or_a_smaller_object(void **state)
{
    (void)state;
    for (size_t len = 0; len < sizeof(namespace_body); len++) {
        struct osb_json *tree = NULL;
        int r = protobuf_decode(osb_slice(namespace_body, len), &tree, NULL);
        assert_true(r == 0 || r == -OSB_E_SYNTAX || r == -OSB_E_UNSUPPORTED);
        assert_true(r < 0 || tree);
        osb_json_free(tree);
    }
}

static void an_unknown_kind_is_told_to_send_json(void **state)
{
    (void)state;
    unsigned char body[sizeof(namespace_body)];
    struct osb_json *tree = NULL;
    struct osb_err err = {0};
    memcpy(body, namespace_body, sizeof(body));
    body[12] = 'X';
    assert_int_equal(protobuf_decode(osb_slice(body, sizeof(body)), &tree, &err),
                     -OSB_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "JSON"));
    assert_int_equal(protobuf_decode(OSB_SLICE("{}"), &tree, NULL), -OSB_E_SYNTAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_is_read_and_empty_fields_are_absent),
        cmocka_unit_test(bytes_become_base64_and_optional_zeros_stay),
        cmocka_unit_test(every_cut_is_an_error_or_a_smaller_object),
        cmocka_unit_test(an_unknown_kind_is_told_to_send_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
