// SPDX-License-Identifier: Apache-2.0
#include "jitter.h"

#include <osb/uuid.h>

uint64_t jitter_seed(uint64_t seed)
{
    while (seed == 0)
        osb_random_bytes(&seed, sizeof(seed));
    return seed;
}

uint64_t jitter_next(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * 0x2545F4914F6CDD1DULL;
}

uint64_t jitter_backoff_ms(uint64_t *state, int failures, uint64_t min_ms, uint64_t max_ms)
{
    uint64_t delay_ms = min_ms;
    while (failures-- > 0 && delay_ms < max_ms)
        delay_ms *= 2;
    if (delay_ms > max_ms)
        delay_ms = max_ms;
    uint64_t half = delay_ms / 2;
    return delay_ms - (half ? jitter_next(state) % (half + 1) : 0);
}
