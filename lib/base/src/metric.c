// SPDX-License-Identifier: Apache-2.0
#include <osb/metric.h>

#include <osb/alloc.h>
#include <osb/err.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

enum { HISTOGRAM_BUCKETS = 21 }; /* 0.1 ms doubled twenty times is 104.8576 s */

#define HISTOGRAM_FIRST_NS 100000ULL

struct osb_metric {
    struct osb_metric *next; /* metrics of one name stand together */
    enum osb_metric_type type;
    const char *name;
    const char *help;
    const char *labels; /* NULL for none */
    _Atomic int64_t value;
    /* Histograms: the last bucket is the one without a bound; each counts its own range only. */
    _Atomic uint64_t buckets[HISTOGRAM_BUCKETS + 1];
    _Atomic uint64_t sum_ns;
};

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct osb_metric *registry;

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* The link behind the last metric of NAME, or the end of the list. */
static struct osb_metric **insertion_point(const char *name)
{
    struct osb_metric **link = &registry;
    bool is_found = false;
    for (; *link; link = &(*link)->next) {
        bool is_ours = strcmp((*link)->name, name) == 0;
        if (is_found && !is_ours)
            break;
        is_found |= is_ours;
    }
    return link;
}

static struct osb_metric *find(enum osb_metric_type type, const char *name, const char *labels)
{
    for (struct osb_metric *metric = registry; metric; metric = metric->next) {
        if (strcmp(metric->name, name) != 0)
            continue;
        osb_assert(metric->type == type && "one type a metric name");
        if (is_same(metric->labels, labels))
            return metric;
    }
    return NULL;
}

struct osb_metric *osb_metric_new(enum osb_metric_type type, const char *name, const char *help,
                                  const char *labels)
{
    pthread_mutex_lock(&registry_lock);
    struct osb_metric *metric = find(type, name, labels);
    if (!metric) {
        metric = osb_new(struct osb_metric);
        metric->type = type;
        metric->name = osb_strdup(name);
        metric->help = osb_strdup(help);
        metric->labels = osb_strdup(labels);
        struct osb_metric **link = insertion_point(name);
        metric->next = *link;
        *link = metric;
    }
    pthread_mutex_unlock(&registry_lock);
    return metric;
}

void osb_metric_add(struct osb_metric *metric, int64_t delta)
{
    osb_assert(metric->type == OSB_METRIC_GAUGE ||
               (metric->type == OSB_METRIC_COUNTER && delta >= 0));
    atomic_fetch_add_explicit(&metric->value, delta, memory_order_relaxed);
}

void osb_metric_set(struct osb_metric *metric, int64_t value)
{
    osb_assert(metric->type != OSB_METRIC_HISTOGRAM);
    atomic_store_explicit(&metric->value, value, memory_order_relaxed);
}

static uint64_t observations(const struct osb_metric *metric)
{
    uint64_t count = 0;
    for (int i = 0; i <= HISTOGRAM_BUCKETS; i++)
        count += atomic_load_explicit(&metric->buckets[i], memory_order_relaxed);
    return count;
}

int64_t osb_metric_value(const struct osb_metric *metric)
{
    if (metric->type == OSB_METRIC_HISTOGRAM)
        return (int64_t)observations(metric);
    return atomic_load_explicit(&metric->value, memory_order_relaxed);
}

void osb_metric_observe_ns(struct osb_metric *metric, uint64_t value_ns)
{
    osb_assert(metric->type == OSB_METRIC_HISTOGRAM);
    int bucket = 0;
    for (uint64_t bound = HISTOGRAM_FIRST_NS; bucket < HISTOGRAM_BUCKETS && value_ns > bound;
         bound *= 2)
        bucket++;
    atomic_fetch_add_explicit(&metric->buckets[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&metric->sum_ns, value_ns, memory_order_relaxed);
}

/* Seconds with all nine digits that count and no others: no locale, no rounding. */
static void append_seconds(struct osb_buf *out, uint64_t ns)
{
    char digits[10];
    uint64_t fraction = ns % 1000000000ULL;
    int len = 9;
    for (int i = 8; i >= 0; i--, fraction /= 10)
        digits[i] = (char)('0' + fraction % 10);
    while (len && digits[len - 1] == '0')
        len--;
    osb_buf_appendf(out, "%llu%s%.*s", (unsigned long long)(ns / 1000000000ULL), len ? "." : "",
                    len, digits);
}

static void append_help(struct osb_buf *out, const char *help)
{
    for (; *help; help++) {
        if (*help == '\n')
            osb_buf_append_str(out, "\\n");
        else if (*help == '\\')
            osb_buf_append_str(out, "\\\\");
        else
            osb_buf_append_char(out, *help);
    }
}

static void append_head(struct osb_buf *out, const struct osb_metric *metric)
{
    static const char *const type_names[] = {"counter", "gauge", "histogram"};
    if (metric->help) {
        osb_buf_appendf(out, "# HELP %s ", metric->name);
        append_help(out, metric->help);
        osb_buf_append_char(out, '\n');
    }
    osb_buf_appendf(out, "# TYPE %s %s\n", metric->name, type_names[metric->type]);
}

/* NAME SUFFIX {LABELS} and the blank in front of the value. */
static void append_series(struct osb_buf *out, const struct osb_metric *metric, const char *suffix)
{
    osb_buf_appendf(out, "%s%s", metric->name, suffix);
    if (metric->labels)
        osb_buf_appendf(out, "{%s}", metric->labels);
    osb_buf_append_char(out, ' ');
}

static void append_bucket(struct osb_buf *out, const struct osb_metric *metric, int bucket,
                          uint64_t count)
{
    osb_buf_appendf(out, "%s_bucket{%s%sle=\"", metric->name, metric->labels ? metric->labels : "",
                    metric->labels ? "," : "");
    if (bucket < HISTOGRAM_BUCKETS)
        append_seconds(out, HISTOGRAM_FIRST_NS << bucket);
    else
        osb_buf_append_str(out, "+Inf");
    osb_buf_appendf(out, "\"} %llu\n", (unsigned long long)count);
}

static void append_histogram(struct osb_buf *out, const struct osb_metric *metric)
{
    uint64_t count = 0;
    for (int i = 0; i <= HISTOGRAM_BUCKETS; i++) {
        count += atomic_load_explicit(&metric->buckets[i], memory_order_relaxed);
        append_bucket(out, metric, i, count);
    }
    append_series(out, metric, "_sum");
    append_seconds(out, atomic_load_explicit(&metric->sum_ns, memory_order_relaxed));
    osb_buf_append_char(out, '\n');
    append_series(out, metric, "_count");
    osb_buf_appendf(out, "%llu\n", (unsigned long long)count);
}

void osb_metric_render(struct osb_buf *out)
{
    pthread_mutex_lock(&registry_lock);
    const char *name = "";
    for (const struct osb_metric *metric = registry; metric; metric = metric->next) {
        if (strcmp(metric->name, name) != 0)
            append_head(out, metric);
        name = metric->name;
        if (metric->type == OSB_METRIC_HISTOGRAM) {
            append_histogram(out, metric);
            continue;
        }
        append_series(out, metric, "");
        osb_buf_appendf(out, "%lld\n", (long long)osb_metric_value(metric));
    }
    pthread_mutex_unlock(&registry_lock);
}
