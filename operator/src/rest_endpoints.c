// SPDX-License-Identifier: Apache-2.0
/*
 * Where a port of a sandbox is reached: its pod's address, with the headers that the callee wants.
 * Clients ask once right after a create, so the call waits for the address where there is none yet.
 */
#include <stdio.h>
#include <string.h>

#include "rest_find.h"
#include "rest_query.h"
#include "rest_sandbox.h"
#include "rest_tokens.h"

#define TOKEN_HEADER "X-EXECD-ACCESS-TOKEN"

enum { MAX_PORT = 65535, MAX_ADDRESS = 64 };

struct endpoint {
    struct rest_request *request;
    int64_t port;
    bool has_seen; /* the cache has shown the sandbox */
    char address[MAX_ADDRESS];
};

/* ---- the answer ---- */

static void print(struct osb_buf *out, const struct endpoint *endpoint,
                  const struct osb_secret *token)
{
    struct osb_json_writer w;
    char text[MAX_ADDRESS + 16];
    bool is_v6 = strchr(endpoint->address, ':');
    snprintf(text, sizeof(text), is_v6 ? "[%s]:%lld" : "%s:%lld", endpoint->address,
             (long long)endpoint->port);
    osb_json_writer_init(&w, out);
    osb_json_begin_object(&w);
    osb_json_kv_string(&w, "endpoint", text);
    if (token) {
        osb_json_key(&w, "headers");
        osb_json_begin_object(&w);
        osb_json_kv_slice(&w, TOKEN_HEADER, osb_secret_reveal(token));
        osb_json_end_object(&w);
    }
    osb_json_end_object(&w);
    osb_assert(osb_json_writer_finish(&w, NULL) == 0);
}

static void reply(const struct osb_secret *token, void *arg)
{
    const struct endpoint *endpoint = arg;
    struct osb_buf body = {0};
    print(&body, endpoint, token);
    osb_http_reply_header(endpoint->request->x, "Cache-Control", OSB_SLICE("no-store"));
    rest_reply(endpoint->request, 200, osb_buf_slice(&body));
    explicit_bzero(body.base, body.cap);
    osb_buf_done(&body);
}

/* ---- the address ---- */

/* The first slot of the operator's list; false while it is empty, or withdrawn. */
static bool read_address(const struct batchsandbox *bs, char address[static MAX_ADDRESS])
{
    _cleanup_json_ struct osb_json *list = NULL;
    const char *text = batchsandbox_annotation(bs, ANNOTATION_ADDRESSES);
    if (!text || osb_json_parse(osb_slice_str(text), &list, NULL) < 0)
        return false;
    const char *first = osb_json_cstr(osb_json_at(list, 0));
    if (!first || !first[0] || strlen(first) >= MAX_ADDRESS)
        return false;
    snprintf(address, MAX_ADDRESS, "%s", first);
    return true;
}

static bool will_have_none(const struct batchsandbox *bs)
{
    return bs->is_deleting || bs->status.phase == PHASE_FAILED || bs->status.phase == PHASE_PAUSED;
}

static void fail_without(struct rest_request *request)
{
    rest_fail(request, 404, REST_NO_ADDRESS, "the sandbox has no address now");
}

/* True when the request was answered or asks for a token. */
static bool try_answer(struct endpoint *endpoint, const struct batchsandbox *bs)
{
    if (read_address(bs, endpoint->address)) {
        if (endpoint->port == EXECD_PORT && bs->has_execd)
            rest_with_token(endpoint->request, bs, reply, endpoint);
        else
            reply(NULL, endpoint);
        return true;
    }
    if (!will_have_none(bs))
        return false;
    fail_without(endpoint->request);
    return true;
}

static void on_change(struct rest_wait *wait, const struct batchsandbox *bs, bool is_over)
{
    struct endpoint *endpoint = wait->arg;
    struct rest_request *request = endpoint->request;
    bool is_gone = !bs && endpoint->has_seen;
    endpoint->has_seen = endpoint->has_seen || bs;
    if (is_gone) {
        rest_wait_stop(wait);
        rest_fail_not_found(request);
        return;
    }
    /* Stopped before the answer, after which the wait's memory is gone. */
    bool has_end = is_over || (bs && (read_address(bs, endpoint->address) || will_have_none(bs)));
    if (!has_end)
        return;
    rest_wait_stop(wait);
    if (!bs || !try_answer(endpoint, bs))
        fail_without(request);
}

static void found(struct rest_request *request, const struct batchsandbox *bs)
{
    struct endpoint *endpoint = request->data;
    uint64_t limit_ms = (uint64_t)request->rest->op->config->kubernetes.endpoint_wait_ms;
    if (!try_answer(endpoint, bs))
        rest_wait_start(&request->wait, request->rest, request->sandbox, limit_ms, on_change,
                        endpoint);
}

/* ---- the request ---- */

static int read_request(struct rest_request *request, struct osb_slice port,
                        struct endpoint *endpoint, struct rest_error *error)
{
    bool is_proxied = false;
    int64_t expires = -1;
    if (osb_slice_to_i64(port, &endpoint->port) < 0)
        rest_problem_add(&error->problems, "int_parsing", "path.port", "must be an integer");
    rest_query_bool(request->x, "use_server_proxy", "query.use_server_proxy", &is_proxied,
                    &error->problems);
    rest_query_integer(request->x, "expires", "query.expires", 0, INT64_MAX, &expires,
                       &error->problems);
    int r = rest_error_from_problems(error);
    if (r < 0)
        return r;
    if (endpoint->port < 1 || endpoint->port > MAX_PORT)
        return rest_error_set(error, 400, "DOCKER::INVALID_PORT", "port must be 1 to 65535");
    if (is_proxied)
        return rest_error_set(error, 400, REST_NOT_SUPPORTED,
                              "use_server_proxy: the server proxy is not built into this server; "
                              "connect to the sandbox directly");
    if (expires >= 0)
        return rest_error_set(error, 400, REST_INVALID_PARAMETER,
                              "expires: signed endpoints need an ingress gateway, and none is "
                              "configured");
    return 0;
}

void rest_endpoint_handle(struct rest_request *request, const struct osb_http_params *params)
{
    struct endpoint *endpoint = osb_arena_new(request->arena, struct endpoint);
    struct rest_error error = {0};
    endpoint->request = request;
    request->data = endpoint;
    if (read_request(request, osb_http_param(params, "port"), endpoint, &error) < 0)
        rest_fail_with(request, &error);
    else
        rest_find(request, osb_http_param(params, "id"), found);
}
