// SPDX-License-Identifier: Apache-2.0
/*
 * Text encodings that several libraries share: UTF-8 checks, JSON string escaping, base64 and
 * percent-decoding.
 */
#ifndef OSB_TEXT_H
#define OSB_TEXT_H

#include <osb/buf.h>
#include <osb/slice.h>
#include <stdbool.h>

/* True when S is well-formed UTF-8 (no surrogates, no overlong forms; RFC 3629). */
bool osb_utf8_is_valid(struct osb_slice s);

/*
 * Length in bytes (1 to 4) of the well-formed sequence at the start of S; 0 when it is malformed;
 * -1 when S ends inside a sequence that is well-formed so far,
 * which the empty slice does.
 */
int osb_utf8_sequence(struct osb_slice s);

/*
 * Appends S as the inside of a JSON string: quotes, backslash and control characters escaped,
 * also U+0085, U+2028 and U+2029 (line splitters of published clients); each malformed byte
 * becomes U+FFFD. The quotes around it are the caller's.
 */
void osb_json_escape(struct osb_buf *out, struct osb_slice s);

/* Standard base64 with padding (RFC 4648 section 4). */
void osb_base64_encode(struct osb_buf *out, struct osb_slice in);
/* Strict: no blanks, padding required; 0 or -OSB_E_SYNTAX. */
int osb_base64_decode(struct osb_buf *out, struct osb_slice in);

/* Decodes %XX; '+' becomes a blank when PLUS_IS_SPACE. 0 or -OSB_E_SYNTAX. */
int osb_percent_decode(struct osb_buf *out, struct osb_slice in, bool plus_is_space);
/* Encodes everything but RFC 3986 unreserved characters. */
void osb_percent_encode(struct osb_buf *out, struct osb_slice in);

#endif
