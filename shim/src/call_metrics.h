// SPDX-License-Identifier: Apache-2.0
/*
 * The numbers of the calls. Labels are bounded: methods by the table of method.h, codes by those
 * of gRPC; a series is made by its first call. All calls of one thread, but for the rendering.
 */
#ifndef SHIM_CALL_METRICS_H
#define SHIM_CALL_METRICS_H

#include <osb/metric.h>

#include "inject.h"
#include "method.h"

enum { CALL_CODE_UNUSUAL = 17, CALL_CODE_COUNT = 18 }; /* 0 to 16 have names, the rest share one */

struct call_metrics {
    struct osb_metric *calls[METHOD_COUNT][CALL_CODE_COUNT];
    struct osb_metric *seconds[METHOD_COUNT];
    struct osb_metric *injections[INJECT_OUTCOME_COUNT];
    struct osb_metric *slow;
    struct osb_metric *in_flight;
    struct osb_metric *unlogged;
};

void call_metrics_init(struct call_metrics *metrics);
void call_metrics_count(struct call_metrics *metrics, int method, int code, uint64_t duration_ns);
void call_metrics_injection(struct call_metrics *metrics, enum inject_outcome outcome);
/* "NotFound" and the like, as gRPC writes them. */
const char *call_code_name(int code);

#endif
