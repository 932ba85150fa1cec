// SPDX-License-Identifier: Apache-2.0
/*
 * A forwarded call of any kind: two pumps, each strictly receive, send, receive. A message is taken
 * from one side only when the other has let the former one go, which is all the back-pressure that
 * is needed: a reader that stops holds its writer back.
 *
 * The answers wait for the headers. The backend's initial metadata passes at once if there is any,
 * else with the first message, or with the status in one batch, so that an answer without message
 * stays one block of trailers. The status passes when it is there and no message is left.
 */
#include "rpc_forward.h"
#include "rpc_ops.h"

#include <osb/alloc.h>

enum requests_state {
    REQUESTS_RECEIVING,
    REQUESTS_SENDING,
    REQUESTS_CLOSING, /* the client's half-close is being passed on */
    REQUESTS_OVER,
};

static const unsigned char requests_moves[] = {
    [REQUESTS_RECEIVING] =
        RPC_TO(REQUESTS_SENDING) | RPC_TO(REQUESTS_CLOSING) | RPC_TO(REQUESTS_OVER),
    [REQUESTS_SENDING] = RPC_TO(REQUESTS_RECEIVING) | RPC_TO(REQUESTS_OVER),
    [REQUESTS_CLOSING] = RPC_TO(REQUESTS_OVER),
    [REQUESTS_OVER] = 0,
};

enum answers_state {
    ANSWERS_RECEIVING,
    ANSWERS_RECEIVED, /* a message, or none, waits for the headers */
    ANSWERS_SENDING,
    ANSWERS_DRAINED, /* no further message; waits for the status */
    ANSWERS_FINISHING,
    ANSWERS_OVER,
};

static const unsigned char answers_moves[] = {
    [ANSWERS_RECEIVING] = RPC_TO(ANSWERS_RECEIVED),
    [ANSWERS_RECEIVED] = RPC_TO(ANSWERS_SENDING) | RPC_TO(ANSWERS_DRAINED),
    [ANSWERS_SENDING] = RPC_TO(ANSWERS_RECEIVING) | RPC_TO(ANSWERS_DRAINED),
    [ANSWERS_DRAINED] = RPC_TO(ANSWERS_FINISHING) | RPC_TO(ANSWERS_OVER),
    [ANSWERS_FINISHING] = RPC_TO(ANSWERS_OVER),
    [ANSWERS_OVER] = 0,
};

/* The initial metadata of the answer. */
enum headers_state {
    HEADERS_AWAITED,
    HEADERS_HELD, /* empty: goes with what comes next */
    HEADERS_SENT,
};

static const unsigned char headers_moves[] = {
    [HEADERS_AWAITED] = RPC_TO(HEADERS_HELD) | RPC_TO(HEADERS_SENT),
    [HEADERS_HELD] = RPC_TO(HEADERS_SENT),
    [HEADERS_SENT] = 0,
};

struct pump {
    struct rpc_forward forward;
    unsigned char requests; /* enum requests_state */
    unsigned char answers;
    unsigned char headers;
    bool has_status;
    struct rpc_event request; /* the batch of the requests' state, of either side */
    struct rpc_event message; /* likewise of the answers */
    struct rpc_event opened;
    struct rpc_event headers_received;
    struct rpc_event headers_sent;
    struct rpc_event status;
};

static bool is_over(const struct rpc_forward *forward)
{
    const struct pump *pump = (const struct pump *)forward;

    return pump->requests == REQUESTS_OVER && pump->answers == ANSWERS_OVER && pump->has_status;
}

/* ---- client to backend ---- */

static void receive_request(struct pump *pump)
{
    const grpc_op op = rpc_op_recv_message(&pump->forward.request);

    rpc_forward_start(&pump->forward, pump->forward.in.call, &pump->request, &op, 1);
}

static void send_request(struct pump *pump)
{
    const grpc_op op = rpc_op_send_message(pump->forward.request);

    rpc_move(&pump->requests, REQUESTS_SENDING, requests_moves);
    rpc_forward_start(&pump->forward, pump->forward.out, &pump->request, &op, 1);
}

static void send_close(struct pump *pump)
{
    const grpc_op op = rpc_op_send_close();

    rpc_move(&pump->requests, REQUESTS_CLOSING, requests_moves);
    rpc_forward_start(&pump->forward, pump->forward.out, &pump->request, &op, 1);
}

static void on_request_received(struct pump *pump)
{
    struct rpc_forward *forward = &pump->forward;

    if (forward->request)
        rpc_forward_count_request(forward);
    /* No message is the client's half-close only if it did not die: that looks the same. */
    else if (grpc_call_failed_before_recv_message(forward->in.call))
        rpc_forward_give_up(forward);
    if (forward->is_client_gone || pump->has_status)
        rpc_move(&pump->requests, REQUESTS_OVER, requests_moves);
    else if (forward->request)
        send_request(pump);
    else
        send_close(pump);
}

static void on_request_sent(struct pump *pump, bool is_ok)
{
    rpc_message_clear(&pump->forward.request);
    /* When it cannot be sent the backend has ended the call: its status says why. */
    if (!is_ok || pump->forward.is_client_gone || pump->has_status) {
        rpc_move(&pump->requests, REQUESTS_OVER, requests_moves);
    } else {
        rpc_move(&pump->requests, REQUESTS_RECEIVING, requests_moves);
        receive_request(pump);
    }
}

static void on_request(struct rpc_event *event)
{
    struct pump *pump = event->arg;

    if (pump->requests == REQUESTS_RECEIVING)
        on_request_received(pump);
    else if (pump->requests == REQUESTS_SENDING)
        on_request_sent(pump, event->is_ok);
    else
        rpc_move(&pump->requests, REQUESTS_OVER, requests_moves);
    rpc_forward_batch_over(&pump->forward);
}

/* ---- backend to client ---- */

static void receive_answer(struct pump *pump)
{
    const grpc_op op = rpc_op_recv_message(&pump->forward.answer);

    rpc_forward_start(&pump->forward, pump->forward.out, &pump->message, &op, 1);
}

/* Puts the headers into a batch if they are still to be sent; returns the number of operations. */
static size_t add_headers(struct pump *pump, grpc_op *op)
{
    if (pump->headers == HEADERS_SENT)
        return 0;
    rpc_move(&pump->headers, HEADERS_SENT, headers_moves);
    *op = rpc_op_send_initial(pump->forward.initial.metadata, pump->forward.initial.count);
    return 1;
}

static void send_answer(struct pump *pump)
{
    grpc_op ops[2];
    size_t count = add_headers(pump, ops);

    ops[count++] = rpc_op_send_message(pump->forward.answer);
    rpc_move(&pump->answers, ANSWERS_SENDING, answers_moves);
    rpc_forward_start(&pump->forward, pump->forward.in.call, &pump->message, ops, count);
}

static void send_status(struct pump *pump)
{
    struct rpc_forward *forward = &pump->forward;
    grpc_op ops[2];
    size_t count = add_headers(pump, ops);

    rpc_forward_filter_metadata(&forward->trailing);
    ops[count++] = rpc_op_send_status(forward->code, &forward->text, forward->trailing.metadata,
                                      forward->trailing.count);
    rpc_move(&pump->answers, ANSWERS_FINISHING, answers_moves);
    rpc_forward_start(forward, forward->in.call, &pump->message, ops, count);
}

/* Does what is due to the client; whatever happened before, it comes to this. */
static void advance_answers(struct pump *pump)
{
    struct rpc_forward *forward = &pump->forward;

    if (pump->headers == HEADERS_AWAITED)
        return;
    if (pump->answers == ANSWERS_RECEIVED) {
        if (forward->answer && !forward->is_client_gone)
            send_answer(pump);
        else
            rpc_move(&pump->answers, ANSWERS_DRAINED, answers_moves);
    }
    if (pump->answers == ANSWERS_DRAINED && pump->has_status) {
        if (!forward->is_client_gone)
            send_status(pump);
        else
            rpc_move(&pump->answers, ANSWERS_OVER, answers_moves);
    }
}

static void on_answer_sent(struct pump *pump, bool is_ok)
{
    rpc_message_clear(&pump->forward.answer);
    if (is_ok && !pump->forward.is_client_gone) {
        rpc_move(&pump->answers, ANSWERS_RECEIVING, answers_moves);
        receive_answer(pump);
    } else {
        rpc_forward_give_up(&pump->forward);
        rpc_move(&pump->answers, ANSWERS_DRAINED, answers_moves);
    }
}

static void on_answer(struct rpc_event *event)
{
    struct pump *pump = event->arg;

    if (pump->answers == ANSWERS_RECEIVING) {
        if (pump->forward.answer)
            rpc_forward_count_answer(&pump->forward);
        rpc_move(&pump->answers, ANSWERS_RECEIVED, answers_moves);
    } else if (pump->answers == ANSWERS_SENDING) {
        on_answer_sent(pump, event->is_ok);
    } else {
        pump->forward.is_answered = event->is_ok;
        rpc_move(&pump->answers, ANSWERS_OVER, answers_moves);
    }
    advance_answers(pump);
    rpc_forward_batch_over(&pump->forward);
}

static void on_headers_received(struct rpc_event *event)
{
    struct pump *pump = event->arg;
    struct rpc_forward *forward = &pump->forward;
    grpc_op op;

    rpc_forward_filter_metadata(&forward->initial);
    if (forward->initial.count > 0 && !forward->is_client_gone) {
        add_headers(pump, &op);
        rpc_forward_start(forward, forward->in.call, &pump->headers_sent, &op, 1);
    } else {
        rpc_move(&pump->headers, HEADERS_HELD, headers_moves);
    }
    advance_answers(pump);
    rpc_forward_batch_over(forward);
}

static void on_status(struct rpc_event *event)
{
    struct pump *pump = event->arg;

    pump->has_status = true;
    advance_answers(pump);
    rpc_forward_batch_over(&pump->forward);
}

/* Nothing to do but to count: what came of it shows in the batches that follow. */
static void on_sent(struct rpc_event *event)
{
    struct pump *pump = event->arg;

    rpc_forward_batch_over(&pump->forward);
}

static void start_backend(struct pump *pump)
{
    struct rpc_forward *forward = &pump->forward;
    const grpc_op status = rpc_op_recv_status(&forward->trailing, &forward->code, &forward->text);
    const grpc_op open =
        rpc_op_send_initial(forward->in.metadata.metadata, forward->in.metadata.count);
    const grpc_op headers = rpc_op_recv_initial(&forward->initial);

    rpc_forward_open(forward);
    /* One operation a batch: together they would end together, which is too late for each. */
    rpc_forward_start(forward, forward->out, &pump->status, &status, 1);
    rpc_forward_start(forward, forward->out, &pump->opened, &open, 1);
    rpc_forward_start(forward, forward->out, &pump->headers_received, &headers, 1);
    receive_answer(pump);
}

void rpc_pump_begin(struct osb_rpc_server *server, const struct rpc_inbound *inbound)
{
    struct pump *pump = osb_new(struct pump);

    pump->request = (struct rpc_event){.on_done = on_request, .arg = pump};
    pump->message = (struct rpc_event){.on_done = on_answer, .arg = pump};
    pump->opened = (struct rpc_event){.on_done = on_sent, .arg = pump};
    pump->headers_received = (struct rpc_event){.on_done = on_headers_received, .arg = pump};
    pump->headers_sent = (struct rpc_event){.on_done = on_sent, .arg = pump};
    pump->status = (struct rpc_event){.on_done = on_status, .arg = pump};
    rpc_forward_init(&pump->forward, server, inbound, OSB_RPC_FORWARD, is_over);
    start_backend(pump);
    receive_request(pump);
}
