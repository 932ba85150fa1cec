// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <osb/log.h>
#include <osb/metric.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "folder.h"
#include "method.h"
#include "requests.h"

#define CRI(method)     OSB_SLICE("/runtime.v1.RuntimeService/" method)
#define CREATE          CRI("CreateContainer")
#define NS_PER_MS       1000000ULL
#define SLOW_MS         100
#define HAS(text, what) assert_non_null(strstr((text), (what)))

static const struct calls_options options = {{"/f/execd", "/f/bootstrap.sh"}, SLOW_MS};

static struct osb_loop *loop;

static struct calls *begin(const struct calls_options *of)
{
    assert_int_equal(osb_loop_new_sim(&loop, NULL), 0);
    return calls_new(loop, of);
}

static void end(struct calls *calls)
{
    calls_free(calls);
    osb_loop_free(loop);
}

static char *metrics(void)
{
    struct osb_buf text = {0};

    osb_metric_render(&text);
    return osb_buf_take(&text);
}

/* What is logged while the calls live goes to this file. */
static int log_to(void **state)
{
    int fd = open(folder_path(state, "log"), O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    osb_log_setup("test", OSB_LOG_INFO, fd);
    return fd;
}

static char *logged(void **state, int fd)
{
    struct osb_buf text = {0};

    osb_log_setup("test", OSB_LOG_INFO, STDERR_FILENO);
    close(fd);
    assert_int_equal(osb_read_file(folder_path(state, "log"), 1 << 20, &text, NULL), 0);
    return osb_buf_take(&text);
}

static void known_methods_go_the_short_way_and_others_the_general_one(void **state)
{
    struct calls *calls = begin(&options);

    (void)state;
    assert_int_equal(calls_route(CRI("Version"), calls), OSB_RPC_FORWARD_UNARY);
    assert_int_equal(calls_route(OSB_SLICE("/runtime.v1.ImageService/PullImage"), calls),
                     OSB_RPC_FORWARD_UNARY);
    assert_int_equal(calls_route(CREATE, calls), OSB_RPC_REWRITE);
    assert_int_equal(calls_route(CRI("GetContainerEvents"), calls), OSB_RPC_FORWARD);
    assert_int_equal(calls_route(CRI("StreamContainers"), calls), OSB_RPC_FORWARD);
    assert_int_equal(calls_route(OSB_SLICE("/runtime.v1alpha2.RuntimeService/Version"), calls),
                     OSB_RPC_FORWARD);
    assert_int_equal(calls_route(OSB_SLICE(""), calls), OSB_RPC_FORWARD);
    end(calls);
}

static void every_known_method_is_found_by_its_path_alone(void **state)
{
    char path[128];

    (void)state;
    for (int i = METHOD_OTHER + 1; i < METHOD_COUNT; i++) {
        snprintf(path, sizeof(path), "/runtime.v1.RuntimeService/%s", method_name(i));
        if (method_find(osb_slice_str(path)) != i)
            snprintf(path, sizeof(path), "/runtime.v1.ImageService/%s", method_name(i));
        assert_int_equal(method_find(osb_slice_str(path)), i);
        assert_int_equal(method_find(osb_slice_str(path + 1)), METHOD_OTHER);
    }
    assert_string_equal(method_name(METHOD_OTHER), "other");
}

static void done_call(struct calls *calls, struct osb_slice method, int code, uint64_t ms)
{
    struct osb_rpc_done done = {.method = method, .code = code, .duration_ns = ms * NS_PER_MS};

    calls_route(method, calls);
    calls_done(&done, calls);
}

static void calls_are_counted_by_method_and_code(void **state)
{
    struct calls *calls = begin(&options);
    _cleanup_free_ char *text = NULL;

    (void)state;
    done_call(calls, CRI("Version"), 0, 1);
    done_call(calls, CRI("Version"), 0, 1);
    done_call(calls, CRI("ContainerStatus"), 5, 1);
    done_call(calls, OSB_SLICE("/x/Y"), 12, 1);
    done_call(calls, OSB_SLICE("/x/Z"), 4711, 1);
    text = metrics();
    HAS(text, "opensandbox_shim_calls_total{method=\"Version\",code=\"OK\"} 2\n");
    HAS(text, "opensandbox_shim_calls_total{method=\"ContainerStatus\",code=\"NotFound\"} 1\n");
    HAS(text, "opensandbox_shim_calls_total{method=\"other\",code=\"Unimplemented\"} 1\n");
    HAS(text, "opensandbox_shim_calls_total{method=\"other\",code=\"unusual\"} 1\n");
    HAS(text, "opensandbox_shim_call_seconds_count{method=\"Version\"} 2\n");
    assert_null(strstr(text, "opensandbox_shim_call_seconds_count{method=\"other\"}"));
    assert_null(strstr(text, "/x/Y"));
    HAS(text, "opensandbox_shim_injections_total{outcome=\"no_version\"} 0\n");
    end(calls);
}

static void calls_in_flight_rise_and_fall(void **state)
{
    struct calls *calls = begin(&options);
    struct osb_metric *in_flight = osb_metric_new(
        OSB_METRIC_GAUGE, "opensandbox_shim_calls_in_flight", "Calls being passed on", NULL);
    struct osb_rpc_done done = {.method = CRI("ExecSync")};
    int64_t before = osb_metric_value(in_flight);

    (void)state;
    calls_route(CRI("ExecSync"), calls);
    calls_route(CRI("GetContainerEvents"), calls);
    assert_int_equal(osb_metric_value(in_flight) - before, 2);
    calls_done(&done, calls);
    assert_int_equal(osb_metric_value(in_flight) - before, 1);
    end(calls);
}

static void a_slow_call_is_logged_and_a_long_stream_is_not(void **state)
{
    struct calls *calls = begin(&options);
    int fd = log_to(state);
    _cleanup_free_ char *text = NULL;

    done_call(calls, CRI("PodSandboxStatus"), 0, SLOW_MS - 1);
    done_call(calls, CRI("GetContainerEvents"), 0, SLOW_MS * 1000);
    done_call(calls, CRI("StopContainer"), 4, SLOW_MS);
    end(calls);
    text = logged(state, fd);
    HAS(text, "\"slow call\"");
    HAS(text, "\"method\":\"StopContainer\"");
    HAS(text, "\"code\":\"DeadlineExceeded\"");
    HAS(text, "\"duration_ms\":100");
    assert_null(strstr(text, "PodSandboxStatus"));
    assert_null(strstr(text, "GetContainerEvents"));
}

static void no_call_is_slow_when_that_is_asked(void **state)
{
    struct calls_options never = options;
    struct calls *calls;
    int fd = log_to(state);
    _cleanup_free_ char *text = NULL;

    never.slow_call_ms = 0;
    calls = begin(&never);
    done_call(calls, CRI("StopContainer"), 0, SLOW_MS * 1000);
    end(calls);
    text = logged(state, fd);
    assert_string_equal(text, "");
}

static int rewrite(struct calls *calls, const struct request_shape *shape, struct osb_buf *out,
                   struct osb_err *err)
{
    _cleanup_buf_ struct osb_buf request = {0};

    request_make(shape, &request);
    return calls_rewrite(CREATE, osb_buf_slice(&request), out, err, calls);
}

static void an_injection_is_counted_and_logged_without_payload(void **state)
{
    struct calls *calls = begin(&options);
    int fd = log_to(state);
    _cleanup_buf_ struct osb_buf out = {0};
    _cleanup_free_ char *text = NULL;
    struct osb_err err = {0};

    assert_int_equal(rewrite(calls, &(struct request_shape){"sandbox", "execd", "1"}, &out, &err),
                     0);
    assert_true(osb_buf_slice(&out).len > 0);
    assert_int_equal(rewrite(calls, &(struct request_shape){"other", "execd", "1"}, &out, &err),
                     OSB_RPC_UNCHANGED);
    end(calls);
    text = logged(state, fd);
    HAS(text, "execd goes into a container");
    HAS(text, "\"pod\":\"pod-0\"");
    HAS(text, "\"namespace\":\"tenant\"");
    assert_null(strstr(text, "other"));
    assert_null(strstr(text, "kept"));
}

static void a_refusal_is_logged_and_told_to_the_kubelet(void **state)
{
    struct calls *calls = begin(&options);
    int fd = log_to(state);
    _cleanup_buf_ struct osb_buf out = {0};
    _cleanup_free_ char *text = NULL;
    _cleanup_free_ char *numbers = NULL;
    struct osb_err err = {0};

    assert_int_equal(rewrite(calls, &(struct request_shape){"sandbox", "execd", "9"}, &out, &err),
                     -OSB_E_PRECONDITION);
    HAS(err.message, "opensandbox-shim: ");
    end(calls);
    text = logged(state, fd);
    HAS(text, "execd cannot go into a container");
    HAS(text, "\"reason\":\"no_version\"");
    numbers = metrics();
    HAS(numbers, "opensandbox_shim_injections_total{outcome=\"no_version\"} 1\n");
}

static void a_log_that_nobody_writes_holds_a_bounded_number_of_lines(void **state)
{
    struct calls *calls = begin(&options);
    struct osb_metric *lost =
        osb_metric_new(OSB_METRIC_COUNTER, "opensandbox_shim_log_lines_lost_total",
                       "Log lines dropped because too many waited", NULL);
    int fd = log_to(state);
    _cleanup_free_ char *text = NULL;

    for (int i = 0; i < 1030; i++)
        done_call(calls, CRI("ExecSync"), 0, SLOW_MS);
    assert_int_equal(osb_metric_value(lost), 6);
    end(calls);
    text = logged(state, fd);
    HAS(text, "slow call");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_methods_go_the_short_way_and_others_the_general_one),
        cmocka_unit_test(every_known_method_is_found_by_its_path_alone),
        cmocka_unit_test(calls_are_counted_by_method_and_code),
        cmocka_unit_test(calls_in_flight_rise_and_fall),
        IN_FOLDER(a_slow_call_is_logged_and_a_long_stream_is_not),
        IN_FOLDER(no_call_is_slow_when_that_is_asked),
        IN_FOLDER(an_injection_is_counted_and_logged_without_payload),
        IN_FOLDER(a_refusal_is_logged_and_told_to_the_kubelet),
        IN_FOLDER(a_log_that_nobody_writes_holds_a_bounded_number_of_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
