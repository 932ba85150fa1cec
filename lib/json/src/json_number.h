// SPDX-License-Identifier: Apache-2.0
#ifndef OSB_JSON_NUMBER_H
#define OSB_JSON_NUMBER_H

#include <osb/buf.h>

/*
 * Appends the shortest decimal text that reads back as VALUE. It always shows that it is no
 * integer ("1.0"), so that a value keeps its type on the way through text; NaN and infinities,
 * which JSON has no form for, become null. The locale must be "C", as it is unless somebody sets
 * it.
 */
void json_number_print(struct osb_buf *out, double value);

#endif
