// SPDX-License-Identifier: Apache-2.0
/*
 * How request bodies are read (execd contract 2): the first JSON value counts, bytes behind it are
 * ignored, so are unknown keys; keys match in any case; null is as good as an absent key, and a
 * body of null as an empty object.
 */
#ifndef EXECD_JSON_INPUT_H
#define EXECD_JSON_INPUT_H

#include <osb/json_reader.h>

/* Starts to read BODY as an object; an empty body is -OSB_E_INVALID. */
int json_input_object(struct osb_json_reader *r, struct osb_slice body, struct osb_err *err);
/* The next key whose value is not null. */
bool json_input_next_key(struct osb_json_reader *r, struct osb_arena *arena,
                         struct osb_slice *ret_key);

#endif
