// SPDX-License-Identifier: Apache-2.0
/* The phases of a BatchSandbox and the moves between them. */
#ifndef OPERATOR_PHASE_H
#define OPERATOR_PHASE_H

#include <osb/slice.h>
#include <stdbool.h>

enum phase {
    PHASE_NONE, /* no status yet */
    PHASE_PENDING,
    PHASE_SUCCEED, /* REST: Running */
    PHASE_PAUSING,
    PHASE_PAUSED,
    PHASE_RESUMING,
    PHASE_FAILED,
    PHASE_COUNT
};

/* The word on the wire; "" for none. */
const char *phase_name(enum phase phase);
/* PHASE_NONE for an unknown word. */
enum phase phase_parse(struct osb_slice name);
/* True when the table allows it; staying is always allowed. */
bool phase_may_move(enum phase from, enum phase to);
/* Asserts the move and counts it. */
void phase_move(enum phase from, enum phase to);
/* Pausing, Paused, Resuming: pods are in the hands of the pause machinery. */
bool phase_is_pause(enum phase phase);

#endif
