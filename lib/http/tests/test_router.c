// SPDX-License-Identifier: Apache-2.0
#include "rig.h"

#include <osb/http_router.h>

static void say(struct osb_http_exchange *x, const struct osb_http_params *params, void *arg)
{
    struct osb_buf text = {0};
    osb_buf_append_str(&text, arg);
    for (int i = 0; i < params->count; i++)
        osb_buf_appendf(&text, " %s=%.*s", params->names[i], OSB_SLICE_ARG(params->values[i]));
    osb_http_reply(x, 200, NULL, osb_buf_slice(&text));
    osb_buf_done(&text);
}

static void dispatch(struct osb_http_exchange *x, void *arg)
{
    const char *allow = NULL;
    int r = osb_http_router_dispatch(arg, x, &allow);
    if (r == -OSB_E_NOT_FOUND)
        osb_http_reply(x, 404, NULL, OSB_SLICE("no route"));
    else if (r == -EPERM)
        osb_http_reply(x, 405, NULL, osb_slice_str(allow));
}

static const struct {
    const char *request;
    const char *answer;
} cases[] = {
    {"GET /", "root"},
    {"GET /v1/things", "list"},
    {"GET /v1/things?x=/v1", "list"},
    {"GET /v1/things/", "no route"},
    {"POST /v1/things", "make"},
    {"DELETE /v1/things", "POST, GET"},
    {"GET /v1/things/7", "get id=7"},
    {"GET /v1/things/mine", "mine"},
    {"GET /v1/things/m%69ne", "mine"},
    {"GET /v1/things/a%20b", "get id=a b"},
    {"GET /v1/things/a%2Fb", "no route"},
    {"GET /v1/things/a%00b", "no route"},
    {"GET /v1/things/a%zz", "no route"},
    {"GET /v1/things/7/ports/80", "port id=7 port=80"},
    {"PATCH /v1/things/7/ports/80", "port id=7 port=80"},
    {"GET /v1/things/7/ports/80/x", "no route"},
    {"GET /v1/things/7/proxy/a/b%2Fc//d?e", "proxy id=7 rest=a/b%2Fc//d"},
    {"GET /v1/things/7/proxy/", "proxy id=7 rest="},
    {"GET /v1/things/7/proxy", "no route"},
    {"GET /other", "no route"},
    {"GET //v1/things", "no route"},
    {"OPTIONS *", "no route"},
};

static void requests_find_their_route(void **state)
{
    (void)state;
    struct osb_http_router *router = osb_http_router_new();
    osb_http_route(router, "GET", "/v1/things/{id}/proxy/{rest...}", say, "proxy");
    osb_http_route(router, "*", "/v1/things/{id}/ports/{port}", say, "port");
    osb_http_route(router, "GET", "/v1/things/{id}", say, "get");
    osb_http_route(router, "GET", "/v1/things/mine", say, "mine");
    osb_http_route(router, "POST", "/v1/things", say, "make");
    osb_http_route(router, "GET", "/v1/things", say, "list");
    osb_http_route(router, "GET", "/", say, "root");
    struct rig *rig = rig_new(dispatch, router, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char request[200];
        snprintf(request, sizeof(request), "%s HTTP/1.1\r\nHost: h\r\n\r\n", cases[i].request);
        rig_send_str(rig, request);
        const char *body = strstr(rig_seen(rig), "\r\n\r\n");
        assert_non_null(body);
        if (strcmp(body + 4, cases[i].answer) != 0)
            fail_msg("%s: %s", cases[i].request, body + 4);
    }
    rig_free(rig);
    osb_http_router_free(router);
}

static void head_takes_the_route_of_get(void **state)
{
    (void)state;
    struct osb_http_router *router = osb_http_router_new();
    osb_http_route(router, "GET", "/a", say, "answer");
    struct rig *rig = rig_new(dispatch, router, NULL);
    rig_send_str(rig, "HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_true(rig_saw(rig, "200 OK"));
    assert_false(rig_saw(rig, "answer"));
    rig_free(rig);
    osb_http_router_free(router);
}

static void very_deep_paths_match_only_a_rest(void **state)
{
    (void)state;
    struct osb_http_router *router = osb_http_router_new();
    osb_http_route(router, "GET", "/f/{rest...}", say, "rest");
    osb_http_route(router, "GET", "/{a}/{b}", say, "two");
    struct rig *rig = rig_new(dispatch, router, NULL);
    struct osb_buf request = {0};
    osb_buf_append_str(&request, "GET /f");
    for (int i = 0; i < 100; i++)
        osb_buf_append_str(&request, "/s");
    osb_buf_append_str(&request, " HTTP/1.1\r\nHost: h\r\n\r\n");
    rig_send(rig, osb_buf_slice(&request));
    assert_true(rig_saw(rig, "rest rest=s/s/"));
    osb_buf_done(&request);
    rig_free(rig);
    osb_http_router_free(router);
}

static struct osb_http_router *known;

static void tell_known(struct osb_http_exchange *x, void *arg)
{
    struct osb_slice path = osb_slice_first(osb_http_raw_path(x), osb_http_raw_path(x).len - 1);
    (void)arg;
    osb_http_reply(x, osb_http_router_knows(known, x, path) ? 200 : 404, NULL, OSB_SLICE_NULL);
}

static void a_path_can_be_looked_up_without_its_call(void **state)
{
    static const struct {
        const char *path;
        const char *answer;
    } paths[] = {
        {"/v1/things/", "HTTP/1.1 200"},  {"/v1/things/7/", "HTTP/1.1 200"},
        {"/v1/none/", "HTTP/1.1 404"},    {"/v1/things//", "HTTP/1.1 404"},
        {"//v1/things/", "HTTP/1.1 404"}, {"/", "HTTP/1.1 404"},
    };
    (void)state;
    known = osb_http_router_new();
    osb_http_route(known, "POST", "/v1/things", say, "make");
    osb_http_route(known, "GET", "/v1/things/{id}", say, "get");
    struct rig *rig = rig_new(tell_known, NULL, NULL);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        char request[128];
        snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: h\r\n\r\n", paths[i].path);
        rig_send_str(rig, request);
        assert_true(rig_saw(rig, paths[i].answer));
        (void)rig_seen(rig);
    }
    rig_free(rig);
    osb_http_router_free(known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_find_their_route),
        cmocka_unit_test(head_takes_the_route_of_get),
        cmocka_unit_test(a_path_can_be_looked_up_without_its_call),
        cmocka_unit_test(very_deep_paths_match_only_a_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
