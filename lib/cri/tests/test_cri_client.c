// SPDX-License-Identifier: Apache-2.0
#include "cri_method.h"
#include "runtime_v1.pb-c.h"
#include <grpc_peer.h>

#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/clock.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { WAIT_MS = 20000 };

struct fixture {
    struct osb_loop *loop;
    struct grpc_peer *peer;
    struct osb_cri_client *client;
    int done_count;
    int r;
    struct osb_err err;
    char *runtime_name;
    bool frees_client;
};

/* What newer runtimes may add to VersionResponse: field 100, a string. */
static const char unknown_field[] = "\xa2\x06\x03new";

static void handle(const struct grpc_peer_request *request, struct grpc_peer_answer *answer,
                   void *arg)
{
    Runtime__V1__VersionResponse version = RUNTIME__V1__VERSION_RESPONSE__INIT;
    uint8_t bytes[256];

    (void)arg;
    if (osb_slice_eq_str(request->method, "/runtime.v1.RuntimeService/Version")) {
        version.runtime_name = (char *)"scripted";
        answer->count = 1;
        osb_buf_append(&answer->message, bytes,
                       runtime__v1__version_response__pack(&version, bytes));
        osb_buf_append(&answer->message, unknown_field, sizeof(unknown_field) - 1);
    } else if (osb_slice_eq_str(request->method, "/runtime.v1.RuntimeService/StartContainer")) {
        answer->status = 5;
        answer->text = "no such container";
    } else if (osb_slice_eq_str(request->method, "/runtime.v1.RuntimeService/Status")) {
        answer->count = 1;
        osb_buf_append_str(&answer->message, "\xff\xff\xff");
    } else {
        answer->stays_open = true;
    }
}

static void on_done(int r, const struct ProtobufCMessage *response, const struct osb_err *err,
                    void *arg)
{
    struct fixture *fixture = arg;

    fixture->done_count++;
    fixture->r = r;
    if (fixture->frees_client)
        osb_cri_client_free(osb_take_ptr(fixture->client));
    if (r < 0) {
        assert_null(response);
        fixture->err = *err;
    } else if (response->descriptor == &runtime__v1__version_response__descriptor) {
        assert_int_equal(response->n_unknown_fields, 1);
        fixture->runtime_name =
            osb_strdup(((const Runtime__V1__VersionResponse *)response)->runtime_name);
    }
}

static int set_up(void **state)
{
    struct fixture *fixture = osb_new(struct fixture);

    assert_int_equal(osb_loop_new_epoll(&fixture->loop, NULL), 0);
    fixture->peer = grpc_peer_new(handle, NULL);
    assert_int_equal(
        osb_cri_client_new(fixture->loop, grpc_peer_target(fixture->peer), &fixture->client, NULL),
        0);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    osb_cri_client_free(fixture->client);
    grpc_peer_free(fixture->peer);
    osb_loop_free(fixture->loop);
    free(fixture->runtime_name);
    free(fixture);
    return 0;
}

static void turn_until_done(struct fixture *fixture)
{
    uint64_t end_ns = osb_monotonic_ns() + WAIT_MS * OSB_NS_PER_MS;

    while (fixture->done_count == 0) {
        assert_true(osb_monotonic_ns() < end_ns);
        osb_loop_turn(fixture->loop, 10);
    }
}

static struct osb_cri_call *start(struct fixture *fixture, enum osb_cri_method method,
                                  const ProtobufCMessage *request, uint64_t timeout_ms)
{
    struct osb_cri_call *call = NULL;

    assert_int_equal(
        osb_cri_call(fixture->client, method, request, timeout_ms, on_done, fixture, &call, NULL),
        0);
    return call;
}

static void a_call_brings_a_typed_answer_and_keeps_what_it_does_not_know(void **state)
{
    struct fixture *fixture = *state;
    Runtime__V1__VersionRequest request = RUNTIME__V1__VERSION_REQUEST__INIT;

    start(fixture, OSB_CRI_VERSION, &request.base, 0);
    turn_until_done(fixture);
    assert_int_equal(fixture->r, 0);
    assert_string_equal(fixture->runtime_name, "scripted");
}

static void a_failure_brings_a_code_and_names_the_method(void **state)
{
    struct fixture *fixture = *state;
    Runtime__V1__StartContainerRequest request = RUNTIME__V1__START_CONTAINER_REQUEST__INIT;

    start(fixture, OSB_CRI_START_CONTAINER, &request.base, 0);
    turn_until_done(fixture);
    assert_int_equal(fixture->r, -OSB_E_NOT_FOUND);
    assert_string_equal(fixture->err.message, "StartContainer: no such container");
}

static void an_unreadable_answer_is_an_internal_error(void **state)
{
    struct fixture *fixture = *state;
    Runtime__V1__StatusRequest request = RUNTIME__V1__STATUS_REQUEST__INIT;

    start(fixture, OSB_CRI_STATUS, &request.base, 0);
    turn_until_done(fixture);
    assert_int_equal(fixture->r, -OSB_E_INTERNAL);
}

static void a_call_ends_at_the_timeout_that_it_was_given(void **state)
{
    struct fixture *fixture = *state;
    Runtime__V1__ListContainersRequest request = RUNTIME__V1__LIST_CONTAINERS_REQUEST__INIT;

    start(fixture, OSB_CRI_LIST_CONTAINERS, &request.base, 20);
    turn_until_done(fixture);
    assert_int_equal(fixture->r, -OSB_E_TIMEOUT);
}

static void a_cancelled_call_does_not_call_back(void **state)
{
    struct fixture *fixture = *state;
    Runtime__V1__ListContainersRequest list = RUNTIME__V1__LIST_CONTAINERS_REQUEST__INIT;
    Runtime__V1__VersionRequest version = RUNTIME__V1__VERSION_REQUEST__INIT;

    osb_cri_call_cancel(start(fixture, OSB_CRI_LIST_CONTAINERS, &list.base, 0));
    start(fixture, OSB_CRI_VERSION, &version.base, 0);
    turn_until_done(fixture);
    assert_int_equal(fixture->done_count, 1);
    assert_int_equal(fixture->r, 0);
}

static void a_client_may_be_freed_in_a_callback_with_other_calls_running(void **state)
{
    struct fixture *fixture = *state;
    Runtime__V1__ListContainersRequest list = RUNTIME__V1__LIST_CONTAINERS_REQUEST__INIT;
    Runtime__V1__VersionRequest version = RUNTIME__V1__VERSION_REQUEST__INIT;

    fixture->frees_client = true;
    start(fixture, OSB_CRI_LIST_CONTAINERS, &list.base, 0);
    start(fixture, OSB_CRI_VERSION, &version.base, 0);
    turn_until_done(fixture);
    assert_null(fixture->client);
    assert_int_equal(fixture->done_count, 1);
}

/* The service in the .proto file that PATH names, and the method in it. */
static const ProtobufCMethodDescriptor *declared(const char *path)
{
    const ProtobufCServiceDescriptor *const services[] = {&runtime__v1__runtime_service__descriptor,
                                                          &runtime__v1__image_service__descriptor};

    for (size_t i = 0; i < 2; i++) {
        for (unsigned j = 0; j < services[i]->n_methods; j++) {
            const ProtobufCMethodDescriptor *method = &services[i]->methods[j];
            _cleanup_free_ char *name = osb_asprintf("/%s/%s", services[i]->name, method->name);

            if (osb_slice_eq_str(osb_slice_str(name), path))
                return method;
        }
    }
    return NULL;
}

static void the_table_has_every_declared_method_with_its_types(void **state)
{
    unsigned count = runtime__v1__runtime_service__descriptor.n_methods +
                     runtime__v1__image_service__descriptor.n_methods;

    (void)state;
    assert_int_equal(count, OSB_CRI_METHOD_COUNT);
    for (int i = 0; i < OSB_CRI_METHOD_COUNT; i++) {
        const struct cri_method *method = cri_method((enum osb_cri_method)i);
        const ProtobufCMethodDescriptor *wanted = declared(method->path);

        assert_non_null(wanted);
        assert_string_equal(method->name, wanted->name);
        assert_ptr_equal(method->request, wanted->input);
        assert_ptr_equal(method->response, wanted->output);
        assert_true(method->timeout_ms > 0);
    }
}

#define cri_test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cri_test(a_call_brings_a_typed_answer_and_keeps_what_it_does_not_know),
        cri_test(a_failure_brings_a_code_and_names_the_method),
        cri_test(an_unreadable_answer_is_an_internal_error),
        cri_test(a_call_ends_at_the_timeout_that_it_was_given),
        cri_test(a_cancelled_call_does_not_call_back),
        cri_test(a_client_may_be_freed_in_a_callback_with_other_calls_running),
        cmocka_unit_test(the_table_has_every_declared_method_with_its_types),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
