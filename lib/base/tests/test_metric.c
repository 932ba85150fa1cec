// SPDX-License-Identifier: Apache-2.0
#include <osb/metric.h>
#include <pthread.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void contains(const char *expected)
{
    _cleanup_buf_ struct osb_buf out = {0};
    osb_metric_render(&out);
    if (!strstr(osb_buf_cstr(&out), expected))
        fail_msg("%s\nis not in\n%s", expected, osb_buf_cstr(&out));
}

static void counters_and_gauges_are_rendered(void **state)
{
    (void)state;
    struct osb_metric *c = osb_metric_new(OSB_METRIC_COUNTER, "a_total", "Help\\ of\na.", NULL);
    struct osb_metric *g = osb_metric_new(OSB_METRIC_GAUGE, "b_bytes", "B.", NULL);
    osb_metric_add(c, 2);
    osb_metric_add(c, 3);
    osb_metric_set(g, 10);
    osb_metric_add(g, -17);
    assert_int_equal(osb_metric_value(c), 5);
    assert_int_equal(osb_metric_value(g), -7);
    contains("# HELP a_total Help\\\\ of\\na.\n# TYPE a_total counter\na_total 5\n");
    contains("# HELP b_bytes B.\n# TYPE b_bytes gauge\nb_bytes -7\n");
}

static void metrics_of_one_name_stand_under_one_head(void **state)
{
    (void)state;
    osb_metric_add(osb_metric_new(OSB_METRIC_COUNTER, "r_total", "R.", "verb=\"get\""), 1);
    osb_metric_new(OSB_METRIC_GAUGE, "between", "Between.", NULL);
    osb_metric_add(osb_metric_new(OSB_METRIC_COUNTER, "r_total", "R.", "verb=\"list\""), 2);
    contains("# HELP r_total R.\n# TYPE r_total counter\nr_total{verb=\"get\"} 1\n"
             "r_total{verb=\"list\"} 2\n# HELP between");
}

static void the_same_registration_gives_the_same_metric(void **state)
{
    (void)state;
    struct osb_metric *a = osb_metric_new(OSB_METRIC_GAUGE, "same", "S.", "k=\"a\"");
    assert_ptr_equal(osb_metric_new(OSB_METRIC_GAUGE, "same", "S.", "k=\"a\""), a);
    assert_ptr_not_equal(osb_metric_new(OSB_METRIC_GAUGE, "same", "S.", "k=\"b\""), a);
    assert_ptr_not_equal(osb_metric_new(OSB_METRIC_GAUGE, "same", "S.", NULL), a);
}

static void histograms_count_up_to_their_bounds(void **state)
{
    (void)state;
    struct osb_metric *h = osb_metric_new(OSB_METRIC_HISTOGRAM, "h_seconds", "H.", "op=\"x\"");
    osb_metric_observe_ns(h, 0);
    osb_metric_observe_ns(h, 100000);
    osb_metric_observe_ns(h, 100001);
    osb_metric_observe_ns(h, 1500000000);
    osb_metric_observe_ns(h, 104857600000);
    osb_metric_observe_ns(h, 104857600001);
    assert_int_equal(osb_metric_value(h), 6);
    contains("# TYPE h_seconds histogram\nh_seconds_bucket{op=\"x\",le=\"0.0001\"} 2\n"
             "h_seconds_bucket{op=\"x\",le=\"0.0002\"} 3\n");
    contains("le=\"0.8192\"} 3\nh_seconds_bucket{op=\"x\",le=\"1.6384\"} 4\n");
    contains("le=\"104.8576\"} 5\nh_seconds_bucket{op=\"x\",le=\"+Inf\"} 6\n"
             "h_seconds_sum{op=\"x\"} 211.215400002\nh_seconds_count{op=\"x\"} 6\n");
}

static void *add_many(void *metric)
{
    for (int i = 0; i < 20000; i++)
        osb_metric_add(metric, 1);
    return NULL;
}

static void additions_of_threads_are_not_lost(void **state)
{
    (void)state;
    struct osb_metric *c = osb_metric_new(OSB_METRIC_COUNTER, "threads_total", "T.", NULL);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, c), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(osb_metric_value(c), 80000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_and_gauges_are_rendered),
        cmocka_unit_test(metrics_of_one_name_stand_under_one_head),
        cmocka_unit_test(the_same_registration_gives_the_same_metric),
        cmocka_unit_test(histograms_count_up_to_their_bounds),
        cmocka_unit_test(additions_of_threads_are_not_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
