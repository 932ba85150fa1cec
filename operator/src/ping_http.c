// SPDX-License-Identifier: Apache-2.0
#include "ping_http.h"

#include <osb/alloc.h>

#include <stdlib.h>

enum { EXECD_PING_PORT = 44772, MAX_BODY = 4096 };

struct question {
    struct osb_http_call *call;
    void (*done)(int r, void *arg);
    void *arg;
};

static void on_answer(int r, int status, struct osb_slice body, const struct osb_err *err,
                      void *arg)
{
    struct question *question = arg;
    void (*done)(int r, void *arg) = question->done;
    void *done_arg = question->arg;
    (void)body;
    (void)err;
    free(question);
    if (r >= 0 && status != 200)
        r = -OSB_E_UNAVAILABLE;
    done(r < 0 ? r : 0, done_arg);
}

static void *ask(const char *address, uint64_t timeout_ms, void (*done)(int r, void *arg),
                 void *arg, void *context)
{
    /* One question a pod, as a rule: the connection is of no use afterwards. */
    const struct osb_http_header close_it = {OSB_SLICE("Connection"), OSB_SLICE("close")};
    struct question *question = osb_new(struct question);
    struct osb_http_request request = {
        .origin = {.address = address, .port = EXECD_PING_PORT},
        .method = "GET",
        .target = "/ping",
        .headers = &close_it,
        .header_count = 1,
        .timeout_ms = timeout_ms,
        .total_timeout_ms = timeout_ms,
    };
    question->done = done;
    question->arg = arg;
    if (osb_http_fetch(context, &request, MAX_BODY, on_answer, question, &question->call, NULL) <
        0) {
        free(question);
        return NULL;
    }
    return question;
}

static void cancel(void *handle, void *context)
{
    struct question *question = handle;
    (void)context;
    osb_http_call_cancel(question->call);
    free(question);
}

struct ping_asker ping_http_asker(struct osb_http_client *client)
{
    return (struct ping_asker){ask, cancel, client};
}
