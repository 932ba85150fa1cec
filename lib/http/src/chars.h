// SPDX-License-Identifier: Apache-2.0
/* The character classes of RFC 9110 and RFC 9112 that the codec checks bytes against. */
#ifndef OSB_HTTP_CHARS_H
#define OSB_HTTP_CHARS_H

#include <osb/slice.h>

enum http_chars {
    HTTP_CHARS_TOKEN,  /* tchar of RFC 9110 section 5.6.2 */
    HTTP_CHARS_VALUE,  /* HTAB, SP, VCHAR, obs-text: no other control byte */
    HTTP_CHARS_TARGET, /* visible ASCII but '#': a fragment is never sent */
    HTTP_CHARS_HOST,   /* uri-host [":" port] of RFC 3986, without ',' that merges two hosts */
};

bool http_char_is(enum http_chars set, unsigned char c);
/* True when every byte of S is in SET; true for the empty slice. */
bool http_chars_all(enum http_chars set, struct osb_slice s);
/* True for a non-empty run of token bytes. */
bool http_is_token(struct osb_slice s);
/* Value of a hexadecimal digit, -1 for another byte. */
int http_hex_digit(unsigned char c);

#endif
