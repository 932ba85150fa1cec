// SPDX-License-Identifier: Apache-2.0
#include <osb/alloc.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// cmocka needs the ones above first
#include <cmocka.h>

#include "rest_create.h"
#include "rest_find.h"
#include "rest_sandbox.h"
#include "rest_status.h"

/* A BatchSandbox with this status (JSON members) and metadata members. */
static struct rest_object make(const char *metadata, const char *status)
{
    _cleanup_free_ char *text = osb_asprintf(
        "{\"metadata\":{\"name\":\"s1\",\"namespace\":\"default\",\"uid\":\"u1\","
        "\"resourceVersion\":\"7\",\"creationTimestamp\":\"2026-12-01T05:00:00Z\"%s},"
        "\"spec\":{\"replicas\":1,\"expireTime\":\"2026-12-01T06:00:00.250000Z\",\"template\":{"
        "\"spec\":{\"containers\":[{\"name\":\"sandbox\",\"image\":\"base:1\",\"command\":["
        "\"/opt/opensandbox/bootstrap.sh\",\"sleep\",\"9\"]}]}}},\"status\":{%s}}",
        metadata, status);
    struct rest_object object = rest_object_read(osb_slice_str(text));
    assert_non_null(object.bs);
    return object;
}

static void assert_status(const char *metadata, const char *json, const char *state,
                          const char *reason, const char *message)
{
    struct rest_object object = make(metadata, json);
    struct rest_status status = rest_status_of(object.bs);
    assert_string_equal(status.state, state);
    assert_string_equal(status.reason, reason);
    assert_string_equal(status.message, message);
    assert_true(status.transition_ns > 0);
    rest_object_done(&object);
}

#define CONDITION(type, reason, message)                                                           \
    "{\"type\":\"" type "\",\"status\":\"True\",\"reason\":\"" reason "\",\"message\":\"" message  \
    "\",\"lastTransitionTime\":\"2026-12-01T05:00:05Z\"}"

static void each_phase_has_its_state(void **state)
{
    (void)state;
    assert_status("", "", "Pending", "BATCHSANDBOX_PENDING", "Sandbox is pending");
    assert_status("", "\"phase\":\"Pending\"", "Pending", "CREATING", "Sandbox is being created");
    assert_status("", "\"phase\":\"Succeed\"", "Running", "RUNNING", "Sandbox is running");
    assert_status("", "\"phase\":\"Pausing\"", "Pausing", "PAUSING", "Sandbox is being paused");
    assert_status("", "\"phase\":\"Paused\"", "Paused", "PAUSED", "Sandbox is paused");
    assert_status("", "\"phase\":\"Resuming\"", "Resuming", "RESUMING", "Sandbox is being resumed");
    assert_status("", "\"phase\":\"Failed\"", "Failed", "FAILED", "Sandbox has failed");
    assert_status("", "\"phase\":\"SomethingNew\"", "Pending", "BATCHSANDBOX_PENDING",
                  "Sandbox is pending");
    assert_status(",\"deletionTimestamp\":\"2026-12-01T05:01:00Z\"", "\"phase\":\"Succeed\"",
                  "Stopping", "DELETING", "Sandbox is being deleted");
}

static void a_condition_says_why(void **state)
{
    (void)state;
    assert_status("",
                  "\"phase\":\"Failed\",\"conditions\":[" CONDITION("PodFailed", "OOMKilled",
                                                                    "exit code=137") "]",
                  "Failed", "OOM_KILLED", "exit code=137");
    assert_status("",
                  "\"phase\":\"Failed\",\"conditions\":[" CONDITION("PodFailed", "ImagePullBackOff",
                                                                    "no such host") "]",
                  "Failed", "IMAGE_PULL_BACK_OFF", "no such host");
    assert_status("",
                  "\"phase\":\"Pending\",\"conditions\":[" CONDITION("Progressing", "Unschedulable",
                                                                     "no node fits") "]",
                  "Pending", "UNSCHEDULABLE", "no node fits");
    assert_status("",
                  "\"phase\":\"Succeed\",\"conditions\":[" CONDITION("Ready", "PodsReady",
                                                                     "Sandbox is running") "]",
                  "Running", "RUNNING", "Sandbox is running");
    assert_status("",
                  "\"phase\":\"Succeed\",\"conditions\":[" CONDITION("Ready", "PodReplaced",
                                                                     "made again") "]",
                  "Running", "POD_REPLACED", "made again");
}

static void a_pause_that_failed_is_told(void **state)
{
    (void)state;
    assert_status("",
                  "\"phase\":\"Succeed\",\"conditions\":[" CONDITION(
                      "PauseFailed", "UnsupportedPause", "not built") "]",
                  "Running", "UNSUPPORTED_PAUSE", "not built");
}

static void a_main_process_that_ended_well_is_terminated(void **state)
{
    (void)state;
    assert_status("",
                  "\"phase\":\"Failed\",\"conditions\":[" CONDITION("PodFailed", "Completed",
                                                                    "exit code=0") "]",
                  "Terminated", "COMPLETED", "exit code=0");
}

static void a_create_waits_until_it_runs_or_has_failed(void **state)
{
    (void)state;
    struct rest_object pending = make("", "\"phase\":\"Pending\"");
    struct rest_object running = make("", "\"phase\":\"Succeed\"");
    struct rest_object failed = make("", "\"phase\":\"Failed\"");
    struct rest_object going =
        make(",\"deletionTimestamp\":\"2026-12-01T05:01:00Z\"", "\"phase\":\"Pending\"");
    assert_int_equal(create_outcome_of(NULL, "u1", false), CREATE_WAITS);
    assert_int_equal(create_outcome_of(NULL, "u1", true), CREATE_GONE);
    assert_int_equal(create_outcome_of(pending.bs, "u1", true), CREATE_WAITS);
    assert_int_equal(create_outcome_of(running.bs, "u1", true), CREATE_RUNS);
    assert_int_equal(create_outcome_of(failed.bs, "u1", false), CREATE_FAILED);
    assert_int_equal(create_outcome_of(going.bs, "u1", true), CREATE_GONE);
    /* Another object of the name: not ours to judge. */
    assert_int_equal(create_outcome_of(failed.bs, "u2", false), CREATE_WAITS);
    assert_int_equal(create_outcome_of(running.bs, "u2", true), CREATE_GONE);
    rest_object_done(&pending);
    rest_object_done(&running);
    rest_object_done(&failed);
    rest_object_done(&going);
}

/* ---- the object ---- */

static char *print(const struct rest_object *object, enum rest_detail detail)
{
    struct osb_buf text = {0};
    struct osb_json_writer w;
    osb_json_writer_init(&w, &text);
    rest_sandbox_print(&w, object->bs, detail);
    assert_int_equal(osb_json_writer_finish(&w, NULL), 0);
    return osb_buf_take(&text);
}

static void the_object_shows_what_the_caller_gave_and_no_more(void **state)
{
    (void)state;
    struct rest_object object =
        make(",\"labels\":{\"opensandbox.io/id\":\"s1\",\"team\":\"x\","
             "\"sandbox.opensandbox.io/y\":\"z\"},\"annotations\":{"
             "\"opensandbox.io/entrypoint\":\"[\\\"sleep\\\",\\\"9\\\"]\","
             "\"opensandbox.io/extensions.color\":\"blue\",\"other\":\"1\"}",
             "\"phase\":\"Succeed\"");
    _cleanup_free_ char *text = print(&object, REST_FULL);
    assert_string_equal(
        text, "{\"id\":\"s1\",\"image\":{\"uri\":\"base:1\"},\"status\":{\"state\":\"Running\","
              "\"reason\":\"RUNNING\",\"message\":\"Sandbox is running\",\"lastTransitionAt\":"
              "\"2026-12-01T05:00:00Z\"},\"metadata\":{\"team\":\"x\","
              "\"sandbox.opensandbox.io/y\":\"z\"},\"extensions\":{"
              "\"opensandbox.extensions.color\":\"blue\"},\"entrypoint\":[\"sleep\",\"9\"],"
              "\"expiresAt\":\"2026-12-01T06:00:00.250000Z\",\"createdAt\":"
              "\"2026-12-01T05:00:00Z\"}");
    rest_object_done(&object);
}

static void what_is_absent_is_left_out_and_never_null(void **state)
{
    (void)state;
    struct rest_object object = make("", "");
    _cleanup_free_ char *text = print(&object, REST_CREATED);
    assert_null(strstr(text, "null"));
    assert_null(strstr(text, "metadata"));
    assert_null(strstr(text, "extensions"));
    assert_null(strstr(text, "platform"));
    assert_null(strstr(text, "image"));
    assert_non_null(strstr(text, "\"entrypoint\":[\"sleep\",\"9\"]"));
    rest_object_done(&object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_phase_has_its_state),
        cmocka_unit_test(a_condition_says_why),
        cmocka_unit_test(a_pause_that_failed_is_told),
        cmocka_unit_test(a_main_process_that_ended_well_is_terminated),
        cmocka_unit_test(a_create_waits_until_it_runs_or_has_failed),
        cmocka_unit_test(the_object_shows_what_the_caller_gave_and_no_more),
        cmocka_unit_test(what_is_absent_is_left_out_and_never_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
