// SPDX-License-Identifier: Apache-2.0
/* SipHash-1-3 (Aumasson and Bernstein): a keyed hash whose collisions a peer cannot predict. */
#ifndef OSB_BASE_SIPHASH_H
#define OSB_BASE_SIPHASH_H

#include <osb/slice.h>
#include <stdint.h>

uint64_t siphash13(const uint64_t key[static 2], struct osb_slice s);

#endif
