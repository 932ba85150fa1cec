// SPDX-License-Identifier: Apache-2.0
#include "sha1.h"

enum { BLOCK = 64, LENGTH_AT = BLOCK - 8 };

static uint32_t rotate(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

static void expand(const uint8_t block[static BLOCK], uint32_t w[static 80])
{
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 80; i++)
        w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
}

static void round_function(int i, const uint32_t v[static 5], uint32_t *ret_f, uint32_t *ret_k)
{
    uint32_t b = v[1], c = v[2], d = v[3];
    if (i < 20) {
        *ret_f = (b & c) | (~b & d);
        *ret_k = 0x5a827999u;
    } else if (i < 40) {
        *ret_f = b ^ c ^ d;
        *ret_k = 0x6ed9eba1u;
    } else if (i < 60) {
        *ret_f = (b & c) | (b & d) | (c & d);
        *ret_k = 0x8f1bbcdcu;
    } else {
        *ret_f = b ^ c ^ d;
        *ret_k = 0xca62c1d6u;
    }
}

static void compress(uint32_t h[static 5], const uint8_t block[static BLOCK])
{
    uint32_t w[80];
    uint32_t v[5];
    expand(block, w);
    memcpy(v, h, sizeof(v));
    for (int i = 0; i < 80; i++) {
        uint32_t f, k;
        round_function(i, v, &f, &k);
        uint32_t next = rotate(v[0], 5) + f + v[4] + k + w[i];
        v[4] = v[3];
        v[3] = v[2];
        v[2] = rotate(v[1], 30);
        v[1] = v[0];
        v[0] = next;
    }
    for (int i = 0; i < 5; i++)
        h[i] += v[i];
}

/* The rest of the message, a one bit, zeros, the length in bits. */
static void finish(uint32_t h[static 5], struct osb_slice rest, uint64_t total)
{
    uint8_t block[BLOCK] = {0};
    if (rest.len > 0)
        memcpy(block, rest.data, rest.len);
    block[rest.len] = 0x80;
    if (rest.len >= LENGTH_AT) {
        compress(h, block);
        memset(block, 0, sizeof(block));
    }
    for (int i = 0; i < 8; i++)
        block[LENGTH_AT + i] = (uint8_t)(total * 8 >> (56 - 8 * i));
    compress(h, block);
}

void http_sha1(struct osb_slice message, uint8_t digest[static HTTP_SHA1_LEN])
{
    uint32_t h[5] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u};
    struct osb_slice rest = message;
    for (; rest.len >= BLOCK; rest = osb_slice_from(rest, BLOCK))
        compress(h, (const uint8_t *)rest.data);
    finish(h, rest, message.len);
    for (int i = 0; i < HTTP_SHA1_LEN; i++)
        digest[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
}
