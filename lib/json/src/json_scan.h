// SPDX-License-Identifier: Apache-2.0
/*
 * The scanning half of the reader: finds the end of one token or value and validates it on the
 * way. Every function takes the place to start and the end of the input, and returns the place
 * behind what it scanned, or NULL after it has put the error into the scan.
 */
#ifndef OSB_JSON_SCAN_H
#define OSB_JSON_SCAN_H

#include <osb/slice.h>
#include <stdbool.h>

struct json_scan {
    const char *end;
    const char *where; /* of the error */
    const char *what;
    int err;
};

int json_scan_fail(struct json_scan *s, const char *where, int code, const char *what);

static inline const char *json_scan_blanks(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    return p;
}

static inline bool json_scan_starts_number(char c)
{
    return c == '-' || (c >= '0' && c <= '9');
}

/* P is behind the opening quote. *RET_HAS_ESCAPES tells whether the text must be decoded. */
const char *json_scan_string(struct json_scan *s, const char *p, bool *ret_has_escapes);
/* *RET_IS_INTEGER: neither fraction nor exponent. */
const char *json_scan_number(struct json_scan *s, const char *p, bool *ret_is_integer);
const char *json_scan_literal(struct json_scan *s, const char *p, struct osb_slice word);
/* Any value; DEPTH is the number of levels that are open already. */
const char *json_scan_value(struct json_scan *s, const char *p, int depth);

/*
 * Decodes the inside of a string that json_scan_string() accepted into OUT, which has room for
 * RAW.len bytes; returns the number of bytes written.
 */
size_t json_scan_decode(struct osb_slice raw, char *out);

#endif
