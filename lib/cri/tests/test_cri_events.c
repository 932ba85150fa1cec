// SPDX-License-Identifier: Apache-2.0
#include "cri_event.h"
#include <grpc_peer.h>

#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/clock.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WAIT_MS = 20000, EVENTS_MAX = 16 };

typedef Containerd__Services__Events__V1__Any any;
typedef Containerd__Services__Events__V1__TaskExit task_exit;

struct fixture {
    struct osb_loop *loop;
    struct grpc_peer *peer;
    struct osb_cri_events *events;
    enum osb_cri_event_type types[EVENTS_MAX];
    int count;
    bool frees_events;
};

/* An envelope of TOPIC around MESSAGE, packed. */
static void pack_envelope(struct osb_buf *out, const char *topic, const ProtobufCMessage *message)
{
    cri_envelope envelope = CONTAINERD__SERVICES__EVENTS__V1__ENVELOPE__INIT;
    any event = CONTAINERD__SERVICES__EVENTS__V1__ANY__INIT;
    uint8_t inner[256], outer[512];

    event.type_url = (char *)"containerd.events.X";
    event.value.data = inner;
    event.value.len = protobuf_c_message_pack(message, inner);
    envelope.topic = (char *)topic;
    envelope.event = &event;
    osb_buf_append(out, outer, containerd__services__events__v1__envelope__pack(&envelope, outer));
}

static void store(const struct osb_cri_event *event, void *arg)
{
    struct fixture *fixture = arg;

    if (fixture->count < EVENTS_MAX)
        fixture->types[fixture->count++] = event->type;
    if (fixture->frees_events)
        osb_cri_events_free(osb_take_ptr(fixture->events));
}

/* Subscribers get one exit of a container, which stands for the probe, too. */
static void handle(const struct grpc_peer_request *request, struct grpc_peer_answer *answer,
                   void *arg)
{
    task_exit end = CONTAINERD__SERVICES__EVENTS__V1__TASK_EXIT__INIT;

    (void)arg;
    if (!osb_slice_eq_str(grpc_peer_metadata(request, "containerd-namespace"), "k8s.io")) {
        answer->status = 9;
        answer->text = "namespace is required";
    } else if (osb_slice_eq_str(request->method,
                                "/containerd.services.events.v1.Events/Subscribe")) {
        end.container_id = end.id = (char *)"c1";
        pack_envelope(&answer->message, "/tasks/exit", &end.base);
        answer->count = 1;
        answer->stays_open = true;
    } else {
        answer->count = 1; /* Publish: Empty */
    }
}

static int set_up(void **state)
{
    struct fixture *fixture = osb_new(struct fixture);

    assert_int_equal(osb_loop_new_epoll(&fixture->loop, NULL), 0);
    fixture->peer = grpc_peer_new(handle, NULL);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    osb_cri_events_free(fixture->events);
    grpc_peer_free(fixture->peer);
    osb_loop_free(fixture->loop);
    free(fixture);
    return 0;
}

static void subscribe(struct fixture *fixture)
{
    assert_int_equal(osb_cri_events_new(fixture->loop, grpc_peer_target(fixture->peer), store,
                                        fixture, &fixture->events, NULL),
                     0);
}

static void turn_until_count(struct fixture *fixture, int count)
{
    uint64_t end_ns = osb_monotonic_ns() + WAIT_MS * OSB_NS_PER_MS;

    while (fixture->count < count) {
        assert_true(osb_monotonic_ns() < end_ns);
        osb_loop_turn(fixture->loop, 10);
    }
}

static void a_stream_is_connected_with_its_first_event_and_that_is_told_too(void **state)
{
    struct fixture *fixture = *state;

    subscribe(fixture);
    turn_until_count(fixture, 2);
    assert_int_equal(fixture->types[0], OSB_CRI_EVENT_CONNECTED);
    assert_int_equal(fixture->types[1], OSB_CRI_EVENT_CONTAINER_EXITED);
}

static void a_stream_that_broke_is_told_once_and_comes_back(void **state)
{
    struct fixture *fixture = *state;

    subscribe(fixture);
    turn_until_count(fixture, 2);
    grpc_peer_stop(fixture->peer);
    turn_until_count(fixture, 3);
    assert_int_equal(fixture->types[2], OSB_CRI_EVENT_LOST);
    grpc_peer_start(fixture->peer);
    turn_until_count(fixture, 5);
    assert_int_equal(fixture->types[3], OSB_CRI_EVENT_CONNECTED);
    assert_int_equal(fixture->types[4], OSB_CRI_EVENT_CONTAINER_EXITED);
}

static void a_subscription_may_be_freed_in_its_callback(void **state)
{
    struct fixture *fixture = *state;

    fixture->frees_events = true;
    subscribe(fixture);
    turn_until_count(fixture, 1);
    assert_null(fixture->events);
    assert_int_equal(fixture->count, 1);
}

static struct osb_cri_event read_event;

static void keep(const struct osb_cri_event *event, void *arg)
{
    read_event = *event;
    *(char **)arg = osb_strdup(event->container_id);
}

/* Reads MESSAGE under TOPIC; the container's id, or NULL when the event means nothing to us. */
static char *read_as(const char *topic, const ProtobufCMessage *message)
{
    _cleanup_buf_ struct osb_buf bytes = {0};
    cri_envelope *envelope;
    char *id = NULL;
    bool is_known;

    pack_envelope(&bytes, topic, message);
    envelope = containerd__services__events__v1__envelope__unpack(
        NULL, bytes.len, (const uint8_t *)osb_buf_slice(&bytes).data);
    assert_non_null(envelope);
    is_known = cri_event_read(envelope, keep, &id);
    assert_int_equal(is_known, id != NULL);
    containerd__services__events__v1__envelope__free_unpacked(envelope, NULL);
    return id;
}

static void the_end_of_an_init_process_is_the_end_of_its_container(void **state)
{
    Containerd__Services__Events__V1__Timestamp at =
        CONTAINERD__SERVICES__EVENTS__V1__TIMESTAMP__INIT;
    task_exit end = CONTAINERD__SERVICES__EVENTS__V1__TASK_EXIT__INIT;
    _cleanup_free_ char *id = NULL;

    (void)state;
    at.seconds = 5;
    at.nanos = 7;
    end.container_id = end.id = (char *)"c1";
    end.pid = 42;
    end.exit_status = 137;
    end.exited_at = &at;
    id = read_as("/tasks/exit", &end.base);
    assert_string_equal(id, "c1");
    assert_int_equal(read_event.type, OSB_CRI_EVENT_CONTAINER_EXITED);
    assert_int_equal(read_event.pid, 42);
    assert_int_equal(read_event.exit_status, 137);
    assert_int_equal(read_event.timestamp_ns, 5000000007);
}

static void the_end_of_an_exec_is_not(void **state)
{
    task_exit end = CONTAINERD__SERVICES__EVENTS__V1__TASK_EXIT__INIT;
    Containerd__Services__Events__V1__TaskDelete gone =
        CONTAINERD__SERVICES__EVENTS__V1__TASK_DELETE__INIT;

    (void)state;
    end.container_id = gone.container_id = (char *)"c1";
    end.id = gone.id = (char *)"exec-1";
    assert_null(read_as("/tasks/exit", &end.base));
    assert_null(read_as("/tasks/delete", &gone.base));
}

static void each_topic_has_its_type(void **state)
{
    Containerd__Services__Events__V1__TaskStart start =
        CONTAINERD__SERVICES__EVENTS__V1__TASK_START__INIT;
    Containerd__Services__Events__V1__TaskOOM oom =
        CONTAINERD__SERVICES__EVENTS__V1__TASK_OOM__INIT;
    Containerd__Services__Events__V1__TaskDelete gone =
        CONTAINERD__SERVICES__EVENTS__V1__TASK_DELETE__INIT;
    const struct {
        const char *topic;
        const ProtobufCMessage *message;
        enum osb_cri_event_type type;
    } rows[] = {
        {"/tasks/start", &start.base, OSB_CRI_EVENT_CONTAINER_STARTED},
        {"/tasks/oom", &oom.base, OSB_CRI_EVENT_CONTAINER_OOM},
        {"/tasks/delete", &gone.base, OSB_CRI_EVENT_CONTAINER_DELETED},
    };

    (void)state;
    start.container_id = oom.container_id = gone.container_id = (char *)"c2";
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_free_ char *id = read_as(rows[i].topic, rows[i].message);

        assert_string_equal(id, "c2");
        assert_int_equal(read_event.type, rows[i].type);
    }
}

static void other_topics_and_broken_events_mean_nothing(void **state)
{
    Containerd__Services__Events__V1__TaskOOM oom =
        CONTAINERD__SERVICES__EVENTS__V1__TASK_OOM__INIT;
    any event = CONTAINERD__SERVICES__EVENTS__V1__ANY__INIT;
    cri_envelope envelope = CONTAINERD__SERVICES__EVENTS__V1__ENVELOPE__INIT;
    uint8_t garbage[] = {0xff, 0xff, 0xff};
    char *id = NULL;

    (void)state;
    oom.container_id = (char *)"c3";
    assert_null(read_as("/images/create", &oom.base));
    envelope.topic = (char *)"/tasks/oom";
    assert_false(cri_event_read(&envelope, keep, &id));
    event.value.data = garbage;
    event.value.len = sizeof(garbage);
    envelope.event = &event;
    assert_false(cri_event_read(&envelope, keep, &id));
    assert_null(id);
}

#define events_test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        events_test(a_stream_is_connected_with_its_first_event_and_that_is_told_too),
        events_test(a_stream_that_broke_is_told_once_and_comes_back),
        events_test(a_subscription_may_be_freed_in_its_callback),
        cmocka_unit_test(the_end_of_an_init_process_is_the_end_of_its_container),
        cmocka_unit_test(the_end_of_an_exec_is_not),
        cmocka_unit_test(each_topic_has_its_type),
        cmocka_unit_test(other_topics_and_broken_events_mean_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
