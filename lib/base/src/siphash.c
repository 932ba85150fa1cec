// SPDX-License-Identifier: Apache-2.0
#include "siphash.h"

struct sip {
    uint64_t a, b, c, d;
};

static inline uint64_t rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void sip_round(struct sip *s)
{
    s->a += s->b;
    s->c += s->d;
    s->b = rotate(s->b, 13) ^ s->a;
    s->d = rotate(s->d, 16) ^ s->c;
    s->a = rotate(s->a, 32);
    s->c += s->b;
    s->a += s->d;
    s->b = rotate(s->b, 17) ^ s->c;
    s->d = rotate(s->d, 21) ^ s->a;
    s->c = rotate(s->c, 32);
}

static inline void sip_word(struct sip *s, uint64_t word)
{
    s->d ^= word;
    sip_round(s);
    s->a ^= word;
}

/* Host byte order: the hash never leaves the process. */
uint64_t siphash13(const uint64_t key[static 2], struct osb_slice s)
{
    struct sip state = {key[0] ^ 0x736f6d6570736575ULL, key[1] ^ 0x646f72616e646f6dULL,
                        key[0] ^ 0x6c7967656e657261ULL, key[1] ^ 0x7465646279746573ULL};
    size_t whole = s.len & ~(size_t)7;
    for (size_t i = 0; i < whole; i += 8) {
        uint64_t word;
        memcpy(&word, s.data + i, sizeof(word));
        sip_word(&state, word);
    }
    uint64_t last = (uint64_t)s.len << 56;
    for (size_t i = whole; i < s.len; i++)
        last |= (uint64_t)(unsigned char)s.data[i] << (8 * (i - whole));
    sip_word(&state, last);

    state.c ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(&state);
    return state.a ^ state.b ^ state.c ^ state.d;
}
