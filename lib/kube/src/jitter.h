// SPDX-License-Identifier: Apache-2.0
/* Random delays from a seed: many clients that fail at once must not come back at once. */
#ifndef OSB_KUBE_JITTER_H
#define OSB_KUBE_JITTER_H

#include <stdint.h>

/* The state for SEED; 0 takes a random one. */
uint64_t jitter_seed(uint64_t seed);
/* The next 64 bits (xorshift64*: good enough for delays, never for secrets). */
uint64_t jitter_next(uint64_t *state);
/* MIN doubled FAILURES times, at most MAX, then a random value between half of it and it. */
uint64_t jitter_backoff_ms(uint64_t *state, int failures, uint64_t min_ms, uint64_t max_ms);

#endif
