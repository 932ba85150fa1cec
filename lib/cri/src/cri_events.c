// SPDX-License-Identifier: Apache-2.0
/*
 * One subscription that comes back. The server says nothing when it has subscribed us, and an event
 * that falls between a caller's relist and the subscription would be missed; so we publish an event
 * of our own, again and again, until the stream brings one (of whichever process), and only then
 * call it connected.
 */
#include "cri_event.h"

#include <osb/alloc.h>
#include <osb/rpc.h>
#include <osb/uuid.h>

enum {
    RETRY_FIRST_MS = 50,
    RETRY_MAX_MS = 2000,
    PROBE_FIRST_MS = 5,
    PROBE_MAX_MS = 500,
    PROBE_TIMEOUT_MS = 5000,
};

#define SUBSCRIBE     "/containerd.services.events.v1.Events/Subscribe"
#define PUBLISH       "/containerd.services.events.v1.Events/Publish"
#define NAMESPACE     "k8s.io"
#define PROBE_TOPIC   "/opensandbox/probe"
#define FILTER(topic) "namespace==\"" NAMESPACE "\",topic==\"" topic "\""

struct osb_cri_events {
    struct osb_rpc_channel *channel;
    struct osb_rpc_call *stream; /* NULL while waiting to try again */
    struct osb_rpc_call *probe;  /* being published */
    struct osb_timer retry;
    struct osb_timer probe_again;
    uint64_t retry_ms;
    uint64_t probe_ms;
    bool is_connected;
    int depth;
    bool is_freed; /* in a callback: takes effect when that returns */
    void (*fn)(const struct osb_cri_event *event, void *arg);
    void *arg;
};

static void destroy(struct osb_cri_events *events)
{
    osb_timer_stop(&events->retry);
    osb_timer_stop(&events->probe_again);
    osb_rpc_channel_free(events->channel);
    free(events);
}

static void emit(struct osb_cri_events *events, const struct osb_cri_event *event)
{
    if (!events->is_freed)
        events->fn(event, events->arg);
}

static void emit_event(const struct osb_cri_event *event, void *arg)
{
    emit(arg, event);
}

static void emit_type(struct osb_cri_events *events, enum osb_cri_event_type type)
{
    emit(events, &(struct osb_cri_event){.type = type, .container_id = ""});
}

/* Around whatever calls the user. */
static void enter(struct osb_cri_events *events)
{
    events->depth++;
}

static void leave(struct osb_cri_events *events)
{
    if (--events->depth == 0 && events->is_freed)
        destroy(events);
}

/* So that many nodes of one machine do not come in step: between half and all of it. */
static uint64_t jittered(uint64_t ms)
{
    uint32_t random;

    osb_random_bytes(&random, sizeof(random));
    return ms / 2 + random % (ms / 2 + 1);
}

static uint64_t doubled(uint64_t ms, uint64_t max)
{
    return ms * 2 < max ? ms * 2 : max;
}

static void call(struct osb_cri_events *events, const char *method, const ProtobufCMessage *request,
                 const struct osb_rpc_callbacks *callbacks, struct osb_rpc_call **ret)
{
    size_t size = protobuf_c_message_get_packed_size(request);
    _cleanup_free_ uint8_t *bytes = osb_calloc(1, size + 1);
    bool is_stream = ret == &events->stream;
    int r;

    protobuf_c_message_pack(request, bytes);
    if (is_stream)
        r = osb_rpc_server_stream(events->channel, method, osb_slice(bytes, size), 0, callbacks,
                                  events, ret, NULL);
    else
        r = osb_rpc_unary(events->channel, method, osb_slice(bytes, size), PROBE_TIMEOUT_MS,
                          callbacks, events, ret, NULL);
    osb_assert(r == 0); /* fails for too large requests only */
}

static void on_probe_end(struct osb_rpc_call *rpc, const struct osb_rpc_status *status, void *arg)
{
    struct osb_cri_events *events = arg;

    (void)rpc;
    (void)status;
    events->probe = NULL;
    if (!events->stream || events->is_connected)
        return;
    osb_timer_set(&events->probe_again, events->probe_ms);
    events->probe_ms = doubled(events->probe_ms, PROBE_MAX_MS);
}

static void send_probe(struct osb_timer *timer)
{
    static const struct osb_rpc_callbacks callbacks = {NULL, on_probe_end};
    struct osb_cri_events *events = timer->arg;
    Containerd__Services__Events__V1__Any event = CONTAINERD__SERVICES__EVENTS__V1__ANY__INIT;
    Containerd__Services__Events__V1__PublishRequest request =
        CONTAINERD__SERVICES__EVENTS__V1__PUBLISH_REQUEST__INIT;

    event.type_url = (char *)"opensandbox.io/Probe";
    request.topic = (char *)PROBE_TOPIC;
    request.event = &event;
    call(events, PUBLISH, &request.base, &callbacks, &events->probe);
}

static void stop_probing(struct osb_cri_events *events)
{
    osb_timer_stop(&events->probe_again);
    if (events->probe)
        osb_rpc_call_cancel(osb_take_ptr(events->probe));
}

static void on_envelope(struct osb_rpc_call *rpc, struct osb_slice message, void *arg)
{
    struct osb_cri_events *events = arg;
    cri_envelope *envelope = containerd__services__events__v1__envelope__unpack(
        NULL, message.len, (const uint8_t *)message.data);

    (void)rpc;
    enter(events);
    if (!events->is_connected) {
        events->is_connected = true;
        events->retry_ms = RETRY_FIRST_MS;
        stop_probing(events);
        emit_type(events, OSB_CRI_EVENT_CONNECTED);
    }
    if (envelope)
        cri_event_read(envelope, emit_event, events);
    leave(events);
    if (envelope)
        containerd__services__events__v1__envelope__free_unpacked(envelope, NULL);
}

static void on_stream_end(struct osb_rpc_call *rpc, const struct osb_rpc_status *status, void *arg)
{
    struct osb_cri_events *events = arg;
    bool was_connected = events->is_connected;

    (void)rpc;
    (void)status;
    enter(events);
    events->stream = NULL;
    events->is_connected = false;
    stop_probing(events);
    osb_timer_set(&events->retry, jittered(events->retry_ms));
    events->retry_ms = doubled(events->retry_ms, RETRY_MAX_MS);
    if (was_connected)
        emit_type(events, OSB_CRI_EVENT_LOST);
    leave(events);
}

static void subscribe(struct osb_timer *timer)
{
    static const struct osb_rpc_callbacks callbacks = {on_envelope, on_stream_end};
    static const char *const filters[] = {
        FILTER("/tasks/start"),  FILTER("/tasks/exit"), FILTER("/tasks/oom"),
        FILTER("/tasks/delete"), FILTER(PROBE_TOPIC),
    };
    struct osb_cri_events *events = timer->arg;
    Containerd__Services__Events__V1__SubscribeRequest request =
        CONTAINERD__SERVICES__EVENTS__V1__SUBSCRIBE_REQUEST__INIT;

    request.n_filters = sizeof(filters) / sizeof(*filters);
    request.filters = (char **)filters;
    call(events, SUBSCRIBE, &request.base, &callbacks, &events->stream);
    events->probe_ms = PROBE_FIRST_MS;
    send_probe(&events->probe_again);
}

int osb_cri_events_new(struct osb_loop *loop, const char *endpoint,
                       void (*fn)(const struct osb_cri_event *event, void *arg), void *arg,
                       struct osb_cri_events **ret, struct osb_err *err)
{
    static const struct osb_rpc_metadata metadata = {"containerd-namespace", NAMESPACE};
    _cleanup_free_ struct osb_cri_events *events = osb_new(struct osb_cri_events);
    int r = osb_rpc_channel_new(loop, endpoint, &events->channel, err);

    if (r < 0)
        return r;
    osb_rpc_channel_set_metadata(events->channel, &metadata, 1);
    events->fn = fn;
    events->arg = arg;
    events->retry_ms = RETRY_FIRST_MS;
    osb_timer_init(&events->retry, loop, subscribe, events);
    osb_timer_init(&events->probe_again, loop, send_probe, events);
    subscribe(&events->retry);
    *ret = osb_take_ptr(events);
    return 0;
}

void osb_cri_events_free(struct osb_cri_events *events)
{
    if (!events || events->is_freed)
        return;
    events->is_freed = true;
    if (events->depth == 0)
        destroy(events);
}
