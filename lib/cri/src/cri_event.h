// SPDX-License-Identifier: Apache-2.0
/* What an envelope of containerd's event service means to us. No I/O. */
#ifndef CRI_EVENT_H
#define CRI_EVENT_H

#include "containerd_events.pb-c.h"

#include <osb/cri.h>
#include <stdbool.h>

typedef Containerd__Services__Events__V1__Envelope cri_envelope;

/*
 * Calls FN(EVENT, ARG) if ENVELOPE is of a kind that callers know; the event is valid during the
 * call. False when it is not, or cannot be read.
 */
bool cri_event_read(const cri_envelope *envelope,
                    void (*fn)(const struct osb_cri_event *event, void *arg), void *arg);

#endif
