// SPDX-License-Identifier: Apache-2.0
/*
 * A forwarded call that is known to be one request and one answer: read the request, one batch to
 * the backend, one batch to the client. That spares half of the system calls of the pumps, and is
 * where a request can be rewritten, as it is whole before the backend hears of it.
 */
#include "rpc_forward.h"
#include "rpc_ops.h"

#include <osb/alloc.h>

enum unary_state {
    UNARY_READING,
    UNARY_ASKING,
    UNARY_ANSWERING,
    UNARY_OVER,
};

static const unsigned char moves[] = {
    [UNARY_READING] = RPC_TO(UNARY_ASKING) | RPC_TO(UNARY_ANSWERING) | RPC_TO(UNARY_OVER),
    [UNARY_ASKING] = RPC_TO(UNARY_ANSWERING) | RPC_TO(UNARY_OVER),
    [UNARY_ANSWERING] = RPC_TO(UNARY_OVER),
    [UNARY_OVER] = 0,
};

struct unary {
    struct rpc_forward forward;
    unsigned char state;    /* enum unary_state */
    struct rpc_event batch; /* the one of the state */
};

static bool is_over(const struct rpc_forward *forward)
{
    return ((const struct unary *)forward)->state == UNARY_OVER;
}

/* Puts the status, and before it what the backend sent, into one batch. */
static void answer(struct unary *unary)
{
    struct rpc_forward *forward = &unary->forward;
    grpc_op ops[3];
    size_t count = 0;

    rpc_forward_filter_metadata(&forward->initial);
    rpc_forward_filter_metadata(&forward->trailing);
    ops[count++] = rpc_op_send_initial(forward->initial.metadata, forward->initial.count);
    if (forward->answer)
        ops[count++] = rpc_op_send_message(forward->answer);
    ops[count++] = rpc_op_send_status(forward->code, &forward->text, forward->trailing.metadata,
                                      forward->trailing.count);
    rpc_move(&unary->state, UNARY_ANSWERING, moves);
    rpc_forward_start(forward, forward->in.call, &unary->batch, ops, count);
}

static void refuse(struct unary *unary, int code, const struct osb_err *err)
{
    const struct osb_err_info *info = osb_err_info(code);

    unary->forward.code = (grpc_status_code)info->grpc_status;
    unary->forward.text =
        grpc_slice_from_copied_string(err->message[0] ? err->message : info->name);
    answer(unary);
}

static void ask(struct unary *unary)
{
    struct rpc_forward *forward = &unary->forward;
    grpc_op ops[6] = {
        rpc_op_send_initial(forward->in.metadata.metadata, forward->in.metadata.count),
        rpc_op_send_close(),
        rpc_op_recv_initial(&forward->initial),
        rpc_op_recv_message(&forward->answer),
        rpc_op_recv_status(&forward->trailing, &forward->code, &forward->text),
    };
    size_t count = 5;

    /* A client may close without a request: the backend knows best what to say to that. */
    if (forward->request)
        ops[count++] = rpc_op_send_message(forward->request);
    rpc_move(&unary->state, UNARY_ASKING, moves);
    rpc_forward_open(forward);
    rpc_forward_start(forward, forward->out, &unary->batch, ops, count);
}

/* Replaces the request; 0, OSB_RPC_UNCHANGED or a failure. */
static int rewrite(struct rpc_forward *forward, struct osb_err *err)
{
    const struct osb_rpc_server_options *options = &forward->server->options;
    _cleanup_buf_ struct osb_buf out = {0};
    grpc_slice bytes;
    int r;

    osb_assert(options->rewrite);
    if (!rpc_message_read(forward->request, &bytes))
        return osb_fail(err, -OSB_E_INVALID, "the request cannot be decompressed");
    osb_buf_init(&out, OSB_RPC_MAX_MESSAGE);
    r = options->rewrite(rpc_slice(&forward->in.details.method), rpc_slice(&bytes), &out, err,
                         options->arg);
    grpc_slice_unref(bytes);
    if (r >= 0 && out.err < 0)
        r = osb_fail(err, out.err, "the request as rewritten has more than %d bytes",
                     OSB_RPC_MAX_MESSAGE);
    if (r == 0) {
        rpc_message_clear(&forward->request);
        forward->request = rpc_message_new(osb_buf_slice(&out));
    }
    return r;
}

static void on_read(struct unary *unary)
{
    struct rpc_forward *forward = &unary->forward;
    struct osb_err err = {0};
    int r = 0;

    if (forward->request)
        rpc_forward_count_request(forward);
    else if (grpc_call_failed_before_recv_message(forward->in.call))
        rpc_forward_give_up(forward);
    if (forward->is_client_gone) {
        rpc_move(&unary->state, UNARY_OVER, moves);
        return;
    }
    if (forward->request && forward->route == OSB_RPC_REWRITE)
        r = rewrite(forward, &err);
    if (r < 0)
        refuse(unary, r, &err);
    else
        ask(unary);
}

static void on_asked(struct unary *unary)
{
    struct rpc_forward *forward = &unary->forward;

    rpc_message_clear(&forward->request);
    if (forward->answer)
        rpc_forward_count_answer(forward);
    if (forward->is_client_gone)
        rpc_move(&unary->state, UNARY_OVER, moves);
    else
        answer(unary);
}

static void on_batch(struct rpc_event *event)
{
    struct unary *unary = event->arg;

    if (unary->state == UNARY_READING) {
        on_read(unary);
    } else if (unary->state == UNARY_ASKING) {
        on_asked(unary);
    } else {
        unary->forward.is_answered = event->is_ok;
        rpc_move(&unary->state, UNARY_OVER, moves);
    }
    rpc_forward_batch_over(&unary->forward);
}

void rpc_unary_begin(struct osb_rpc_server *server, const struct rpc_inbound *inbound,
                     enum osb_rpc_route route)
{
    struct unary *unary = osb_new(struct unary);
    const grpc_op op = rpc_op_recv_message(&unary->forward.request);

    unary->batch = (struct rpc_event){.on_done = on_batch, .arg = unary};
    rpc_forward_init(&unary->forward, server, inbound, route, is_over);
    rpc_forward_start(&unary->forward, unary->forward.in.call, &unary->batch, &op, 1);
}
