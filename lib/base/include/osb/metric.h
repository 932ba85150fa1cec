// SPDX-License-Identifier: Apache-2.0
/*
 * Counters, gauges and histograms, registered once at start and rendered as Prometheus text
 * (exposition format 0.0.4). Updates are atomic and cheap. Label values are bounded by whoever
 * registers them: a labelled metric is one registration a value.
 */
#ifndef OSB_METRIC_H
#define OSB_METRIC_H

#include <osb/buf.h>
#include <stdint.h>

enum osb_metric_type { OSB_METRIC_COUNTER, OSB_METRIC_GAUGE, OSB_METRIC_HISTOGRAM };

struct osb_metric;

/*
 * NAME ends in _total for counters and carries its unit; LABELS is the inside of the braces
 * (`verb="get"`) or NULL. The metric lives as long as the process; registering the same name and
 * labels again gives the one that is there.
 */
struct osb_metric *osb_metric_new(enum osb_metric_type type, const char *name, const char *help,
                                  const char *labels);
void osb_metric_add(struct osb_metric *metric, int64_t delta);
void osb_metric_set(struct osb_metric *metric, int64_t value);
int64_t osb_metric_value(const struct osb_metric *metric);
/* For histograms: buckets double from 0.1 ms to 100 s; VALUE in nanoseconds. */
void osb_metric_observe_ns(struct osb_metric *metric, uint64_t value_ns);
/* Appends all registered metrics. */
void osb_metric_render(struct osb_buf *out);

#endif
