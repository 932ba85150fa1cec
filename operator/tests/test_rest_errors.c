// SPDX-License-Identifier: Apache-2.0
/* Every error answer, whoever makes it, has the envelope and the request's id. */
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
#include "rest_server.h"

enum { PAIR_CAPACITY = 256 * 1024, HEAD_TIMEOUT_MS = 11000, BODY_TIMEOUT_MS = 61000 };

#define KEY "OPEN-SANDBOX-API-KEY: k3y\r\n"
#define HEAD(method, path, headers)                                                                \
    method " " path " HTTP/1.1\r\nHost: h\r\nX-Request-ID: mine\r\n" headers "\r\n"
#define JSON "Content-Type: application/json\r\n"

struct fixture {
    struct osb_loop *loop;
    struct fake_api *api;
    struct process *process;
    struct rest *rest;
    struct osb_stream *peer;
    struct osb_buf seen;
};

static int set_up(void **state)
{
    struct fixture *f = osb_new(struct fixture);
    assert_int_equal(osb_loop_new_sim(&f->loop, NULL), 0);
    f->api = fake_api_new(f->loop);
    f->process = process_start(f->api, 5);
    f->process->config.server.host = osb_strdup("127.0.0.1");
    f->process->config.server.keep_alive_s = 30;
    osb_secret_set(&f->process->config.server.api_key, OSB_SLICE("k3y"));
    f->process->op.namespace_ = "default";
    assert_int_equal(rest_new(&f->process->op, &f->rest, NULL), 0);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    rest_free(f->rest);
    osb_stream_close(f->peer);
    osb_secret_done(&f->process->config.server.api_key);
    free(f->process->config.server.host);
    process_kill(f->process);
    fake_api_free(f->api);
    osb_loop_free(f->loop);
    osb_buf_done(&f->seen);
    free(f);
    return 0;
}

static void on_peer(struct osb_stream *stream, int events, void *arg)
{
    struct fixture *f = arg;
    char buffer[4096];
    (void)events;
    ssize_t n = osb_stream_read(stream, buffer, sizeof(buffer));
    if (n > 0)
        osb_buf_append(&f->seen, buffer, (size_t)n);
    else if (n != -EAGAIN)
        osb_stream_want(stream, 0);
}

/* Sends TEXT on a connection of its own and lets WAIT_MS pass. */
static const char *talk(struct fixture *f, struct osb_slice text, uint64_t wait_ms)
{
    struct osb_stream *served;
    osb_stream_close(f->peer);
    osb_buf_clear(&f->seen);
    assert_int_equal(osb_stream_pair(f->loop, PAIR_CAPACITY, &f->peer, &served), 0);
    osb_stream_set_callback(f->peer, on_peer, f);
    osb_stream_want(f->peer, OSB_READABLE);
    osb_http_server_serve(f->rest->server, served, "peer");
    while (text.len > 0) {
        ssize_t n = osb_stream_write(f->peer, text);
        if (n == -EPIPE)
            break;
        text = osb_slice_from(text, n > 0 ? (size_t)n : 0);
        osb_loop_sim_settle(f->loop);
    }
    osb_loop_sim_advance(f->loop, wait_ms * OSB_NS_PER_MS);
    osb_loop_sim_settle(f->loop);
    return osb_buf_cstr(&f->seen);
}

static void check(const char *answer, int status, const char *id)
{
    char line[64];
    struct osb_json *body = NULL;
    snprintf(line, sizeof(line), "HTTP/1.1 %d ", status);
    if (strncmp(answer, line, strlen(line)) != 0)
        fail_msg("wanted %s, got %s", line, answer);
    snprintf(line, sizeof(line), "\r\nX-Request-ID: %s", id);
    const char *header = strstr(answer, "\r\nX-Request-ID: ");
    const char *end = strstr(answer, "\r\n\r\n");
    assert_true(header && end && header < end);
    assert_null(strstr(header + 1, "\r\nX-Request-ID: ")); /* once */
    assert_int_equal(strncmp(header, line, strlen(line)), 0);
    assert_int_equal(osb_json_parse(osb_slice_str(end + 4), &body, NULL), 0);
    assert_true(osb_json_str(osb_json_get(body, "code")).len > 0);
    assert_true(osb_json_str(osb_json_get(body, "message")).len > 0);
    osb_json_free(body);
}

static void errors_of_routes_and_bodies_have_the_callers_id(void **state)
{
    static const struct {
        const char *text;
        int status;
        uint64_t wait_ms;
    } cases[] = {
        {HEAD("GET", "/v1/sandboxes", ""), 401, 0},
        {HEAD("GET", "/v1/none", KEY), 404, 0},
        {HEAD("GET", "/none", KEY), 404, 0},
        {HEAD("GET", "/v1/sandboxes/nobody", KEY), 404, 100},
        {HEAD("PUT", "/v1/sandboxes", KEY), 405, 0},
        {HEAD("GET", "/openapi.json", KEY), 404, 0},
        {HEAD("GET", "/v1/health", KEY), 404, 0},
        {HEAD("POST", "/v1/sandboxes", KEY JSON "Content-Length: 2\r\n") "{]", 400, 0},
        {HEAD("POST", "/v1/sandboxes", KEY JSON "Content-Length: 99999999\r\n"), 413, 0},
        {HEAD("POST", "/v1/sandboxes", KEY JSON "Transfer-Encoding: chunked\r\n") "zz\r\n", 400, 0},
        {HEAD("POST", "/v1/sandboxes", KEY JSON "Content-Length: 9\r\n") "{", 408, BODY_TIMEOUT_MS},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check(talk(f, osb_slice_str(cases[i].text), cases[i].wait_ms), cases[i].status, "mine");
}

static void a_body_that_grows_too_large_in_chunks_has_the_callers_id(void **state)
{
    static const char head[] =
        HEAD("POST", "/v1/sandboxes", KEY JSON "Transfer-Encoding: chunked\r\n") "7fffffff\r\n";
    struct fixture *f = *state;
    struct osb_buf text = {0};
    osb_buf_append_str(&text, head);
    size_t size = REST_MAX_BODY + 1;
    char *room = osb_buf_reserve(&text, size);
    assert_non_null(room);
    memset(room, ' ', size);
    osb_buf_commit(&text, size);
    check(talk(f, osb_buf_slice(&text), 0), 413, "mine");
    osb_buf_done(&text);
}

static void errors_before_there_is_a_request_have_a_new_id(void **state)
{
    static const struct {
        const char *text;
        int status;
        uint64_t wait_ms;
    } cases[] = {
        {"GET / HTTP/1.1\r\n\r\n", 400, 0},
        {"nonsense\r\n\r\n", 400, 0},
        {"GET / HTTP/3.0\r\nHost: h\r\n\r\n", 505, 0},
        {"GET / HTTP/1.1\r\nHo", 408, HEAD_TIMEOUT_MS},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check(talk(f, osb_slice_str(cases[i].text), cases[i].wait_ms), cases[i].status, "");
}

static void a_head_that_is_too_large_has_a_new_id(void **state)
{
    struct fixture *f = *state;
    struct osb_buf text = {0};
    osb_buf_append_str(&text, "GET / HTTP/1.1\r\nHost: h\r\n");
    for (int i = 0; i < 2000; i++)
        osb_buf_appendf(&text, "X-Filler-%d: %032d\r\n", i, i);
    check(talk(f, osb_buf_slice(&text), 0), 431, "");
    osb_buf_done(&text);
}

static void a_trailing_slash_leads_to_the_path_without_it(void **state)
{
    static const struct {
        const char *path, *location;
    } cases[] = {
        {"/v1/sandboxes/", "\r\nLocation: /v1/sandboxes\r\n"},
        {"/sandboxes/a/", "\r\nLocation: /sandboxes/a\r\n"},
        {"/v1/sandboxes/?page=2", "\r\nLocation: /v1/sandboxes?page=2\r\n"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256];
        snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: h\r\n" KEY "\r\n", cases[i].path);
        const char *answer = talk(f, osb_slice_str(text), 0);
        assert_non_null(strstr(answer, "HTTP/1.1 307 "));
        assert_non_null(strstr(answer, cases[i].location));
        assert_non_null(strstr(answer, "\r\nX-Request-ID: "));
    }
    /* Nowhere else, and not without a key. */
    check(talk(f, OSB_SLICE(HEAD("GET", "/v1/none/", KEY)), 0), 404, "mine");
    check(talk(f, OSB_SLICE(HEAD("GET", "//v1/sandboxes/", KEY)), 0), 404, "mine");
    check(talk(f, OSB_SLICE(HEAD("GET", "/v1/sandboxes/", "")), 0), 401, "mine");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(errors_of_routes_and_bodies_have_the_callers_id),
        T(a_body_that_grows_too_large_in_chunks_has_the_callers_id),
        T(errors_before_there_is_a_request_have_a_new_id),
        T(a_head_that_is_too_large_has_a_new_id),
        T(a_trailing_slash_leads_to_the_path_without_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
