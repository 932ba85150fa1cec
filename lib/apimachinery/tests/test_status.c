// SPDX-License-Identifier: Apache-2.0
#include <osb/api_status.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test_json.h"

static void test_a_failure_has_the_members_of_a_real_one(void **state)
{
    struct osb_buf out = {0};
    const struct osb_api_status status = {
        .code = 404,
        .reason = "NotFound",
        .message = "pods \"x\" not found",
        .kind = "pods",
        .name = "x",
    };
    (void)state;
    osb_api_status_print(&status, &out);
    assert_string_equal(
        osb_buf_cstr(&out),
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
        "\"Failure\",\"message\":\"pods \\\"x\\\" not found\",\"reason\":"
        "\"NotFound\",\"details\":{\"name\":\"x\",\"kind\":\"pods\"},\"code\":404}");
    osb_buf_done(&out);
}

static void test_causes_and_the_wait_are_details(void **state)
{
    struct osb_buf out = {0};
    const struct osb_api_cause causes[] = {{"FieldValueRequired", "Required value", "spec.a"}};
    const struct osb_api_status status = {
        .code = 422,
        .reason = "Invalid",
        .message = "m",
        .retry_after_s = 3,
        .causes = causes,
        .cause_count = 1,
    };
    (void)state;
    osb_api_status_print(&status, &out);
    _cleanup_json_ struct osb_json *tree = parse(osb_buf_cstr(&out));
    expect_json(osb_json_get(tree, "details"),
                "{\"causes\":[{\"reason\":\"FieldValueRequired\",\"message\":\"Required value\","
                "\"field\":\"spec.a\"}],\"retryAfterSeconds\":3}");
    osb_buf_done(&out);
}

static void test_a_success_names_what_was_deleted(void **state)
{
    struct osb_buf out = {0};
    (void)state;
    osb_api_status_print_success(NULL, "pods", "x", "u-1", &out);
    assert_string_equal(osb_buf_cstr(&out),
                        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                        "\"Success\",\"details\":{\"name\":\"x\",\"kind\":\"pods\",\"uid\":\"u-1\"}"
                        "}");
    osb_buf_done(&out);
}

static void test_the_reason_decides_before_the_http_status(void **state)
{
    static const struct {
        int http;
        const char *body;
        int code;
    } CASES[] = {
        {200, "", 0},
        {201, "{}", 0},
        {409, "{\"kind\":\"Status\",\"reason\":\"AlreadyExists\"}", -OSB_E_EXISTS},
        {409, "{\"kind\":\"Status\",\"reason\":\"Conflict\"}", -OSB_E_CONFLICT},
        {410, "{\"kind\":\"Status\",\"reason\":\"Expired\"}", -OSB_E_EXPIRED},
        {410, "{\"kind\":\"Status\",\"reason\":\"Gone\"}", -OSB_E_EXPIRED},
        {422, "{\"kind\":\"Status\",\"reason\":\"Invalid\"}", -OSB_E_INVALID},
        {400, "{\"kind\":\"Status\",\"reason\":\"BadRequest\"}", -OSB_E_INVALID},
        {500, "{\"kind\":\"Status\",\"reason\":\"ServerTimeout\"}", -OSB_E_UNAVAILABLE},
        {504, "{\"kind\":\"Status\",\"reason\":\"Timeout\"}", -OSB_E_TIMEOUT},
        {429, "", -OSB_E_RATE_LIMITED},
        {404, "<html>", -OSB_E_NOT_FOUND},
        {409, "{\"reason\":\"AlreadyExists\"}", -OSB_E_CONFLICT},
        {403, "{\"kind\":\"Status\",\"reason\":7}", -OSB_E_FORBIDDEN},
        {101, "", -OSB_E_INTERNAL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        assert_int_equal(osb_api_status_to_err(CASES[i].http, osb_slice_str(CASES[i].body), NULL),
                         CASES[i].code);
}

static void test_the_message_is_the_servers_own(void **state)
{
    struct osb_err err = {0};
    (void)state;
    osb_api_status_to_err(
        404, OSB_SLICE("{\"kind\":\"Status\",\"message\":\"pods \\\"x\\\" not found\"}"), &err);
    assert_string_equal(err.message, "pods \"x\" not found");
    assert_int_equal(err.http_status, 404);
    osb_api_status_to_err(502, OSB_SLICE("oops"), &err);
    assert_string_equal(err.message, "the API server answered 502");
}

static void test_reasons_lead_back_to_their_codes(void **state)
{
    static const int CODES[] = {
        -OSB_E_NOT_FOUND,       -OSB_E_EXISTS,      -OSB_E_CONFLICT, -OSB_E_INVALID,
        -OSB_E_FORBIDDEN,       -OSB_E_EXPIRED,     -OSB_E_TIMEOUT,  -OSB_E_UNAVAILABLE,
        -OSB_E_RATE_LIMITED,    -OSB_E_UNSUPPORTED, -OSB_E_INTERNAL, -OSB_E_TOO_LARGE,
        -OSB_E_UNAUTHENTICATED,
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CODES) / sizeof(CODES[0]); i++) {
        struct osb_buf body = {0};
        const struct osb_api_status status = {.code = 500, .reason = osb_api_reason(CODES[i])};
        osb_api_status_print(&status, &body);
        assert_int_equal(osb_api_status_to_err(500, osb_buf_slice(&body), NULL), CODES[i]);
        osb_buf_done(&body);
    }
    assert_string_equal(osb_api_reason(-EIO), "InternalError");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_failure_has_the_members_of_a_real_one),
        cmocka_unit_test(test_causes_and_the_wait_are_details),
        cmocka_unit_test(test_a_success_names_what_was_deleted),
        cmocka_unit_test(test_the_reason_decides_before_the_http_status),
        cmocka_unit_test(test_the_message_is_the_servers_own),
        cmocka_unit_test(test_reasons_lead_back_to_their_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
