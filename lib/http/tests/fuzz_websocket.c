// SPDX-License-Identifier: Apache-2.0
// Any bytes as the frames of a client, in two pieces; the socket ends once and leaves nothing.
#include "ws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CAPACITY = 1 << 20 };

static int closes;

static void on_message(struct osb_ws *ws, enum osb_ws_type type, struct osb_slice data, void *arg)
{
    (void)arg;
    osb_ws_send(ws, type, data);
}

static void on_close(struct osb_ws *ws, int code, struct osb_slice reason, void *arg)
{
    (void)ws;
    (void)arg;
    osb_assert(code >= 1000 && code < 5000 && reason.len <= WS_REASON_MAX);
    closes++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct osb_ws_callbacks callbacks = {.on_message = on_message,
                                                      .on_close = on_close};
    struct osb_ws_options options = {.max_message = 4096};
    struct osb_slice input = osb_slice(data, size);
    size_t cut = size ? data[size / 2] % size : 0;
    struct osb_loop *loop;
    struct osb_stream *client;
    struct osb_stream *served;
    if (size > CAPACITY)
        return 0;
    closes = 0;
    osb_assert(osb_loop_new_sim(&loop, NULL) == 0);
    osb_assert(osb_stream_pair(loop, CAPACITY, &client, &served) == 0);
    ws_start(ws_new(loop, &options, &callbacks, NULL, false), served);
    (void)osb_stream_write(client, osb_slice_first(input, cut));
    osb_loop_sim_settle(loop);
    (void)osb_stream_write(client, osb_slice_from(input, cut));
    osb_loop_sim_settle(loop);
    osb_stream_close(client);
    osb_loop_sim_settle(loop);
    osb_assert(closes == 1);
    osb_loop_free(loop);
    return 0;
}
