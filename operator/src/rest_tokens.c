// SPDX-License-Identifier: Apache-2.0
#include "rest_tokens.h"

#include <osb/alloc.h>
#include <osb/text.h>

#include <stdlib.h>
#include <string.h>

#include "pod_build.h"

struct ask {
    rest_token_fn *fn;
    void *arg;
    char *uid; /* in the arena */
};

/* Takes the token out of the Secret without leaving copies behind. */
static struct osb_secret *read_token(struct osb_slice text)
{
    _cleanup_json_ struct osb_json *object = NULL;
    struct osb_buf plain = {0};
    struct osb_secret *token = NULL;
    if (osb_json_parse(text, &object, NULL) < 0)
        return NULL;
    struct osb_slice encoded = osb_json_str(osb_json_get_path(object, "data.execd"));
    if (osb_base64_decode(&plain, encoded) == 0 && plain.len > 0 &&
        osb_http_value_is_valid(osb_buf_slice(&plain))) {
        token = osb_new(struct osb_secret);
        osb_secret_set(token, osb_buf_slice(&plain));
    }
    if (plain.base)
        explicit_bzero(plain.base, plain.cap);
    osb_buf_done(&plain);
    return token;
}

static void on_secret(struct rest_request *request, int r, struct osb_slice body,
                      const struct osb_err *err)
{
    const struct ask *ask = request->data;
    if (r == -OSB_E_NOT_FOUND) {
        rest_fail(request, 404, REST_NO_ADDRESS, "the sandbox's tokens are not made yet");
        return;
    }
    if (r < 0) {
        rest_fail_backend(request, r, err);
        return;
    }
    struct osb_secret *token = read_token(body);
    if (!token) {
        rest_fail(request, 500, REST_API_ERROR, "the sandbox's Secret holds no token of execd");
        return;
    }
    struct osb_secret *before = osb_map_set(&request->rest->tokens, osb_slice_str(ask->uid), token);
    if (before) {
        osb_secret_done(before);
        free(before);
    }
    ask->fn(token, ask->arg);
}

void rest_with_token(struct rest_request *request, const struct batchsandbox *bs, rest_token_fn *fn,
                     void *arg)
{
    const struct osb_secret *token =
        osb_map_get(&request->rest->tokens, osb_slice_str(bs->object.uid));
    if (token) {
        fn(token, arg);
        return;
    }
    struct ask *ask = osb_arena_new(request->arena, struct ask);
    ask->fn = fn;
    ask->arg = arg;
    ask->uid = osb_arena_strdup(request->arena, bs->object.uid);
    request->data = ask;
    _cleanup_free_ char *name = tokens_name(bs);
    rest_call_get(request, &osb_kind_secret, name, on_secret);
}
