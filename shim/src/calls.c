// SPDX-License-Identifier: Apache-2.0
#include "calls.h"

#include <osb/alloc.h>
#include <osb/clock.h>
#include <osb/log.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "call_metrics.h"
#include "method.h"

/* A stuck log must not hold memory without end. */
enum { WAITING_LINES_MAX = 1024 };

struct calls {
    struct osb_loop *loop;
    struct calls_options options;
    struct call_metrics metrics;
    atomic_int waiting; /* lines posted and not written yet */
};

/* A line on its way to the loop. */
struct line {
    struct calls *calls;
    enum { LINE_SLOW, LINE_INJECTION } type;
    int method;
    int code;
    uint64_t duration_ns;
    enum inject_outcome outcome;
    struct inject_subject subject;
    char error[OSB_ERR_MESSAGE_MAX];
};

struct calls *calls_new(struct osb_loop *loop, const struct calls_options *options)
{
    struct calls *calls = osb_new(struct calls);

    calls->loop = loop;
    calls->options = *options;
    call_metrics_init(&calls->metrics);
    return calls;
}

/* ---- logs, on the loop ---- */

static void log_injection(const struct line *line)
{
    enum osb_log_level level = line->outcome == INJECT_DONE      ? OSB_LOG_INFO
                               : line->outcome == INJECT_PRESENT ? OSB_LOG_DEBUG
                                                                 : OSB_LOG_WARN;
    osb_log(level,
            line->outcome == INJECT_DONE      ? "execd goes into a container"
            : line->outcome == INJECT_PRESENT ? "the pod brings its own execd"
                                              : "execd cannot go into a container",
            OSB_KV_STR("reason", inject_outcome_name(line->outcome)),
            OSB_KV_STR("namespace", line->subject.namespace_), OSB_KV_STR("pod", line->subject.pod),
            OSB_KV_STR("container", line->subject.container),
            OSB_KV_STR("sandbox", line->subject.sandbox_id), /* ends the list where there is none */
            OSB_KV_STR(line->error[0] ? "error" : NULL, line->error));
}

static void log_line(void *arg)
{
    struct line *line = arg;

    atomic_fetch_sub(&line->calls->waiting, 1);
    if (line->type == LINE_INJECTION)
        log_injection(line);
    else
        osb_log(OSB_LOG_INFO, "slow call", OSB_KV_STR("method", method_name(line->method)),
                OSB_KV_STR("code", call_code_name(line->code)),
                OSB_KV_INT("duration_ms", line->duration_ns / OSB_NS_PER_MS));
    const struct calls_options *options = &line->calls->options;
    if (line->type == LINE_INJECTION && line->outcome == INJECT_DONE && options->on_injected)
        options->on_injected(&line->subject, options->arg);
    free(line);
}

static void post(struct calls *calls, const struct line *line)
{
    struct line *copy;

    if (atomic_fetch_add(&calls->waiting, 1) >= WAITING_LINES_MAX) {
        atomic_fetch_sub(&calls->waiting, 1);
        osb_metric_add(calls->metrics.unlogged, 1);
        return;
    }
    copy = osb_new(struct line);
    *copy = *line;
    copy->calls = calls;
    osb_loop_post(calls->loop, log_line, copy);
}

void calls_free(struct calls *calls)
{
    if (!calls)
        return;
    while (atomic_load(&calls->waiting) > 0)
        osb_loop_turn(calls->loop, 0);
    free(calls);
}

/* ---- calls, on the transport's thread ---- */

enum osb_rpc_route calls_route(struct osb_slice method, void *arg)
{
    struct calls *calls = arg;

    osb_metric_add(calls->metrics.in_flight, 1);
    return method_route(method_find(method));
}

int calls_rewrite(struct osb_slice method, struct osb_slice request, struct osb_buf *out,
                  struct osb_err *err, void *arg)
{
    struct calls *calls = arg;
    struct line line = {.type = LINE_INJECTION};
    struct osb_err own = {0};
    int r = inject_create_container(request, &calls->options.files, out, &line.outcome,
                                    &line.subject, &own);

    (void)method;
    call_metrics_injection(&calls->metrics, line.outcome);
    if (line.outcome != INJECT_NOT_ASKED) {
        snprintf(line.error, sizeof(line.error), "%s", own.message);
        post(calls, &line);
    }
    if (r < 0) {
        *err = own;
        return r;
    }
    return line.outcome == INJECT_DONE ? 0 : OSB_RPC_UNCHANGED;
}

void calls_done(const struct osb_rpc_done *done, void *arg)
{
    struct calls *calls = arg;
    int method = method_find(done->method);
    struct line line = {
        .type = LINE_SLOW, .method = method, .code = done->code, .duration_ns = done->duration_ns};

    osb_metric_add(calls->metrics.in_flight, -1);
    call_metrics_count(&calls->metrics, method, done->code, done->duration_ns);
    if (method_is_stream(method) || !calls->options.slow_call_ms ||
        done->duration_ns < calls->options.slow_call_ms * OSB_NS_PER_MS)
        return;
    osb_metric_add(calls->metrics.slow, 1);
    post(calls, &line);
}
