// SPDX-License-Identifier: Apache-2.0
/* Inside a WebSocket; callbacks run in ws_run() alone, which is never nested. */
#ifndef OSB_HTTP_WS_H
#define OSB_HTTP_WS_H

#include "input.h"
#include "out.h"
#include "ws_frame.h"

#include <osb/websocket.h>

enum { WS_CLOSE_WAIT_MS = 5 * 1000, WS_REASON_MAX = WS_CONTROL_MAX - 2 };

struct osb_ws {
    struct osb_loop *loop;
    struct osb_stream *stream;  /* NULL until a client's handshake is done */
    struct osb_http_call *call; /* the handshake of a client */
    struct osb_ws_options options;
    struct osb_ws_callbacks callbacks;
    void *arg;
    char *protocol;
    char **offered;    /* the client's subprotocols, for the check of the answer */
    char expected[32]; /* Sec-WebSocket-Accept that the server must send */
    bool is_client;

    struct osb_buf in;
    struct osb_buf spare;
    struct http_out out;
    struct ws_frame frame; /* being received */
    bool has_frame;
    uint64_t received;           /* of the frame's content */
    enum ws_opcode message_type; /* CONTINUATION: none is open */
    struct osb_buf message;
    char control[WS_CONTROL_MAX];

    struct osb_timer timer; /* pings, silence, the wait for the peer's close */
    struct osb_defer kick;
    uint64_t heard_ns;
    bool is_running;
    bool can_read;
    bool is_paused;
    bool is_open_due;
    bool is_drain_due;
    bool is_close_sent;
    bool is_deaf;  /* after an error of the peer: what comes is dropped until it ends */
    bool is_over;  /* on_close is next */
    bool is_freed; /* by its owner, inside a callback */
    int code;
    char reason[WS_REASON_MAX + 1];
};

/* ---- ws.c ---- */
struct osb_ws *ws_new(struct osb_loop *loop, const struct osb_ws_options *options,
                      const struct osb_ws_callbacks *callbacks, void *arg, bool is_client);
/* Goes on over STREAM; what is in ws->in was read ahead. */
void ws_start(struct osb_ws *ws, struct osb_stream *stream);
void ws_run(struct osb_ws *ws);
void ws_kick(struct osb_ws *ws);
void ws_destroy(struct osb_ws *ws);
void ws_send_pong(struct osb_ws *ws, struct osb_slice payload);
/* Ends without a handshake: on_close gets CODE and REASON. */
void ws_end(struct osb_ws *ws, int code, const char *reason);

/* ---- ws_receive.c ---- */
/* Takes a piece of what was read; false when there is nothing to do. */
bool ws_receive(struct osb_ws *ws);

/* ---- ws_handshake.c ---- */
/* Sec-WebSocket-Accept for KEY. */
void ws_accept_value(struct osb_slice key, char out[static 32]);

#endif
