// SPDX-License-Identifier: Apache-2.0
#include "rejection.h"

#include <osb/alloc.h>
#include <osb/clock.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../../lib/kube/tests/script_transport.h"

#define STATUS_PATH "/api/v1/namespaces/default/pods/p/status"

struct fixture {
    struct node node;
    struct script *script; /* of statuses and deletions */
    struct rejections *rejections;
    struct osb_err why;
};

static int set_up(void **state)
{
    struct fixture *f = osb_new(struct fixture);
    assert_int_equal(osb_loop_new_sim(&f->node.loop, NULL), 0);
    f->script = script_new();
    f->node.kube = osb_kube_client_new(f->node.loop, &f->script->transport);
    f->node.events = osb_kube_events_new(f->node.loop, f->node.kube, "test");
    f->rejections = rejections_new(&f->node);
    osb_fail(&f->why, -OSB_E_UNSUPPORTED, "volume v: configMap is not supported");
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    rejections_free(f->rejections);
    osb_kube_events_free(f->node.events);
    osb_kube_client_free(f->node.kube);
    osb_loop_free(f->node.loop);
    free(f);
    return 0;
}

static void take(struct fixture *f, const char *more_metadata, const char *phase)
{
    struct osb_json *object = NULL;
    char text[512];
    snprintf(text, sizeof(text),
             "{\"metadata\":{\"name\":\"p\",\"namespace\":\"default\",\"uid\":\"u-1\"%s},"
             "\"status\":{\"phase\":\"%s\"}}",
             more_metadata, phase);
    assert_int_equal(osb_json_parse(osb_slice_str(text), &object, NULL), 0);
    rejections_take(f->rejections, object, &f->why);
    osb_json_free(object);
    osb_loop_sim_settle(f->node.loop);
}

static void take_deleting(struct fixture *f)
{
    take(f, ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"", "Failed");
}

/* How often METHOD was sent to the pod; *RET_LAST is the newest such request. */
static int count_of(const struct fixture *f, const char *method, struct script_request **ret_last)
{
    int count = 0;
    for (int i = 0; i < f->script->count; i++) {
        struct script_request *request = &f->script->requests[i];
        if (!strcmp(request->method, method) && strstr(request->path, "/pods/p")) {
            count++;
            *ret_last = request;
        }
    }
    return count;
}

static void advance_ms(struct fixture *f, uint64_t ms)
{
    osb_loop_sim_advance(f->node.loop, ms * OSB_NS_PER_MS);
}

/* Answers whatever is open, so that nothing of the fixture is left hanging. */
static void end_all(struct fixture *f)
{
    for (int i = 0; i < f->script->count; i++) {
        if (f->script->requests[i].is_open)
            script_answer(&f->script->requests[i], 200, "{}");
    }
    osb_loop_sim_settle(f->node.loop);
}

static void a_rejected_pod_is_told_as_failed_with_the_reason(void **state)
{
    struct fixture *f = *state;
    struct script_request *request = NULL;
    take(f, "", "Pending");
    assert_int_equal(count_of(f, "PATCH", &request), 1);
    assert_string_equal(request->path, STATUS_PATH);
    assert_non_null(strstr(request->body, "\"uid\":\"u-1\""));
    assert_non_null(strstr(request->body, "\"phase\":\"Failed\""));
    assert_non_null(strstr(request->body, "configMap is not supported"));
    end_all(f);
    advance_ms(f, UINT64_C(2) * REJECTION_RETRY_MAX_MS);
    assert_int_equal(count_of(f, "PATCH", &request), 1);
}

static void a_pod_that_was_told_is_not_told_again(void **state)
{
    struct fixture *f = *state;
    struct script_request *request = NULL;
    take(f, "", "Failed");
    assert_int_equal(count_of(f, "PATCH", &request), 0);
}

static void a_status_that_was_not_taken_is_written_again_ever_later(void **state)
{
    struct fixture *f = *state;
    struct script_request *request = NULL;
    uint64_t delay_ms = REJECTION_RETRY_MIN_MS;
    take(f, "", "Pending");
    for (int tries = 1; tries <= 8; tries++) {
        assert_int_equal(count_of(f, "PATCH", &request), tries);
        script_answer(request, 503, "");
        advance_ms(f, delay_ms - 1);
        assert_int_equal(count_of(f, "PATCH", &request), tries);
        advance_ms(f, 1);
        delay_ms = delay_ms * 2 > REJECTION_RETRY_MAX_MS ? REJECTION_RETRY_MAX_MS : delay_ms * 2;
    }
    end_all(f);
}

static void a_pod_that_is_gone_is_not_written_again(void **state)
{
    static const int answers[] = {404, 409};
    struct fixture *f = *state;
    struct script_request *request = NULL;
    for (int i = 0; i < 2; i++) {
        take(f, "", "Pending");
        assert_int_equal(count_of(f, "PATCH", &request), i + 1);
        script_answer(request, answers[i], "");
        advance_ms(f, UINT64_C(2) * REJECTION_RETRY_MAX_MS);
        assert_int_equal(count_of(f, "PATCH", &request), i + 1);
    }
    end_all(f);
}

static void a_deletion_is_carried_out_with_the_uid_until_it_is_taken(void **state)
{
    struct fixture *f = *state;
    struct script_request *request = NULL;
    take_deleting(f);
    assert_int_equal(count_of(f, "DELETE", &request), 1);
    assert_non_null(strstr(request->body, "\"uid\":\"u-1\""));
    script_answer(request, 500, "");
    take_deleting(f); /* the watch says so again: one try is under way all the same */
    assert_int_equal(count_of(f, "DELETE", &request), 1);
    advance_ms(f, REJECTION_RETRY_MIN_MS);
    assert_int_equal(count_of(f, "DELETE", &request), 2);
    end_all(f);
    advance_ms(f, UINT64_C(2) * REJECTION_RETRY_MAX_MS);
    assert_int_equal(count_of(f, "DELETE", &request), 2);
}

static void a_deletion_asked_for_while_the_status_is_written_comes_after_it(void **state)
{
    struct fixture *f = *state;
    struct script_request *request = NULL;
    take(f, "", "Pending");
    take_deleting(f);
    assert_int_equal(count_of(f, "DELETE", &request), 0);
    assert_int_equal(count_of(f, "PATCH", &request), 1);
    script_answer(request, 200, "{}");
    osb_loop_sim_settle(f->node.loop);
    assert_int_equal(count_of(f, "DELETE", &request), 1);
    end_all(f);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(a_rejected_pod_is_told_as_failed_with_the_reason),
        T(a_pod_that_was_told_is_not_told_again),
        T(a_status_that_was_not_taken_is_written_again_ever_later),
        T(a_pod_that_is_gone_is_not_written_again),
        T(a_deletion_is_carried_out_with_the_uid_until_it_is_taken),
        T(a_deletion_asked_for_while_the_status_is_written_comes_after_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
