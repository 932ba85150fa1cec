// SPDX-License-Identifier: Apache-2.0
#include "call_metrics.h"

#include <stdio.h>

enum { LABELS_MAX = 96 };

static const char *const code_names[CALL_CODE_COUNT] = {
    "OK",
    "Canceled",
    "Unknown",
    "InvalidArgument",
    "DeadlineExceeded",
    "NotFound",
    "AlreadyExists",
    "PermissionDenied",
    "ResourceExhausted",
    "FailedPrecondition",
    "Aborted",
    "OutOfRange",
    "Unimplemented",
    "Internal",
    "Unavailable",
    "DataLoss",
    "Unauthenticated",
    [CALL_CODE_UNUSUAL] = "unusual",
};

static int known_code(int code)
{
    return code >= 0 && code < CALL_CODE_UNUSUAL ? code : CALL_CODE_UNUSUAL;
}

const char *call_code_name(int code)
{
    return code_names[known_code(code)];
}

/* Those that alarms are made of stand there with 0 from the start. */
void call_metrics_init(struct call_metrics *metrics)
{
    *metrics = (struct call_metrics){
        .slow = osb_metric_new(OSB_METRIC_COUNTER, "opensandbox_shim_slow_calls_total",
                               "Calls that took longer than --slow-call-ms", NULL),
        .in_flight = osb_metric_new(OSB_METRIC_GAUGE, "opensandbox_shim_calls_in_flight",
                                    "Calls being passed on", NULL),
        .unlogged = osb_metric_new(OSB_METRIC_COUNTER, "opensandbox_shim_log_lines_lost_total",
                                   "Log lines dropped because too many waited", NULL),
    };
    for (int i = INJECT_DONE; i < INJECT_OUTCOME_COUNT; i++) {
        char labels[LABELS_MAX];

        snprintf(labels, sizeof(labels), "outcome=\"%s\"",
                 inject_outcome_name((enum inject_outcome)i));
        metrics->injections[i] =
            osb_metric_new(OSB_METRIC_COUNTER, "opensandbox_shim_injections_total",
                           "Containers that asked for execd", labels);
    }
}

static struct osb_metric *calls_of(struct call_metrics *metrics, int method, int code)
{
    struct osb_metric **metric = &metrics->calls[method][code];
    char labels[LABELS_MAX];

    if (*metric)
        return *metric;
    snprintf(labels, sizeof(labels), "method=\"%s\",code=\"%s\"", method_name(method),
             code_names[code]);
    *metric = osb_metric_new(OSB_METRIC_COUNTER, "opensandbox_shim_calls_total",
                             "Calls that were passed on or refused", labels);
    return *metric;
}

static struct osb_metric *seconds_of(struct call_metrics *metrics, int method)
{
    struct osb_metric **metric = &metrics->seconds[method];
    char labels[LABELS_MAX];

    if (*metric)
        return *metric;
    snprintf(labels, sizeof(labels), "method=\"%s\"", method_name(method));
    *metric =
        osb_metric_new(OSB_METRIC_HISTOGRAM, "opensandbox_shim_call_seconds",
                       "How long calls of one answer took, the runtime's time included", labels);
    return *metric;
}

void call_metrics_count(struct call_metrics *metrics, int method, int code, uint64_t duration_ns)
{
    osb_metric_add(calls_of(metrics, method, known_code(code)), 1);
    if (!method_is_stream(method))
        osb_metric_observe_ns(seconds_of(metrics, method), duration_ns);
}

void call_metrics_injection(struct call_metrics *metrics, enum inject_outcome outcome)
{
    if (outcome != INJECT_NOT_ASKED)
        osb_metric_add(metrics->injections[outcome], 1);
}
