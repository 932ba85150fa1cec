// SPDX-License-Identifier: Apache-2.0
#include "control_client.h"

#include <osb/cleanup.h>
#include <osb/http_client.h>
#include <osb/loop.h>
#include <stdlib.h>

enum { CONTROL_TIMEOUT_MS = 5000, CONTROL_ANSWER_MAX = 256 * 1024 };

struct answer {
    struct osb_loop *loop;
    int r;
    struct osb_json **tree;
    struct osb_err *err;
};

static void on_answer(int r, int status, struct osb_slice body, const struct osb_err *err,
                      void *arg)
{
    struct answer *answer = arg;
    answer->r = r;
    if (r < 0)
        answer->r = osb_fail(answer->err, -OSB_E_UNAVAILABLE, "supervisor: %s",
                             err ? err->message : "no answer");
    else if (status < 200 || status > 299)
        answer->r = osb_fail(answer->err, -OSB_E_INTERNAL, "supervisor answered %d", status);
    else if (answer->tree)
        answer->r = osb_json_parse(body, answer->tree, answer->err);
    osb_loop_stop(answer->loop);
}

int control_call(const struct instance *instance, const char *method, const char *path,
                 struct osb_json **ret, struct osb_err *err)
{
    _cleanup_free_ char *socket = instance_run_path(instance, "supervisor.sock");
    struct osb_loop *loop = NULL;
    struct osb_http_client *client = NULL;
    struct osb_http_request request = {
        .origin = {.unix_path = socket, .host = "supervisor"},
        .method = method,
        .target = path,
        .total_timeout_ms = CONTROL_TIMEOUT_MS,
    };
    int r = osb_loop_new_epoll(&loop, err);
    if (r < 0)
        return r;
    struct answer answer = {.loop = loop, .r = -OSB_E_UNAVAILABLE, .tree = ret, .err = err};
    r = osb_http_client_new(loop, NULL, &client, err);
    if (r >= 0)
        r = osb_http_fetch(client, &request, CONTROL_ANSWER_MAX, on_answer, &answer, NULL, err);
    if (r >= 0)
        r = osb_loop_run(loop);
    if (client)
        osb_http_client_free(client);
    osb_loop_free(loop);
    return r < 0 ? r : answer.r;
}
