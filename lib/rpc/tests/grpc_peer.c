// SPDX-License-Identifier: Apache-2.0
#include "grpc_peer.h"

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/err.h>
#include <osb/fd.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __SANITIZE_THREAD__
/*
 * The library is not instrumented: it synchronises by means that the sanitizer does not see, also
 * for the texts (C++ strings, which only the library has) that its threads write and a callback
 * reads.
 */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "called_from_lib:libgrpc_unsecure.so\ncalled_from_lib:libgpr.so\n"
           "called_from_lib:libupb.so\n"
           "race:libgrpc_unsecure.so\nrace:libgpr.so\nrace:libupb.so\nrace:libabsl_\n"
           "race:^std::__cxx11::basic_string\n"
           "race:grpc_peer.c\nrace:^on_end$\nrace:^on_message$\n";
}
#endif

enum { PEER_MAX_BYTES = 64 * 1024 * 1024, PEER_METADATA_MAX = 16 };

struct grpc_peer {
    grpc_peer_handler *handler;
    void *arg;
    struct grpc_peer_counts counts;
    char folder[32];
    char *target;
    grpc_completion_queue *cq;
    grpc_server *server;
    pthread_t thread;
    bool is_running;
    bool is_ending; /* of the serving thread */
};

/* A batch of a call, or (call NULL) the end of the server. */
struct peer_tag {
    struct peer_call *call;
    void (*fn)(struct peer_call *call, bool is_ok);
};

struct peer_call {
    struct grpc_peer *peer;
    grpc_call *call;
    grpc_call_details details;
    grpc_metadata_array metadata;
    grpc_byte_buffer *request;
    grpc_byte_buffer *message;
    struct grpc_peer_answer answer;
    struct peer_tag arrived, closed, received_tag, sent, finished;
    grpc_metadata reflected[PEER_METADATA_MAX];
    size_t reflected_count;
    int cancelled;
    int in_flight;
    int received;
    size_t received_bytes;
    bool has_sent_initial;
};

static struct osb_slice slice_of(const grpc_slice *slice)
{
    return osb_slice(GRPC_SLICE_START_PTR(*slice), GRPC_SLICE_LENGTH(*slice));
}

static void call_unref(struct peer_call *call)
{
    if (--call->in_flight > 0)
        return;
    if (call->call) {
        grpc_call_unref(call->call);
        call->peer->counts.open--;
    }
    if (call->request)
        grpc_byte_buffer_destroy(call->request);
    if (call->message)
        grpc_byte_buffer_destroy(call->message);
    osb_buf_done(&call->answer.message);
    grpc_call_details_destroy(&call->details);
    grpc_metadata_array_destroy(&call->metadata);
    free(call);
}

static void start(struct peer_call *call, struct peer_tag *tag, const grpc_op *ops, size_t count)
{
    /* What arrives behind the server's end is only let go of: the queue takes nothing new. */
    if (call->peer->is_ending)
        return;
    call->in_flight++;
    osb_assert(grpc_call_start_batch(call->call, ops, count, tag, NULL) == GRPC_CALL_OK);
}

static grpc_op initial_op(struct peer_call *call)
{
    call->has_sent_initial = true;
    return (grpc_op){.op = GRPC_OP_SEND_INITIAL_METADATA,
                     .data.send_initial_metadata = {
                         .count = call->reflected_count,
                         .metadata = call->reflected,
                         .maybe_compression_level = {.is_set = call->answer.compresses,
                                                     .level = GRPC_COMPRESS_LEVEL_HIGH}}};
}

static void finish(struct peer_call *call)
{
    const struct grpc_peer_answer *answer = &call->answer;
    grpc_slice text = grpc_slice_from_copied_string(answer->text ? answer->text : "");
    grpc_metadata trailing[PEER_METADATA_MAX + 1];
    size_t count = call->reflected_count;
    grpc_slice details = grpc_slice_from_copied_string(answer->details ? answer->details : "");
    grpc_op ops[2] = {{.op = GRPC_OP_SEND_STATUS_FROM_SERVER}};
    size_t op_count = 1;

    memcpy(trailing, call->reflected, sizeof(call->reflected));
    if (answer->details)
        trailing[count++] = (grpc_metadata){
            .key = grpc_slice_from_static_string("grpc-status-details-bin"), .value = details};
    ops[0].data.send_status_from_server.status = (grpc_status_code)answer->status;
    ops[0].data.send_status_from_server.status_details = &text;
    ops[0].data.send_status_from_server.trailing_metadata = trailing;
    ops[0].data.send_status_from_server.trailing_metadata_count = count;
    if (!call->has_sent_initial)
        ops[op_count++] = initial_op(call);
    start(call, &call->finished, ops, op_count);
    grpc_slice_unref(text);
    grpc_slice_unref(details);
}

static void send(struct peer_call *call, grpc_byte_buffer *message)
{
    grpc_op ops[2] = {{.op = GRPC_OP_SEND_MESSAGE}};
    size_t count = 1;

    call->message = message;
    ops[0].data.send_message.send_message = call->message;
    if (!call->has_sent_initial)
        ops[count++] = initial_op(call);
    start(call, &call->sent, ops, count);
}

static void send_next(struct peer_call *call)
{
    struct osb_slice bytes = osb_buf_slice(&call->answer.message);
    grpc_slice slice = grpc_slice_from_copied_buffer(bytes.len ? bytes.data : "", bytes.len);
    grpc_byte_buffer *message = grpc_raw_byte_buffer_create(&slice, 1);

    grpc_slice_unref(slice);
    send(call, message);
}

static void receive(struct peer_call *call)
{
    grpc_op op = {.op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &call->request};

    start(call, &call->received_tag, &op, 1);
}

static void send_headers(struct peer_call *call)
{
    grpc_op op = initial_op(call);

    start(call, &call->finished, &op, 1);
}

static void answer_on(struct peer_call *call)
{
    if (call->answer.count > 0) {
        call->answer.count--;
        send_next(call);
    } else if (!call->answer.stays_open) {
        finish(call);
    } else if (call->reflected_count > 0 && !call->has_sent_initial) {
        send_headers(call);
    }
}

static void on_sent(struct peer_call *call, bool is_ok)
{
    grpc_byte_buffer_destroy(osb_take_ptr(call->message));
    if (is_ok) {
        call->peer->counts.messages++;
        if (call->answer.echoes)
            receive(call);
        else
            answer_on(call);
    }
    call_unref(call);
}

static void on_finished(struct peer_call *call, bool is_ok)
{
    (void)is_ok;
    call_unref(call);
}

static void on_closed(struct peer_call *call, bool is_ok)
{
    (void)is_ok;
    if (call->cancelled)
        call->peer->counts.cancelled++;
    call_unref(call);
}

struct osb_slice grpc_peer_metadata(const struct grpc_peer_request *request, const char *name)
{
    for (size_t i = 0; i < request->metadata->count; i++)
        if (osb_slice_eq_str(slice_of(&request->metadata->metadata[i].key), name))
            return slice_of(&request->metadata->metadata[i].value);
    return OSB_SLICE_NULL;
}

static int64_t timeout_ms(const struct peer_call *call)
{
    gpr_timespec deadline = call->details.deadline;

    if (gpr_time_cmp(deadline, gpr_inf_future(deadline.clock_type)) == 0)
        return -1;
    return gpr_time_to_millis(gpr_time_sub(deadline, gpr_now(deadline.clock_type)));
}

static void reflect(struct peer_call *call)
{
    for (size_t i = 0; i < call->metadata.count; i++) {
        const grpc_metadata *pair = &call->metadata.metadata[i];

        if (call->reflected_count < PEER_METADATA_MAX &&
            osb_slice_starts(slice_of(&pair->key), OSB_SLICE("x-")))
            call->reflected[call->reflected_count++] = *pair;
    }
}

/* The first message asks the handler what to do. */
static void ask(struct peer_call *call)
{
    struct grpc_peer_request request = {.method = slice_of(&call->details.method),
                                        .host = slice_of(&call->details.host),
                                        .is_empty = !call->request,
                                        .timeout_ms = timeout_ms(call),
                                        .metadata = &call->metadata};
    grpc_byte_buffer_reader reader;
    grpc_slice bytes = grpc_empty_slice();

    if (call->request) {
        osb_assert(grpc_byte_buffer_reader_init(&reader, call->request));
        bytes = grpc_byte_buffer_reader_readall(&reader);
        grpc_byte_buffer_reader_destroy(&reader);
    }
    request.message = slice_of(&bytes);
    call->peer->handler(&request, &call->answer, call->peer->arg);
    if (call->answer.reflects)
        reflect(call);
    grpc_slice_unref(bytes);
}

static void on_message(struct peer_call *call)
{
    call->peer->counts.received++;
    call->received_bytes += grpc_byte_buffer_length(call->request);
    if (call->received++ == 0)
        ask(call);
    if (call->answer.echoes) {
        send(call, osb_take_ptr(call->request));
        return;
    }
    grpc_byte_buffer_destroy(osb_take_ptr(call->request));
    if (call->answer.collects)
        receive(call);
    else
        answer_on(call);
}

static void on_half_close(struct peer_call *call)
{
    if (call->received == 0)
        ask(call);
    if (call->answer.collects) {
        osb_buf_appendf(&call->answer.message, "%d messages, %zu bytes", call->received,
                        call->received_bytes);
        call->answer.count = 1;
    }
    answer_on(call);
}

static void on_received(struct peer_call *call, bool is_ok)
{
    if (is_ok && call->request)
        on_message(call);
    else if (is_ok && !grpc_call_failed_before_recv_message(call->call))
        on_half_close(call);
    call_unref(call);
}

static void wait_for_call(struct grpc_peer *peer);

static void on_arrived(struct peer_call *call, bool is_ok)
{
    grpc_op close = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER,
                     .data.recv_close_on_server.cancelled = &call->cancelled};

    if (is_ok) {
        wait_for_call(call->peer);
        call->peer->counts.calls++;
        call->peer->counts.open++;
        start(call, &call->closed, &close, 1);
        receive(call);
    }
    call_unref(call);
}

static void wait_for_call(struct grpc_peer *peer)
{
    struct peer_call *call = osb_new(struct peer_call);

    call->peer = peer;
    call->in_flight = 1;
    grpc_call_details_init(&call->details);
    grpc_metadata_array_init(&call->metadata);
    call->arrived = (struct peer_tag){call, on_arrived};
    call->closed = (struct peer_tag){call, on_closed};
    call->received_tag = (struct peer_tag){call, on_received};
    call->sent = (struct peer_tag){call, on_sent};
    call->finished = (struct peer_tag){call, on_finished};
    osb_assert(grpc_server_request_call(peer->server, &call->call, &call->details, &call->metadata,
                                        peer->cq, peer->cq, &call->arrived) == GRPC_CALL_OK);
}

static void *serve(void *arg)
{
    struct grpc_peer *peer = arg;

    for (;;) {
        grpc_event event =
            grpc_completion_queue_next(peer->cq, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
        struct peer_tag *tag = event.tag;

        if (event.type == GRPC_QUEUE_SHUTDOWN)
            return NULL;
        if (tag) {
            tag->fn(tag->call, event.success);
        } else {
            peer->is_ending = true;
            grpc_completion_queue_shutdown(peer->cq);
        }
    }
}

void grpc_peer_start(struct grpc_peer *peer)
{
    grpc_arg args[] = {
        {.type = GRPC_ARG_INTEGER, .key = GRPC_ARG_HTTP2_BDP_PROBE, .value.integer = 0},
        {.type = GRPC_ARG_INTEGER,
         .key = GRPC_ARG_MAX_METADATA_SIZE,
         .value.integer = PEER_MAX_BYTES},
        {.type = GRPC_ARG_INTEGER,
         .key = GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH,
         .value.integer = PEER_MAX_BYTES},
    };
    grpc_channel_args list = {.num_args = sizeof(args) / sizeof(*args), .args = args};
    grpc_server_credentials *plain = grpc_insecure_server_credentials_create();

    peer->is_ending = false;
    peer->cq = grpc_completion_queue_create_for_next(NULL);
    peer->server = grpc_server_create(&list, NULL);
    grpc_server_register_completion_queue(peer->server, peer->cq, NULL);
    osb_assert(grpc_server_add_http2_port(peer->server, peer->target, plain) > 0);
    grpc_server_credentials_release(plain);
    grpc_server_start(peer->server);
    wait_for_call(peer);
    osb_assert(pthread_create(&peer->thread, NULL, serve, peer) == 0);
    peer->is_running = true;
}

void grpc_peer_stop(struct grpc_peer *peer)
{
    if (!peer->is_running)
        return;
    grpc_server_shutdown_and_notify(peer->server, peer->cq, NULL);
    grpc_server_cancel_all_calls(peer->server);
    pthread_join(peer->thread, NULL);
    grpc_server_destroy(peer->server);
    grpc_completion_queue_destroy(peer->cq);
    peer->is_running = false;
}

struct grpc_peer *grpc_peer_new(grpc_peer_handler *handler, void *arg)
{
    struct grpc_peer *peer = osb_new(struct grpc_peer);

    peer->handler = handler;
    peer->arg = arg;
    strcpy(peer->folder, "/tmp/osb-rpc-XXXXXX");
    osb_assert(mkdtemp(peer->folder));
    peer->target = osb_asprintf("unix://%s/s", peer->folder);
    grpc_init();
    grpc_peer_start(peer);
    return peer;
}

const char *grpc_peer_target(const struct grpc_peer *peer)
{
    return peer->target;
}

const struct grpc_peer_counts *grpc_peer_counts(const struct grpc_peer *peer)
{
    return &peer->counts;
}

void grpc_peer_free(struct grpc_peer *peer)
{
    grpc_peer_stop(peer);
    grpc_shutdown();
    osb_assert(osb_remove_tree(peer->folder, NULL) == 0);
    free(peer->target);
    free(peer);
}
