// SPDX-License-Identifier: Apache-2.0
/* The REST facade with its controller against an API server in memory, on the virtual clock. */
#include <osb/alloc.h>
#include <osb/clock.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// cmocka needs the ones above first
#include <cmocka.h>

#include "fake_api.h"
#include "operator_process.h"
#include "rest_talk.h"

enum { CREATE_WAIT_MS = 2000, ENDPOINT_WAIT_MS = 1000, STEP_MS = 5 };

#define BODY                                                                                       \
    "{\"image\":{\"uri\":\"base:1\"},\"entrypoint\":[\"sleep\",\"9\"],\"timeout\":600,"            \
    "\"resourceLimits\":{\"cpu\":\"1\"},\"metadata\":{\"team\":\"x\"}}"
#define OTHER_BODY                                                                                 \
    "{\"image\":{\"uri\":\"base:2\"},\"entrypoint\":[\"sleep\",\"9\"],"                            \
    "\"resourceLimits\":{\"cpu\":\"1\"}}"

struct fixture {
    struct osb_loop *loop;
    struct fake_api *api;
    struct process *process;
    struct rest *rest;
    bool is_node_down;
    enum fake_fault next_fault; /* of the next POST of a BatchSandbox */
    bool is_drained;
};

static enum fake_fault on_write(struct fake_api *api, const char *method, const char *path,
                                void *arg)
{
    struct fixture *f = arg;
    enum fake_fault fault = f->next_fault;
    (void)api;
    if (strcmp(method, "POST") != 0 || !strstr(path, "batchsandboxes"))
        return FAKE_OK;
    f->next_fault = FAKE_OK;
    return fault;
}

static int set_up(void **state)
{
    struct fixture *f = osb_new(struct fixture);
    assert_int_equal(osb_loop_new_sim(&f->loop, NULL), 0);
    f->api = fake_api_new(f->loop);
    f->api->fault = on_write;
    f->api->fault_arg = f;
    f->process = process_start(f->api, 5);
    struct config *config = &f->process->config;
    config->server.host = osb_strdup("127.0.0.1");
    config->server.drain_s = 5;
    config->server.keep_alive_s = 30;
    config->kubernetes.create_wait_ms = CREATE_WAIT_MS;
    config->kubernetes.endpoint_wait_ms = ENDPOINT_WAIT_MS;
    osb_secret_set(&config->server.api_key, OSB_SLICE(TALK_KEY));
    f->process->op.namespace_ = "default";
    assert_int_equal(rest_new(&f->process->op, &f->rest, NULL), 0);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    rest_free(f->rest);
    osb_secret_done(&f->process->config.server.api_key);
    free(f->process->config.server.host);
    process_kill(f->process);
    fake_api_free(f->api);
    osb_loop_free(f->loop);
    free(f);
    return 0;
}

/* ---- helpers ---- */

static void step(struct fixture *f)
{
    osb_loop_sim_settle(f->loop);
    if (!f->is_node_down)
        fake_node_turn(f->api);
    osb_loop_sim_advance(f->loop, STEP_MS * OSB_NS_PER_MS);
    osb_loop_sim_settle(f->loop);
}

static void run_ms(struct fixture *f, uint64_t ms)
{
    for (uint64_t passed = 0; passed < ms; passed += STEP_MS)
        step(f);
}

/* Runs until the answer is there; fails after LIMIT_MS. */
static void await(struct fixture *f, struct talk *talk, uint64_t limit_ms)
{
    for (uint64_t passed = 0; !talk_read(talk); passed += STEP_MS) {
        assert_true(passed <= limit_ms);
        step(f);
    }
}

static void ask(struct fixture *f, struct talk *talk, const char *method, const char *path,
                const char *headers, const char *body)
{
    talk_send(talk, f->rest, method, path, headers, body);
    await(f, talk, CREATE_WAIT_MS + 500);
}

static int status_of(struct fixture *f, const char *method, const char *path, const char *body)
{
    struct talk talk;
    ask(f, &talk, method, path, "", body);
    int status = talk.status;
    talk_done(&talk);
    return status;
}

static int count(const struct fixture *f)
{
    return fake_api_count(f->api, "batchsandboxes");
}

static void end_main_process(struct fixture *f, const char *pod, int exit_code)
{
    _cleanup_free_ char *text = osb_asprintf(
        "{\"status\":{\"phase\":\"Failed\",\"podIP\":\"10.0.0.1\",\"containerStatuses\":[{"
        "\"name\":\"sandbox\",\"state\":{\"terminated\":{\"exitCode\":%d,\"reason\":\"Error\"}}}]}"
        "}",
        exit_code);
    fake_api_patch(f->api, "pods", pod, text);
}

/* ---- creating ---- */

static void a_create_is_answered_when_the_sandbox_runs(void **state)
{
    struct fixture *f = *state;
    struct talk talk;
    ask(f, &talk, "POST", "/v1/sandboxes", "", BODY);
    assert_int_equal(talk.status, 202);
    assert_string_equal(talk_text(&talk, "status.state"), "Running");
    assert_string_equal(talk_text(&talk, "metadata.team"), "x");
    const struct osb_json *object = fake_api_get(f->api, "batchsandboxes", talk_text(&talk, "id"));
    assert_non_null(object);
    _cleanup_free_ char *path = osb_asprintf("/sandboxes/%s", talk_text(&talk, "id"));
    talk_done(&talk);
    assert_int_equal(status_of(f, "GET", path, NULL), 200);
}

static void a_create_that_takes_long_is_answered_pending(void **state)
{
    struct fixture *f = *state;
    struct talk talk;
    f->is_node_down = true;
    talk_send(&talk, f->rest, "POST", "/sandboxes", "", BODY);
    run_ms(f, CREATE_WAIT_MS - 100);
    assert_false(talk_read(&talk));
    await(f, &talk, 300);
    assert_int_equal(talk.status, 202);
    assert_string_equal(talk_text(&talk, "status.state"), "Pending");
    assert_int_equal(count(f), 1);
    talk_done(&talk);
}

static void who_prefers_not_to_wait_does_not(void **state)
{
    struct fixture *f = *state;
    struct talk talk;
    f->is_node_down = true;
    talk_send(&talk, f->rest, "POST", "/sandboxes", "Prefer: respond-async\r\n", BODY);
    await(f, &talk, 100);
    assert_int_equal(talk.status, 202);
    talk_done(&talk);
    talk_send(&talk, f->rest, "GET", "/sandboxes", "", NULL);
    await(f, &talk, 100);
    assert_int_equal(osb_json_count(osb_json_get(talk.body, "items")), 1);
    talk_done(&talk);
}

static void a_sandbox_that_ends_at_once_fails_its_create_and_is_gone(void **state)
{
    struct fixture *f = *state;
    struct talk talk;
    f->is_node_down = true;
    talk_send(&talk, f->rest, "POST", "/sandboxes", "", BODY);
    run_ms(f, 200);
    const struct osb_kube_object *made = osb_kube_store_next(f->process->op.batchsandboxes, NULL);
    assert_non_null(made);
    _cleanup_free_ char *pod = osb_asprintf("%s-0", made->name);
    end_main_process(f, pod, 42);
    await(f, &talk, 500);
    assert_int_equal(talk.status, 500);
    assert_string_equal(talk_text(&talk, "code"), "KUBERNETES::POD_FAILED");
    assert_non_null(strstr(talk_text(&talk, "message"), "exit code=42"));
    assert_int_equal(count(f), 0);
    talk_done(&talk);
}

static void a_caller_that_goes_at_any_moment_leaves_no_sandbox(void **state)
{
    struct fixture *f = *state;
    f->api->answer_ms = 20;
    f->is_node_down = true;
    for (uint64_t after_ms = 0; after_ms <= 300; after_ms += 10) {
        struct talk talk;
        talk_send(&talk, f->rest, "POST", "/sandboxes", "", BODY);
        run_ms(f, after_ms);
        assert_false(talk_read(&talk));
        talk_hang_up(&talk);
        run_ms(f, 500);
        assert_int_equal(count(f), 0);
        talk_done(&talk);
    }
}

static void a_caller_that_goes_before_a_slow_api_server_answers_leaves_no_sandbox(void **state)
{
    struct fixture *f = *state;
    struct talk talk;
    f->api->answer_ms = 200;
    talk_send(&talk, f->rest, "POST", "/sandboxes", "", BODY);
    run_ms(f, 50);
    talk_hang_up(&talk);
    run_ms(f, 1500);
    assert_int_equal(count(f), 0);
    assert_true(osb_list_is_empty(&f->rest->creates));
    assert_true(osb_list_is_empty(&f->rest->undos));
    talk_done(&talk);
}

/* ---- idempotency ---- */

#define KEY "Idempotency-Key: once\r\n"

static void a_key_finds_the_sandbox_whose_answer_was_lost(void **state)
{
    struct fixture *f = *state;
    struct talk talk;
    talk_send(&talk, f->rest, "POST", "/sandboxes", KEY, BODY);
    run_ms(f, 10);
    talk_hang_up(&talk);
    run_ms(f, 500);
    assert_int_equal(count(f), 1);
    talk_done(&talk);
    ask(f, &talk, "POST", "/sandboxes", KEY, BODY);
    assert_int_equal(talk.status, 202);
    assert_non_null(fake_api_get(f->api, "batchsandboxes", talk_text(&talk, "id")));
    assert_int_equal(count(f), 1);
    talk_done(&talk);
}

static void a_key_whose_sandbox_has_ended_shows_it_and_leaves_it(void **state)
{
    struct fixture *f = *state;
    struct talk talk;
    ask(f, &talk, "POST", "/sandboxes", KEY, BODY);
    assert_int_equal(talk.status, 202);
    _cleanup_free_ char *pod = osb_asprintf("%s-0", talk_text(&talk, "id"));
    talk_done(&talk);
    end_main_process(f, pod, 9);
    run_ms(f, 200);
    ask(f, &talk, "POST", "/sandboxes", KEY, BODY);
    assert_int_equal(talk.status, 202);
    assert_string_equal(talk_text(&talk, "status.state"), "Failed");
    run_ms(f, 200);
    assert_int_equal(count(f), 1);
    talk_done(&talk);
}

static void a_key_whose_sandbox_fails_while_it_waits_fails(void **state)
{
    struct fixture *f = *state;
    struct talk talk;
    f->is_node_down = true;
    talk_send(&talk, f->rest, "POST", "/sandboxes", KEY, BODY);
    run_ms(f, 100);
    talk_hang_up(&talk);
    talk_done(&talk);
    talk_send(&talk, f->rest, "POST", "/sandboxes", KEY, BODY);
    run_ms(f, 100);
    const struct osb_kube_object *made = osb_kube_store_next(f->process->op.batchsandboxes, NULL);
    assert_non_null(made);
    _cleanup_free_ char *pod = osb_asprintf("%s-0", made->name);
    end_main_process(f, pod, 3);
    await(f, &talk, 500);
    assert_int_equal(talk.status, 500);
    assert_int_equal(count(f), 0);
    talk_done(&talk);
}

static void a_key_with_another_body_is_a_conflict(void **state)
{
    struct fixture *f = *state;
    struct talk talk;
    ask(f, &talk, "POST", "/sandboxes", KEY, BODY);
    assert_int_equal(talk.status, 202);
    talk_done(&talk);
    ask(f, &talk, "POST", "/sandboxes", KEY, OTHER_BODY);
    assert_int_equal(talk.status, 409);
    assert_string_equal(talk_text(&talk, "code"), "SANDBOX::IDEMPOTENCY_KEY_REUSED");
    assert_int_equal(count(f), 1);
    talk_done(&talk);
}

/* ---- a faulty API server ---- */

static void a_post_whose_answer_is_lost_is_taken_back(void **state)
{
    struct fixture *f = *state;
    struct talk talk;
    f->next_fault = FAKE_LOSE;
    ask(f, &talk, "POST", "/sandboxes", "", BODY);
    assert_true(talk.status == 500 || talk.status == 503);
    assert_string_equal(talk_text(&talk, "code"), "KUBERNETES::API_ERROR");
    talk_done(&talk);
    run_ms(f, 1000);
    assert_int_equal(count(f), 0);
}

static void a_post_with_a_key_whose_answer_is_lost_stands(void **state)
{
    struct fixture *f = *state;
    struct talk talk;
    f->next_fault = FAKE_LOSE;
    ask(f, &talk, "POST", "/sandboxes", KEY, BODY);
    assert_true(talk.status >= 500);
    talk_done(&talk);
    ask(f, &talk, "POST", "/sandboxes", KEY, BODY);
    assert_int_equal(talk.status, 202);
    assert_int_equal(count(f), 1);
    talk_done(&talk);
}

static void an_api_server_that_refuses_is_an_envelope(void **state)
{
    static const enum fake_fault faults[] = {FAKE_UNAVAILABLE, FAKE_SLOW_DOWN, FAKE_INVALID,
                                             FAKE_DROP};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        struct talk talk;
        f->next_fault = faults[i];
        ask(f, &talk, "POST", "/sandboxes", "", BODY);
        assert_true(talk.status == 500 || talk.status == 503);
        assert_string_equal(talk_text(&talk, "code"), "KUBERNETES::API_ERROR");
        assert_true(talk_text(&talk, "message")[0] != '\0');
        talk_done(&talk);
    }
    run_ms(f, 1000);
    assert_int_equal(count(f), 0);
}

/* ---- reading our own writes ---- */

static char *create(struct fixture *f)
{
    struct talk talk;
    ask(f, &talk, "POST", "/sandboxes", "", BODY);
    assert_int_equal(talk.status, 202);
    char *id = osb_strdup(talk_text(&talk, "id"));
    talk_done(&talk);
    return id;
}

static void what_was_deleted_is_not_found_though_the_watch_lags(void **state)
{
    struct fixture *f = *state;
    _cleanup_free_ char *id = create(f);
    _cleanup_free_ char *path = osb_asprintf("/v1/sandboxes/%s", id);
    f->api->watch_lag_ms = 150;
    assert_int_equal(status_of(f, "DELETE", path, NULL), 204);
    assert_int_equal(status_of(f, "GET", path, NULL), 404);
    assert_int_equal(status_of(f, "DELETE", path, NULL), 404);
}

static void what_was_renewed_and_relabelled_shows_though_the_watch_lags(void **state)
{
    struct fixture *f = *state;
    struct talk talk;
    _cleanup_free_ char *id = create(f);
    _cleanup_free_ char *path = osb_asprintf("/v1/sandboxes/%s", id);
    _cleanup_free_ char *metadata = osb_asprintf("%s/metadata", path);
    _cleanup_free_ char *renew = osb_asprintf("%s/renew-expiration", path);
    f->api->watch_lag_ms = 150;
    assert_int_equal(status_of(f, "PATCH", metadata, "{\"team\":null,\"b\":\"c\"}"), 200);
    assert_int_equal(status_of(f, "POST", renew, "{\"expiresAt\":\"2100-01-01T00:00:00+01:00\"}"),
                     200);
    ask(f, &talk, "GET", path, "", NULL);
    assert_string_equal(talk_text(&talk, "metadata.b"), "c");
    assert_string_equal(talk_text(&talk, "metadata.team"), "");
    assert_string_equal(talk_text(&talk, "expiresAt"), "2099-12-31T23:00:00Z");
    talk_done(&talk);
    assert_int_equal(status_of(f, "POST", renew, "{\"expiresAt\":\"2000-01-01T00:00:00Z\"}"), 400);
    assert_int_equal(status_of(f, "PATCH", metadata, "{\"opensandbox.io/id\":null}"), 400);
    assert_int_equal(status_of(f, "PATCH", metadata, "{\"a\":1}"), 400);
}

/* ---- endpoints ---- */

static void an_endpoint_waits_for_its_address_and_carries_the_token(void **state)
{
    struct fixture *f = *state;
    struct talk talk;
    f->is_node_down = true;
    ask(f, &talk, "POST", "/sandboxes", "Prefer: respond-async\r\n", BODY);
    _cleanup_free_ char *path =
        osb_asprintf("/v1/sandboxes/%s/endpoints/44772", talk_text(&talk, "id"));
    _cleanup_free_ char *other =
        osb_asprintf("/v1/sandboxes/%s/endpoints/18080", talk_text(&talk, "id"));
    talk_done(&talk);
    talk_send(&talk, f->rest, "GET", path, "", NULL);
    run_ms(f, 300);
    assert_false(talk_read(&talk));
    f->is_node_down = false;
    await(f, &talk, 500);
    assert_int_equal(talk.status, 200);
    assert_non_null(strstr(talk_text(&talk, "endpoint"), ":44772"));
    assert_int_equal(strlen(talk_text(&talk, "headers.X-EXECD-ACCESS-TOKEN")), 43);
    talk_done(&talk);
    ask(f, &talk, "GET", other, "", NULL);
    assert_int_equal(talk.status, 200);
    assert_null(osb_json_get(talk.body, "headers"));
    talk_done(&talk);
}

static void an_endpoint_without_address_is_a_404_that_clients_ask_again(void **state)
{
    struct fixture *f = *state;
    struct talk talk;
    f->is_node_down = true;
    ask(f, &talk, "POST", "/sandboxes", "Prefer: respond-async\r\n", BODY);
    _cleanup_free_ char *path =
        osb_asprintf("/v1/sandboxes/%s/endpoints/44772", talk_text(&talk, "id"));
    talk_done(&talk);
    ask(f, &talk, "GET", path, "", NULL);
    assert_int_equal(talk.status, 404);
    assert_string_equal(talk_text(&talk, "code"), "KUBERNETES::POD_IP_NOT_AVAILABLE");
    talk_done(&talk);
}

static void the_address_of_a_sandbox_that_ended_is_withdrawn(void **state)
{
    struct fixture *f = *state;
    struct talk talk;
    _cleanup_free_ char *id = create(f);
    _cleanup_free_ char *pod = osb_asprintf("%s-0", id);
    _cleanup_free_ char *path = osb_asprintf("/sandboxes/%s/endpoints/44772", id);
    _cleanup_free_ char *itself = osb_asprintf("/sandboxes/%s", id);
    assert_int_equal(status_of(f, "GET", path, NULL), 200);
    end_main_process(f, pod, 9);
    run_ms(f, 300);
    assert_int_equal(status_of(f, "GET", path, NULL), 404);
    ask(f, &talk, "GET", itself, "", NULL);
    assert_string_equal(talk_text(&talk, "status.state"), "Failed");
    assert_non_null(strstr(talk_text(&talk, "status.message"), "exit code=9"));
    talk_done(&talk);
}

static void ports_and_ids_that_cannot_be_are_refused(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(status_of(f, "GET", "/v1/sandboxes/a/endpoints/0", NULL), 400);
    assert_int_equal(status_of(f, "GET", "/v1/sandboxes/a/endpoints/65536", NULL), 400);
    assert_int_equal(status_of(f, "GET", "/v1/sandboxes/a/endpoints/http", NULL), 400);
    assert_int_equal(status_of(f, "GET", "/v1/sandboxes/a/endpoints/80?use_server_proxy=2", NULL),
                     400);
    assert_int_equal(status_of(f, "GET", "/v1/sandboxes/a/endpoints/80?use_server_proxy=on", NULL),
                     400);
    assert_int_equal(status_of(f, "GET", "/v1/sandboxes/a/endpoints/80?expires=1", NULL), 400);
    assert_int_equal(status_of(f, "GET", "/v1/sandboxes/a/endpoints/80", NULL), 404);
    assert_int_equal(status_of(f, "GET", "/v1/sandboxes/%00", NULL), 404);
    assert_int_equal(status_of(f, "GET", "/v1/sandboxes/UPPER", NULL), 404);
}

/* ---- the surface ---- */

static void who_has_no_key_or_a_wrong_one_gets_a_typed_401(void **state)
{
    struct fixture *f = *state;
    struct talk talk;
    talk_send_bare(&talk, f->rest, "GET", "/v1/sandboxes", "X-Request-ID: mine\r\n", NULL);
    await(f, &talk, 100);
    assert_int_equal(talk.status, 401);
    assert_string_equal(talk_text(&talk, "code"), "MISSING_API_KEY");
    assert_non_null(strstr(osb_buf_cstr(&talk.in), "X-Request-ID: mine\r\n"));
    talk_done(&talk);
    talk_send_bare(&talk, f->rest, "GET", "/v1/sandboxes", "open-sandbox-api-key: k3z\r\n", NULL);
    await(f, &talk, 100);
    assert_int_equal(talk.status, 401);
    assert_string_equal(talk_text(&talk, "code"), "INVALID_API_KEY");
    talk_done(&talk);
    talk_send_bare(&talk, f->rest, "GET", "/health", "", NULL);
    await(f, &talk, 100);
    assert_int_equal(talk.status, 200);
    talk_done(&talk);
}

static void every_known_route_that_is_not_built_is_a_501(void **state)
{
    static const char *const routes[][2] = {
        {"POST", "/v1/sandboxes/a/pause"},
        {"POST", "/sandboxes/a/resume"},
        {"POST", "/v1/sandboxes/a/snapshots"},
        {"GET", "/v1/snapshots"},
        {"DELETE", "/v1/snapshots/s"},
        {"GET", "/v1/pools"},
        {"POST", "/pools"},
        {"PUT", "/v1/pools/p"},
        {"GET", "/v1/sandboxes/a/proxy/80"},
        {"PUT", "/sandboxes/a/proxy/80/x/y"},
        {"GET", "/v1/sandboxes/a/diagnostics/logs"},
        {"PATCH", "/v1/sandboxes/a/networkpolicy"},
        {"GET", "/v1/templates"},
        {"DELETE", "/v1/templates/t"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
        struct talk talk;
        ask(f, &talk, routes[i][0], routes[i][1], "", NULL);
        if (talk.status != 501 || !talk_text(&talk, "code")[0] || !talk_text(&talk, "message")[0])
            fail_msg("%s %s: %d", routes[i][0], routes[i][1], talk.status);
        talk_done(&talk);
    }
    assert_int_equal(status_of(f, "GET", "/v1/health", NULL), 404);
    assert_int_equal(status_of(f, "PUT", "/v1/sandboxes", NULL), 405);
}

static void the_events_of_clients_are_taken(void **state)
{
    struct fixture *f = *state;
    const char *path = "/v1/metrics/events";
    assert_int_equal(status_of(f, "POST", path,
                               "{\"eventType\":\"sandbox.create\",\"createDurationMs\":120,"
                               "\"success\":true}"),
                     204);
    assert_int_equal(status_of(f, "POST", path, "{\"eventType\":\"other\"}"), 400);
}

static void on_drained(void *arg)
{
    ((struct fixture *)arg)->is_drained = true;
}

static void a_server_that_stops_keeps_what_it_accepted(void **state)
{
    struct fixture *f = *state;
    struct talk talk;
    f->is_node_down = true;
    talk_send(&talk, f->rest, "POST", "/sandboxes", "", BODY);
    run_ms(f, 100);
    rest_drain(f->rest, on_drained, f);
    await(f, &talk, 100);
    assert_int_equal(talk.status, 202);
    assert_string_equal(talk_text(&talk, "status.state"), "Pending");
    talk_hang_up(&talk);
    run_ms(f, 100);
    assert_true(f->is_drained);
    assert_int_equal(count(f), 1);
    talk_done(&talk);
}

static void a_server_without_a_key_does_not_start(void **state)
{
    struct fixture *f = *state;
    struct rest *rest = NULL;
    struct osb_err err = {0};
    struct config_server *server = &f->process->config.server;
    osb_secret_set(&server->api_key, OSB_SLICE("  "));
    assert_int_equal(rest_new(&f->process->op, &rest, &err), -OSB_E_INVALID);
    assert_non_null(strstr(err.message, "server.api_key"));
}

#define SCENARIO(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(a_create_is_answered_when_the_sandbox_runs),
        SCENARIO(a_create_that_takes_long_is_answered_pending),
        SCENARIO(who_prefers_not_to_wait_does_not),
        SCENARIO(a_sandbox_that_ends_at_once_fails_its_create_and_is_gone),
        SCENARIO(a_caller_that_goes_at_any_moment_leaves_no_sandbox),
        SCENARIO(a_caller_that_goes_before_a_slow_api_server_answers_leaves_no_sandbox),
        SCENARIO(a_key_finds_the_sandbox_whose_answer_was_lost),
        SCENARIO(a_key_whose_sandbox_has_ended_shows_it_and_leaves_it),
        SCENARIO(a_key_whose_sandbox_fails_while_it_waits_fails),
        SCENARIO(a_key_with_another_body_is_a_conflict),
        SCENARIO(a_post_whose_answer_is_lost_is_taken_back),
        SCENARIO(a_post_with_a_key_whose_answer_is_lost_stands),
        SCENARIO(an_api_server_that_refuses_is_an_envelope),
        SCENARIO(what_was_deleted_is_not_found_though_the_watch_lags),
        SCENARIO(what_was_renewed_and_relabelled_shows_though_the_watch_lags),
        SCENARIO(an_endpoint_waits_for_its_address_and_carries_the_token),
        SCENARIO(an_endpoint_without_address_is_a_404_that_clients_ask_again),
        SCENARIO(the_address_of_a_sandbox_that_ended_is_withdrawn),
        SCENARIO(ports_and_ids_that_cannot_be_are_refused),
        SCENARIO(who_has_no_key_or_a_wrong_one_gets_a_typed_401),
        SCENARIO(every_known_route_that_is_not_built_is_a_501),
        SCENARIO(the_events_of_clients_are_taken),
        SCENARIO(a_server_that_stops_keeps_what_it_accepted),
        SCENARIO(a_server_without_a_key_does_not_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
