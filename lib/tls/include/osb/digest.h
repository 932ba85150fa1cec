// SPDX-License-Identifier: Apache-2.0
/* SHA-1 (for UUIDv5 only), SHA-256 and HMAC-SHA-256 in one call or streamed. */
#ifndef OSB_DIGEST_H
#define OSB_DIGEST_H

#include <osb/slice.h>
#include <stdint.h>

enum { OSB_SHA1_LEN = 20, OSB_SHA256_LEN = 32 };

void osb_sha1(struct osb_slice data, uint8_t ret[static OSB_SHA1_LEN]);
void osb_sha256(struct osb_slice data, uint8_t ret[static OSB_SHA256_LEN]);
void osb_hmac_sha256(struct osb_slice key, struct osb_slice data,
                     uint8_t ret[static OSB_SHA256_LEN]);

/* Owned by the caller until osb_sha256_final(). Any thread, one at a time. */
struct osb_sha256_stream;
struct osb_sha256_stream *osb_sha256_new(void);
void osb_sha256_update(struct osb_sha256_stream *stream, struct osb_slice data);
/* Writes the digest and frees the stream. */
void osb_sha256_final(struct osb_sha256_stream *stream, uint8_t ret[static OSB_SHA256_LEN]);

#endif
