// SPDX-License-Identifier: Apache-2.0
#include <osb/alloc.h>
#include <osb/kube_client.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// cmocka needs the ones above first
#include <cmocka.h>

#include "script_transport.h"

struct fixture {
    struct osb_loop *loop;
    struct script *script;
    struct osb_kube_client *client;
    int done;
    int r;
    int retry_after_s;
    struct osb_err err;
    struct osb_buf body;
};

static void on_done(int r, struct osb_slice body, const struct osb_err *err, void *arg)
{
    struct fixture *f = arg;
    f->done++;
    f->r = r;
    f->retry_after_s = osb_kube_retry_after_s(f->client);
    if (err)
        f->err = *err;
    osb_buf_clear(&f->body);
    osb_buf_append_slice(&f->body, body);
}

static void on_data(struct osb_slice data, void *arg)
{
    struct fixture *f = arg;
    osb_buf_append_slice(&f->body, data);
}

static int set_up(void **state)
{
    struct fixture *f = osb_new(struct fixture);
    assert_int_equal(osb_loop_new_sim(&f->loop, NULL), 0);
    f->script = script_new();
    f->client = osb_kube_client_new(f->loop, &f->script->transport);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    osb_kube_client_free(f->client);
    osb_loop_free(f->loop);
    osb_buf_done(&f->body);
    free(f);
    return 0;
}

static void test_verbs_go_to_their_paths(void **state)
{
    struct fixture *f = *state;
    _cleanup_json_ struct osb_json *object = osb_json_new_object();
    osb_kube_get(f->client, &osb_kind_pod, "n", "p", on_done, f, NULL, NULL);
    struct script_request *request = script_last(f->script, 1);
    assert_string_equal(request->method, "GET");
    assert_string_equal(request->path, "/api/v1/namespaces/n/pods/p");
    assert_null(request->content_type);
    assert_int_equal(request->timeout_ms, OSB_KUBE_REQUEST_TIMEOUT_MS);
    script_answer(request, 200, "{\"x\":1}");
    assert_int_equal(f->r, 0);
    assert_string_equal(osb_buf_cstr(&f->body), "{\"x\":1}");

    osb_kube_create(f->client, &osb_kind_batchsandbox, "n", object, on_done, f, NULL, NULL);
    request = script_last(f->script, 2);
    assert_string_equal(request->method, "POST");
    assert_string_equal(request->path,
                        "/apis/sandbox.opensandbox.io/v1alpha1/namespaces/n/batchsandboxes");
    assert_string_equal(request->content_type, "application/json");
    assert_string_equal(request->body, "{}");
    script_answer(request, 201, "{}");

    osb_kube_patch(f->client, &osb_kind_batchsandbox, "n", "b", "status", OSB_KUBE_PATCH_MERGE,
                   osb_slice_str("{\"status\":{}}"), on_done, f, NULL, NULL);
    request = script_last(f->script, 3);
    assert_string_equal(request->method, "PATCH");
    assert_string_equal(
        request->path,
        "/apis/sandbox.opensandbox.io/v1alpha1/namespaces/n/batchsandboxes/b/status");
    assert_string_equal(request->content_type, "application/merge-patch+json");
    script_answer(request, 200, "{}");
    assert_int_equal(f->done, 3);
}

static void test_deletion_carries_its_preconditions(void **state)
{
    struct fixture *f = *state;
    struct osb_kube_delete_options options = {
        .uid = "u", .resource_version = "5", .grace_seconds = 0, .propagation = "Background"};
    osb_kube_delete(f->client, &osb_kind_pod, "n", "p", &options, on_done, f, NULL, NULL);
    struct script_request *request = script_last(f->script, 1);
    assert_string_equal(request->method, "DELETE");
    assert_string_equal(request->body,
                        "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\","
                        "\"gracePeriodSeconds\":0,\"propagationPolicy\":\"Background\","
                        "\"preconditions\":{\"uid\":\"u\",\"resourceVersion\":\"5\"}}");
    script_answer(request, 200, "{}");
    osb_kube_delete(f->client, &osb_kind_pod, "n", "p", NULL, on_done, f, NULL, NULL);
    assert_string_equal(script_last(f->script, 2)->body, "");
    script_answer(script_last(f->script, 2), 404, "{}");
    assert_int_equal(f->r, -OSB_E_NOT_FOUND);
}

static void test_a_refusal_arrives_as_the_error_its_status_tells(void **state)
{
    static const struct {
        int status;
        const char *reason;
        int r;
    } cases[] = {
        {409, "AlreadyExists", -OSB_E_EXISTS},
        {409, "Conflict", -OSB_E_CONFLICT},
        {410, "Expired", -OSB_E_EXPIRED},
        {422, "Invalid", -OSB_E_INVALID},
        {403, "Forbidden", -OSB_E_FORBIDDEN},
        {401, "Unauthorized", -OSB_E_UNAUTHENTICATED},
        {404, "NotFound", -OSB_E_NOT_FOUND},
        {429, "TooManyRequests", -OSB_E_RATE_LIMITED},
        {503, "ServiceUnavailable", -OSB_E_UNAVAILABLE},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char body[256];
        snprintf(body, sizeof(body),
                 "{\"kind\":\"Status\",\"reason\":\"%s\",\"message\":\"said %s\",\"code\":%d}",
                 cases[i].reason, cases[i].reason, cases[i].status);
        osb_kube_get(f->client, &osb_kind_pod, "n", "p", on_done, f, NULL, NULL);
        script_answer(script_last(f->script, (int)i + 1), cases[i].status, body);
        assert_int_equal(f->r, cases[i].r);
        assert_non_null(strstr(f->err.message, cases[i].reason));
        assert_int_equal(f->body.len, 0);
    }
}

static void test_retry_after_is_told_during_the_callback_only(void **state)
{
    struct fixture *f = *state;
    osb_kube_get(f->client, &osb_kind_pod, "n", "p", on_done, f, NULL, NULL);
    script_answer_later(script_last(f->script, 1), 429, 9, "");
    assert_int_equal(f->retry_after_s, 9);
    assert_int_equal(osb_kube_retry_after_s(f->client), 0);
}

static void test_a_lost_connection_is_an_error_even_after_a_good_status(void **state)
{
    struct fixture *f = *state;
    osb_kube_get(f->client, &osb_kind_pod, "n", "p", on_done, f, NULL, NULL);
    script_begin(script_last(f->script, 1));
    script_data(script_last(f->script, 1), "{\"half\":");
    script_end(script_last(f->script, 1), -OSB_E_CLOSED);
    assert_int_equal(f->r, -OSB_E_CLOSED);
    assert_int_equal(f->body.len, 0);
}

static void test_an_answer_over_the_limit_is_an_error(void **state)
{
    struct fixture *f = *state;
    struct osb_kube_http_request request = {.method = "GET", .path = "/x"};
    osb_kube_raw(f->client, &request, 4, on_done, f, NULL, NULL);
    script_answer(script_last(f->script, 1), 200, "12345");
    assert_int_equal(f->r, -OSB_E_TOO_LARGE);
    osb_kube_raw(f->client, &request, 5, on_done, f, NULL, NULL);
    script_answer(script_last(f->script, 2), 200, "12345");
    assert_int_equal(f->r, 0);
}

static void test_the_request_id_goes_with_calls_started_after_it_was_set(void **state)
{
    struct fixture *f = *state;
    osb_kube_client_set_request_id(f->client, "r-1");
    osb_kube_get(f->client, &osb_kind_pod, "n", "p", on_done, f, NULL, NULL);
    assert_string_equal(script_last(f->script, 1)->request_id, "r-1");
    osb_kube_client_set_request_id(f->client, NULL);
    osb_kube_get(f->client, &osb_kind_pod, "n", "p", on_done, f, NULL, NULL);
    assert_null(script_last(f->script, 2)->request_id);
}

static void test_a_stream_gives_its_pieces_and_its_refusal(void **state)
{
    struct fixture *f = *state;
    struct osb_kube_http_request request = {.method = "GET", .path = "/log"};
    osb_kube_stream(f->client, &request, on_data, on_done, f, NULL, NULL);
    script_begin(script_last(f->script, 1));
    script_data(script_last(f->script, 1), "one ");
    script_data(script_last(f->script, 1), "two");
    assert_string_equal(osb_buf_cstr(&f->body), "one two");
    script_end(script_last(f->script, 1), 0);
    assert_int_equal(f->r, 0);

    osb_kube_stream(f->client, &request, on_data, on_done, f, NULL, NULL);
    script_answer(script_last(f->script, 2), 403, "{\"kind\":\"Status\",\"message\":\"no\"}");
    assert_int_equal(f->r, -OSB_E_FORBIDDEN);
    assert_int_equal(f->body.len, 0);
}

static void test_a_cancelled_call_and_a_freed_client_call_nobody(void **state)
{
    struct fixture *f = *state;
    struct osb_kube_call *call = NULL;
    osb_kube_get(f->client, &osb_kind_pod, "n", "p", on_done, f, &call, NULL);
    osb_kube_cancel(call);
    assert_true(script_last(f->script, 1)->is_cancelled);
    osb_kube_get(f->client, &osb_kind_pod, "n", "p", on_done, f, NULL, NULL);
    assert_int_equal(f->done, 0);
}

static void test_a_call_that_cannot_begin_fails_at_once(void **state)
{
    struct fixture *f = *state;
    struct osb_err err = {0};
    f->script->refuse = 1;
    assert_int_equal(osb_kube_get(f->client, &osb_kind_pod, "n", "p", on_done, f, NULL, &err),
                     -OSB_E_UNAVAILABLE);
    assert_string_equal(err.message, "GET /api/v1/namespaces/n/pods/p: refused");
    assert_int_equal(f->done, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_verbs_go_to_their_paths),
        TEST(test_deletion_carries_its_preconditions),
        TEST(test_a_refusal_arrives_as_the_error_its_status_tells),
        TEST(test_retry_after_is_told_during_the_callback_only),
        TEST(test_a_lost_connection_is_an_error_even_after_a_good_status),
        TEST(test_an_answer_over_the_limit_is_an_error),
        TEST(test_the_request_id_goes_with_calls_started_after_it_was_set),
        TEST(test_a_stream_gives_its_pieces_and_its_refusal),
        TEST(test_a_cancelled_call_and_a_freed_client_call_nobody),
        TEST(test_a_call_that_cannot_begin_fails_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
