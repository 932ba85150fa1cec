// SPDX-License-Identifier: Apache-2.0
/*
 * Time: monotonic and wall-clock nanoseconds, and RFC 3339 text. Cores that are tested on a
 * virtual clock take their time from lib/loop instead of calling these.
 */
#ifndef OSB_CLOCK_H
#define OSB_CLOCK_H

#include <osb/slice.h>
#include <stdint.h>

enum { OSB_RFC3339_MAX = 36 }; /* bytes of the longest text made here, with its NUL */

#define OSB_NS_PER_S  1000000000ULL
#define OSB_NS_PER_MS 1000000ULL

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t osb_monotonic_ns(void);
/* CLOCK_REALTIME in nanoseconds since 1970. */
int64_t osb_realtime_ns(void);

/*
 * Writes RFC 3339 in UTC ("2026-12-01T04:10:54Z"); FRACTION_DIGITS 0 to 9. Returns BUFFER.
 */
const char *osb_rfc3339_format(char buffer[static OSB_RFC3339_MAX], int64_t realtime_ns,
                               int fraction_digits);

/* Parses RFC 3339 with "Z" or a numeric offset; 0, -OSB_E_SYNTAX or -ERANGE. */
int osb_rfc3339_parse(struct osb_slice text, int64_t *ret_realtime_ns);

/*
 * Parses a Go-style duration ("500ms", "1m30s", "1h", "0"); 0, -OSB_E_SYNTAX or -ERANGE.
 */
int osb_duration_parse(struct osb_slice text, int64_t *ret_ns);

#endif
