// SPDX-License-Identifier: Apache-2.0
/*
 * The events of a command's stream (execd contract 4): one compact JSON object, then LF LF; no
 * "data:". Keys that would be empty or zero are left out, `timestamp` (Unix milliseconds) is always
 * there.
 */
#ifndef EXECD_EVENTS_H
#define EXECD_EVENTS_H

#include <osb/buf.h>
#include <osb/slice.h>
#include <stdint.h>

/* TYPE is a literal of the contract; TEXT may hold any bytes. */
void event_text(struct osb_buf *out, const char *type, struct osb_slice text, int64_t now_ms);
void event_complete(struct osb_buf *out, int64_t execution_ms, int64_t now_ms);
/* A traceback of one line; clients take the exit code from VALUE. */
void event_error(struct osb_buf *out, const char *name, struct osb_slice value,
                 struct osb_slice traceback, int64_t now_ms);

#endif
