// SPDX-License-Identifier: Apache-2.0
/*
 * SHA-1 (FIPS 180-4) for the WebSocket handshake alone, which uses it as a checksum; static
 * programs link this library without OpenSSL. Not for anything that needs to be secure.
 */
#ifndef OSB_HTTP_SHA1_H
#define OSB_HTTP_SHA1_H

#include <osb/slice.h>

enum { HTTP_SHA1_LEN = 20 };

void http_sha1(struct osb_slice message, uint8_t digest[static HTTP_SHA1_LEN]);

#endif
