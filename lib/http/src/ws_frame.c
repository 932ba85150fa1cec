// SPDX-License-Identifier: Apache-2.0
#include "ws_frame.h"

enum {
    FIN = 0x80,
    RESERVED = 0x70,
    OPCODE = 0x0f,
    MASKED = 0x80,
    LEN = 0x7f,
    LEN_16 = 126, /* two bytes of length follow */
    LEN_64 = 127, /* eight do */
};

bool ws_is_control(enum ws_opcode opcode)
{
    return opcode >= WS_CLOSE;
}

static bool is_known(int opcode)
{
    return opcode <= WS_BINARY || (opcode >= WS_CLOSE && opcode <= WS_PONG);
}

/* The extended length; false when it is not the shortest form, or negative. */
static bool read_length(const uint8_t *p, size_t bytes, uint64_t *ret_len)
{
    uint64_t len = 0;
    for (size_t i = 0; i < bytes; i++)
        len = len << 8 | p[i];
    *ret_len = len;
    if (bytes == 2)
        return len >= LEN_16;
    return len > UINT16_MAX && len <= INT64_MAX;
}

int ws_frame_parse(struct osb_slice input, struct ws_frame *frame)
{
    const uint8_t *p = (const uint8_t *)input.data;
    if (input.len < 2)
        return 0;
    int short_len = p[1] & LEN;
    size_t extended = short_len == LEN_16 ? 2 : short_len == LEN_64 ? 8 : 0;
    frame->is_last = p[0] & FIN;
    frame->is_masked = p[1] & MASKED;
    frame->opcode = (enum ws_opcode)(p[0] & OPCODE);
    if ((p[0] & RESERVED) || !is_known(p[0] & OPCODE))
        return -1;
    if (ws_is_control(frame->opcode) && (!frame->is_last || extended))
        return -1;
    size_t head = 2 + extended + (frame->is_masked ? WS_MASK_LEN : 0);
    if (input.len < head)
        return 0;
    frame->len = (uint64_t)short_len;
    if (extended && !read_length(p + 2, extended, &frame->len))
        return -1;
    if (frame->is_masked)
        memcpy(frame->mask, p + 2 + extended, WS_MASK_LEN);
    return (int)head;
}

size_t ws_frame_write(const struct ws_frame *frame, uint8_t out[static WS_HEAD_MAX])
{
    size_t extended = frame->len > UINT16_MAX ? 8 : frame->len >= LEN_16 ? 2 : 0;
    out[0] = (uint8_t)((frame->is_last ? FIN : 0) | frame->opcode);
    out[1] = (uint8_t)(extended == 8 ? LEN_64 : extended == 2 ? LEN_16 : frame->len);
    for (size_t i = 0; i < extended; i++)
        out[2 + i] = (uint8_t)(frame->len >> (8 * (extended - 1 - i)));
    if (!frame->is_masked)
        return 2 + extended;
    out[1] |= MASKED;
    memcpy(out + 2 + extended, frame->mask, WS_MASK_LEN);
    return 2 + extended + WS_MASK_LEN;
}

void ws_mask(char *data, size_t len, const uint8_t mask[static WS_MASK_LEN], uint64_t offset)
{
    for (size_t i = 0; i < len; i++)
        data[i] = (char)((uint8_t)data[i] ^ mask[(offset + i) & 3]);
}

bool ws_close_code_is_valid(int code)
{
    bool is_defined = code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006;
    return is_defined || (code >= 3000 && code <= 4999);
}
