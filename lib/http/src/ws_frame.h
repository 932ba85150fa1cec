// SPDX-License-Identifier: Apache-2.0
/* Frame heads of RFC 6455 section 5, without I/O. */
#ifndef OSB_HTTP_WS_FRAME_H
#define OSB_HTTP_WS_FRAME_H

#include <osb/slice.h>

enum ws_opcode {
    WS_CONTINUATION = 0,
    WS_TEXT = 1,
    WS_BINARY = 2,
    WS_CLOSE = 8,
    WS_PING = 9,
    WS_PONG = 10,
};

enum {
    WS_HEAD_MAX = 14,
    WS_CONTROL_MAX = 125, /* content of a control frame */
    WS_MASK_LEN = 4,
};

struct ws_frame {
    enum ws_opcode opcode;
    bool is_last; /* FIN */
    bool is_masked;
    uint8_t mask[WS_MASK_LEN];
    uint64_t len;
};

bool ws_is_control(enum ws_opcode opcode);
/* Bytes of the head at the start of INPUT, 0 when more are needed, -1 for a protocol error. */
int ws_frame_parse(struct osb_slice input, struct ws_frame *frame);
/* Writes a head; its length. */
size_t ws_frame_write(const struct ws_frame *frame, uint8_t out[static WS_HEAD_MAX]);
/* Applies MASK to DATA, whose first byte is number OFFSET of the frame's content. */
void ws_mask(char *data, size_t len, const uint8_t mask[static WS_MASK_LEN], uint64_t offset);
/* True when a peer may send CODE (RFC 6455 section 7.4). */
bool ws_close_code_is_valid(int code);

#endif
