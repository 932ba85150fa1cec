// SPDX-License-Identifier: Apache-2.0
#include "json_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Digits that every double survives (DBL_DECIMAL_DIG). */
enum { EXACT_DIGITS = 17 };

void json_number_print(struct osb_buf *out, double value)
{
    char text[32];
    if (!isfinite(value)) {
        osb_buf_append_str(out, "null");
        return;
    }
    for (int digits = 15; digits <= EXACT_DIGITS; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    osb_buf_append_str(out, text);
    if (!strpbrk(text, ".e"))
        osb_buf_append_str(out, ".0");
}
