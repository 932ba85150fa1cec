// SPDX-License-Identifier: Apache-2.0
/*
 * Reading objects that others wrote: a field of a type we did not expect is passed over and
 * reported to the caller, so that one odd object never keeps the rest of a list from being read.
 * Bytes that are no JSON still fail the reader.
 */
#ifndef OPERATOR_LENIENT_H
#define OPERATOR_LENIENT_H

#include <osb/json_reader.h>

/* Enters an object; false, after passing over the value, when it is none. */
bool lenient_enter_object(struct osb_json_reader *r);
bool lenient_enter_array(struct osb_json_reader *r);
/* Replaces *RET by a new string; false when the value was no string (*RET is then untouched). */
bool lenient_string(struct osb_json_reader *r, char **ret);
bool lenient_bool(struct osb_json_reader *r, bool *ret);
bool lenient_i64(struct osb_json_reader *r, int64_t *ret);
/* Replaces *RET by the value's own text when it is of TYPE. */
bool lenient_raw(struct osb_json_reader *r, enum osb_json_type type, char **ret);
/* A time in RFC 3339. */
bool lenient_time(struct osb_json_reader *r, int64_t *ret_ns);

#endif
